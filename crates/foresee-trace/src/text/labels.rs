//! Distinct labels for things that may have the same name.

use rustc_hash::FxHashMap;

use crate::StrId;
use crate::names::Names;

/// The labels of all threads, of all locks or of all symbols of a trace, in their order, as they are written.
pub(super) struct Labels {
    /// Every label, with the number to try first for the next thing of that name.
    taken: FxHashMap<Box<str>, u64>,
    written: Vec<Box<str>>,
    escape: fn(&mut String, &str),
}

impl Labels {
    /// No labels yet; `escape` is how a label is written.
    pub(super) fn new(escape: fn(&mut String, &str)) -> Self {
        Labels { taken: FxHashMap::default(), written: Vec::new(), escape }
    }

    pub(super) fn len(&self) -> usize {
        self.written.len()
    }

    /// The label of the thing with this index, as it is written.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&str> {
        self.written.get(index).map(|label| &**label)
    }

    /// Labels what was not yet labelled; `all` are the names of all things. The first thing of a name keeps it, the
    /// others get the first free of `name#2`, `name#3`, …
    pub(super) fn extend(&mut self, names: &Names, all: impl Iterator<Item = StrId>) {
        let new: Vec<&str> = all.skip(self.written.len()).map(|name| names.str(name)).collect();
        let keeps_name: Vec<bool> = new.iter().map(|&name| self.take(name)).collect();
        for (name, keeps_name) in new.into_iter().zip(keeps_name) {
            let mut written = String::new();
            if keeps_name {
                (self.escape)(&mut written, name);
            } else {
                (self.escape)(&mut written, &self.take_numbered(name));
            }
            self.written.push(written.into());
        }
    }

    /// Takes a label; `false` if it was taken before.
    fn take(&mut self, label: &str) -> bool {
        let free = !self.taken.contains_key(label);
        if free {
            self.taken.insert(label.into(), 2);
        }
        free
    }

    fn take_numbered(&mut self, name: &str) -> String {
        let mut number = self.taken.get(name).copied().unwrap_or(2);
        loop {
            let label = format!("{name}#{number}");
            number += 1;
            if self.take(&label) {
                self.taken.insert(name.into(), number);
                return label;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_get_numbers() {
        let mut names = Names::new();
        let ids: Vec<StrId> = ["w", "w", "w#2", "w", "v"].iter().map(|name| names.intern(name)).collect();
        let mut labels = Labels::new(|out, name| out.push_str(name));
        labels.extend(&names, ids[..4].iter().copied());
        labels.extend(&names, ids.iter().copied());
        let all: Vec<_> = (0..5).filter_map(|i| labels.get(i)).collect();
        assert_eq!(all, ["w", "w#3", "w#2", "w#4", "v"]);
    }
}
