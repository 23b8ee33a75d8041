//! Names as their authors wrote them.

use addr2line::demangle_auto;

/// The name as it was written. What is not mangled stays as it is: a C++ demangler takes `x` for `long long`. A mangled
/// name may end in `.0`, for a static that the optimiser has taken apart.
pub fn demangled(name: &str) -> String {
    if !["_Z", "_R"].iter().any(|start| name.starts_with(start)) {
        return name.to_owned();
    }
    demangled_symbol(name.split_once('.').map_or(name, |(whole, _)| whole))
}

/// The name of a symbol of which all is mangled, dots included: the old mangling of Rust has some.
pub fn demangled_symbol(symbol: &str) -> String {
    demangle_auto(symbol.into(), None).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mangled_names_are_demangled() {
        assert_eq!(demangled("_ZN4Bank5totalE"), "Bank::total");
        assert_eq!(demangled("_RNvC7mycrate3foo"), "mycrate::foo");
        assert_eq!(demangled("_RNvC7mycrate3foo.0"), "mycrate::foo");
        for plain in ["x", "f", "_M_run", "counter.0", "_Zero", "_Root", ""] {
            assert_eq!(demangled(plain), plain);
        }
    }
}
