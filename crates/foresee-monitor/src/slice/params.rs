//! Sets of parameters, and the shape of a property's events.

/// At most this many parameters in a property: sets of them are enumerated.
pub const PARAM_LIMIT: usize = 8;

/// A set of a property's parameters, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamSet(pub u16);

impl ParamSet {
    /// No parameter.
    pub const EMPTY: ParamSet = ParamSet(0);

    /// The first `count` parameters.
    pub fn first(count: usize) -> ParamSet {
        ParamSet(((1u32 << count.min(16)) - 1) as u16)
    }

    /// This parameter alone.
    pub fn only(param: u8) -> ParamSet {
        ParamSet(1 << param)
    }

    /// Whether nothing is in it.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many parameters are in it.
    #[inline]
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether all of `other` is in it.
    #[inline]
    pub fn contains(self, other: ParamSet) -> bool {
        self.0 & other.0 == other.0
    }

    /// What is in both.
    #[inline]
    #[must_use]
    pub fn and(self, other: ParamSet) -> ParamSet {
        ParamSet(self.0 & other.0)
    }

    /// What is in either.
    #[inline]
    #[must_use]
    pub fn or(self, other: ParamSet) -> ParamSet {
        ParamSet(self.0 | other.0)
    }

    /// The parameters, smallest first.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = u8> + Clone {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let next = left.trailing_zeros() as u8;
            (left != 0).then(|| {
                left &= left - 1;
                next
            })
        })
    }
}

impl FromIterator<u8> for ParamSet {
    fn from_iter<I: IntoIterator<Item = u8>>(params: I) -> ParamSet {
        params.into_iter().fold(ParamSet::EMPTY, |all, param| all.or(ParamSet::only(param)))
    }
}

/// Which parameters an event binds, and whether it is marked as a creation event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventShape {
    /// The parameters in the order in which the event gives their values; no parameter twice.
    pub params: Vec<u8>,
    /// Marked `creation` in the spec.
    pub creation: bool,
}

impl EventShape {
    /// The parameters as a set.
    pub fn domain(&self) -> ParamSet {
        self.params.iter().copied().collect()
    }
}
