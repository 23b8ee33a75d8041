//! The table of effects: what well-known functions do that the trace does not show.
//!
//! Functions that the runtime stands in front of are recorded, and need no entry. Of the others, most of what programs call has no effect that
//! another thread could notice; what has one and is not recorded is *blind*. What is not in the table is decoded, if it is in
//! the same file, and opaque if it is not.

use foresee_trace::FunctionPattern;

/// What a function does that is not in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that another thread could notice, or nothing but what the runtime sees.
    Nothing,
    /// It does not return, except by an exception.
    NeverReturns,
    /// It reads or writes memory that threads may share.
    Memory,
    /// It may also make a thread wait for another, by what only such functions use.
    Orders,
    /// It may do so by any atomic.
    Atomics,
}

impl Effect {
    /// The words by which the user says what functions do, in the settings.
    pub const WORDS: [(&'static str, Effect); 3] = [
        ("no-effect", Effect::Nothing),
        ("memory-effect", Effect::Memory),
        ("never-returns", Effect::NeverReturns),
    ];
}

/// The table: under the name of an effect in brackets, names of functions between commas. A name that ends in `*` is how names begin,
/// one that begins with `*` is what names have in them. The first that fits counts.
const TABLE: &str = include_str!("effects.txt");

/// Functions of libm that take numbers and give one, or change the thread's own state; with `f` or `l` at their ends for other types. Those
/// that write through pointers are the runtime's.
const NUMBERS: &str = "acos acosh asin asinh atan atan2 atanh cabs cacos cacosh carg casin casinh catan catanh cbrt ccos \
                       ccosh ceil cexp cimag clog clog10 conj copysign cos cosh cpow cproj creal csin csinh csqrt ctan \
                       ctanh drem erf erfc exp exp10 exp2 expm1 fabs fdim feclearexcept fedisableexcept feenableexcept \
                       fegetexcept fegetround feraiseexcept fesetexcept fesetround fetestexcept finite floor fma fmax \
                       fmaximum fmaxmag fmin fminimum fminmag fmod fpclassify hypot ilogb isinf isnan issignaling j0 j1 jn \
                       ldexp llogb llrint llround log log10 log1p log2 logb lrint lround nearbyint nextafter nextdown \
                       nexttoward nextup pow remainder rint round roundeven scalb scalbln scalbn signbit significand sin \
                       sinh sqrt tan tanh tgamma trunc y0 y1 yn";

/// Which functions have which effects.
pub(super) struct Effects {
    names: Vec<(String, Effect)>,
    /// What the user says of functions, which counts first.
    own: Vec<(FunctionPattern, Effect)>,
}

impl Default for Effects {
    fn default() -> Effects {
        let (mut names, mut effect) = (Vec::new(), Effect::Nothing);
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                Some("never returns") => effect = Effect::NeverReturns,
                Some("memory") => effect = Effect::Memory,
                Some("orders") => effect = Effect::Orders,
                Some("atomics") => effect = Effect::Atomics,
                Some(_) => effect = Effect::Nothing,
                None => {
                    let listed = line.split(',').map(str::trim).filter(|name| !name.is_empty());
                    names.extend(listed.map(|name| (name.to_owned(), effect)));
                }
            }
        }
        Effects { names, own: Vec::new() }
    }
}

impl Effects {
    /// The user says what functions of this name do.
    pub(super) fn add(&mut self, name: &str, effect: Effect) {
        self.own.push((FunctionPattern::new(name), effect));
    }

    /// What the user says of a function.
    pub(super) fn own(&self, name: &str) -> Option<Effect> {
        self.own.iter().find(|(pattern, _)| pattern.matches(name)).map(|&(_, effect)| effect)
    }

    /// The effect of a function by its name, as people write it.
    pub(super) fn of(&self, name: &str) -> Option<Effect> {
        // A method of a type: the type's path counts.
        let name = name.trim_start_matches('<');
        self.names.iter().find(|(pattern, _)| fits(pattern, name)).map(|&(_, effect)| effect)
    }
}

/// The effect of a function of libm.
pub(super) fn of_libm(name: &str) -> Effect {
    let plain = name.trim_start_matches('_').trim_end_matches("_finite");
    let names = [Some(plain), plain.strip_suffix('f'), plain.strip_suffix('l')];
    let is_number =
        names.into_iter().flatten().any(|name| NUMBERS.split_ascii_whitespace().any(|known| known == name));
    if is_number { Effect::Nothing } else { Effect::Memory }
}

fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, inside) = pattern.strip_prefix('*').map_or((pattern, false), |rest| (rest, true));
    let (pattern, begins) = pattern.strip_suffix('*').map_or((pattern, false), |rest| (rest, true));
    if let Some((first, last)) = pattern.split_once('*') {
        let found = name.find(first).filter(|&at| inside || at == 0);
        return found.is_some_and(|at| name[at + first.len()..].contains(last));
    }
    match (inside, begins) {
        (true, _) => name.contains(pattern),
        (false, true) => name.starts_with(pattern),
        (false, false) => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_by_their_beginnings() {
        let effects = Effects::default();
        assert_eq!(effects.of("core::panicking::panic_fmt"), Some(Effect::NeverReturns));
        assert_eq!(effects.of("std::__throw_length_error(char const*)"), Some(Effect::NeverReturns));
        assert_eq!(effects.of("pthread_self"), Some(Effect::Nothing));
        assert_eq!(effects.of("pthread_selfish"), None);
        assert_eq!(effects.of("syscall"), Some(Effect::Orders));
        assert_eq!(
            effects.of("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_local_data()"),
            Some(Effect::Nothing)
        );
        assert_eq!(effects.of("__rustc::__rust_dealloc"), Some(Effect::Nothing));
        let mut effects = effects;
        effects.add("Store::hash*", Effect::Nothing);
        assert_eq!(effects.own("lib::Store<int>::hash_of(int) const"), Some(Effect::Nothing));
        assert_eq!(effects.own("lib::OtherStore::hash()"), None);
        assert!(
            ["sin", "sinf", "fmal", "__exp_finite", "cexp", "fesetround"]
                .iter()
                .all(|name| of_libm(name) == Effect::Nothing)
        );
        assert!(
            ["lgamma", "nan", "fegetenv", "canonicalize"].iter().all(|name| of_libm(name) == Effect::Memory)
        );
    }
}
