//! Which memory the variables of a property are.
//!
//! A `var` is one variable of the program: the one of that whole name, or else the only one whose name ends so
//! ([`VariablePattern`]). A name that means several means none of them; it is for the user to say which ([`Variables::ambiguous`]).

use foresee_trace::{LocId, Mem, Names, ThreadId, VariablePattern, signed, unsigned};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What is written to a variable, as a number.
pub(crate) fn number(bits: u64, mem: Mem, is_unsigned: bool) -> i64 {
    if is_unsigned { unsigned(bits, mem.size) } else { signed(bits, mem.size) }
}

/// A variable of a property that was written, nobody knows with what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnknownValue {
    pub(crate) var: u32,
    /// Whether the variable is all that was written.
    pub(crate) is_all: bool,
    /// By whom, and where.
    pub(crate) by: (ThreadId, LocId),
}

impl UnknownValue {
    /// What there is to say of it, and to do about it.
    pub(crate) fn why(&self, variable: &str) -> String {
        match self.is_all {
            true => format!(
                "the trace does not say which value `{variable}` got: those of whole numbers are recorded with `--spec` or `--watch {variable}`, unless threads race for it"
            ),
            false => format!(
                "`{variable}` was written together with other memory, or by code that does not tell what: its value is not known"
            ),
        }
    }
}

/// The variables of a property, as far as names are known; see the [module](self).
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    wanted: Vec<Wanted>,
    /// Those at an address that may be one of several.
    at: FxHashMap<u64, SmallVec<[u32; 1]>>,
    /// How many symbols were learned.
    symbols: usize,
}

#[derive(Clone, Debug)]
struct Wanted {
    pattern: VariablePattern,
    /// Memory of that whole name, with the name.
    whole: Vec<(Mem, String)>,
    /// Memory of longer names.
    longer: Vec<(Mem, String)>,
}

impl Wanted {
    fn meant(&self) -> &[(Mem, String)] {
        if self.whole.is_empty() { &self.longer } else { &self.whole }
    }

    fn is_at(&self, mem: Mem) -> bool {
        matches!(self.meant(), [(only, _)] if *only == mem)
    }
}

impl Variables {
    /// Variables of these names.
    pub(crate) fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> Variables {
        let wanted =
            |name| Wanted { pattern: VariablePattern::new(name), whole: Vec::new(), longer: Vec::new() };
        Variables { wanted: names.into_iter().map(wanted).collect(), ..Variables::default() }
    }

    /// How many symbols were learned.
    pub(crate) fn learned(&self) -> usize {
        self.symbols
    }

    /// Takes in symbols that are new since the last call.
    pub(crate) fn learn(&mut self, names: &Names) {
        for symbol in &names.symbols()[self.symbols..] {
            let name = names.str(symbol.name);
            for (wanted, number) in self.wanted.iter_mut().zip(0..) {
                if !wanted.pattern.matches(name) {
                    continue;
                }
                let is_whole = wanted.pattern.is_whole(name);
                let list = if is_whole { &mut wanted.whole } else { &mut wanted.longer };
                if list.iter().all(|(mem, _)| mem.addr != symbol.mem.addr) {
                    list.push((symbol.mem, name.to_owned()));
                    self.at.entry(symbol.mem.addr).or_default().push(number);
                }
            }
        }
        self.symbols = names.symbols().len();
    }

    /// The variables that are this very memory: all of it.
    #[inline]
    pub(crate) fn at(&self, mem: Mem) -> impl Iterator<Item = u32> + '_ {
        let here = self.at.get(&mem.addr).map_or(&[][..], SmallVec::as_slice);
        here.iter().copied().filter(move |&number| self.wanted[number as usize].is_at(mem))
    }

    /// The variables that are in some memory, and whether each is all of it.
    pub(crate) fn within(&self, mem: Mem) -> impl Iterator<Item = (u32, bool)> + '_ {
        let part = move |wanted: &Wanted| match wanted.meant() {
            [(only, _)] if only.overlaps(mem) => Some(*only == mem),
            _ => None,
        };
        self.wanted.iter().zip(0..).filter_map(move |(wanted, number)| Some((number, part(wanted)?)))
    }

    /// Those that nothing has the name of.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = usize> + '_ {
        self.wanted
            .iter()
            .enumerate()
            .filter(|(_, wanted)| wanted.meant().is_empty())
            .map(|(number, _)| number)
    }

    /// Those that may be one of several, with the names of these.
    pub(crate) fn ambiguous(&self) -> impl Iterator<Item = (usize, Vec<&str>)> + '_ {
        let several = self.wanted.iter().enumerate().filter(|(_, wanted)| wanted.meant().len() > 1);
        several
            .map(|(number, wanted)| (number, wanted.meant().iter().map(|(_, name)| name.as_str()).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_is_one_variable() {
        let mut names = Names::new();
        let mut variables = Variables::new(["opened", "a::x", "x", "none"]);
        let [opened, inner] = ["a.c:opened", "a::x"].map(|name| names.symbol(name));
        variables.learn(&names);
        let at = |variables: &Variables, mem: Mem| variables.at(mem).collect::<Vec<_>>();
        assert_eq!((at(&variables, opened), at(&variables, inner)), (vec![0], vec![1, 2]));
        let [other, outer] = ["b.c:opened", "x"].map(|name| names.symbol(name));
        variables.learn(&names);
        assert!(at(&variables, opened).is_empty() && at(&variables, other).is_empty());
        assert_eq!(
            (at(&variables, inner), at(&variables, outer)),
            (vec![1], vec![2]),
            "a whole name comes first"
        );
        assert_eq!(variables.ambiguous().collect::<Vec<_>>(), [(0, vec!["a.c:opened", "b.c:opened"])]);
        assert_eq!(variables.unknown().collect::<Vec<_>>(), [3]);
        assert_eq!(variables.within(outer).collect::<Vec<_>>(), [(2, true)]);
    }
}
