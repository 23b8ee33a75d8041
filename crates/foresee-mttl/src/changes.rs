//! What has changed in a thread since its tables were filled in, and which of them follow from it: the others are left as they are.
//!
//! Equal states in a row make no difference to any operator but `previously`, which sees the state before: tables that use it are filled in again until nothing
//! changes. Everything else follows from the thread's locals, the values of shared variables, the accesses of the event, and what is known of other threads.
//!
//! A thread's tables have a bit each, in their order; with more than 64 some share one, which costs a little and changes nothing. Which tables follow from which local or
//! variable is worked out once, when they are laid out ([`Followers`]): then a change is an `or`.

use crate::mine::Mine;
use crate::program::Program;
use crate::table::{Inputs, bit};
use crate::threads::{Slot, ThreadSet};

/// The tables of a thread that follow from something, as bits.
pub(crate) type Tables = u64;

/// The bit of a thread's table.
#[inline]
fn table_bit(place: usize) -> Tables {
    1 << (place % Tables::BITS as usize)
}

/// Which tables of a thread follow from what.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followers {
    locals: Vec<Tables>,
    variables: Vec<Tables>,
    reads: Vec<Tables>,
    writes: Vec<Tables>,
    others: Tables,
    looks_back: Tables,
}

impl Followers {
    pub(crate) fn new(program: &Program, mine: &[Mine]) -> Followers {
        let those = |follows: &dyn Fn(&Inputs) -> bool| {
            let places = mine.iter().enumerate().filter(|(_, mine)| follows(&mine.inputs));
            places.fold(0, |tables, (place, _)| tables | table_bit(place))
        };
        let each = |count: usize, inputs: fn(&Inputs) -> u64| -> Vec<Tables> {
            (0..count as u32).map(|number| those(&|of| inputs(of) & bit(number) != 0)).collect()
        };
        let (locals, variables) = (program.locals().len(), program.variables().len());
        Followers {
            locals: each(locals, |of| of.locals),
            variables: each(variables, |of| of.variables),
            reads: each(variables, |of| of.reads),
            writes: each(variables, |of| of.writes),
            others: those(&|of| of.others),
            looks_back: those(&|of| of.looks_back),
        }
    }
}

/// The tables that follow from any of these.
#[inline]
fn of_any(followers: &[Tables], mut numbers: u64) -> Tables {
    let mut tables = 0;
    while numbers != 0 {
        tables |= followers.get(numbers.trailing_zeros() as usize).copied().unwrap_or(0);
        numbers &= numbers - 1;
    }
    tables
}

/// The tables that may have changed.
pub(crate) struct Changed {
    /// Because of the thread itself.
    pub(crate) here: Tables,
    /// Because of others.
    pub(crate) there: Tables,
    /// Other threads are known to exist.
    pub(crate) existence: bool,
    /// All that was filled in counts for nothing.
    pub(crate) is_new: bool,
}

/// What has changed in a thread since its tables were filled in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    followers: Followers,
    /// Those that follow from what has changed in the thread itself.
    own: Tables,
    /// Those that follow from others, as something is known of more threads, or later.
    others: Tables,
    /// Of whom a later state is known.
    pub(crate) threads: ThreadSet,
    /// Somebody more is known to exist.
    existence: bool,
    /// Everything, for all that is known.
    all: bool,
}

impl Changes {
    /// Whether any table may be in need of another look.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.own | self.others != 0
    }

    /// What is to be filled in.
    #[inline]
    pub(crate) fn changed(&self) -> Changed {
        let Changes { own, others, existence, all, .. } = *self;
        Changed { here: own, there: others, existence: existence || all, is_new: all }
    }

    #[inline]
    pub(crate) fn local(&mut self, local: u32) {
        self.own |= self.followers.locals[local as usize];
    }

    /// Variables, as bits.
    #[inline]
    pub(crate) fn variables(&mut self, variables: u64) {
        self.own |= of_any(&self.followers.variables, variables);
    }

    /// The bits of accesses that are not as they were.
    #[inline]
    pub(crate) fn accesses(&mut self, reads: u64, writes: u64) {
        self.own |= of_any(&self.followers.reads, reads) | of_any(&self.followers.writes, writes);
    }

    pub(crate) fn thread(&mut self, slot: Slot) {
        self.others = self.followers.others;
        self.threads.insert(slot);
    }

    /// Somebody more is known to exist.
    pub(crate) fn existence(&mut self) {
        self.others = self.followers.others;
        self.existence = true;
    }

    /// There are other threads than before, and so other tables.
    pub(crate) fn all(&mut self, followers: Followers) {
        self.followers = followers;
        (self.own, self.all) = (Tables::MAX, true);
    }

    /// All tables are filled in; `unsettled`: those that look back may still change.
    #[inline]
    pub(crate) fn done(&mut self, unsettled: bool) {
        self.own = if unsettled { self.followers.looks_back } else { 0 };
        self.threads.clear();
        (self.others, self.existence, self.all) = (0, false, false);
    }
}
