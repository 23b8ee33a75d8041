//! Annotations of a normal build: they check types and change nothing.

#![cfg(not(foresee))]
#![forbid(unsafe_code)]
#![allow(missing_docs)]

use std::cell::Cell;

use foresee::attr::atomic;
use foresee::{Arg, IntoArg as _, IntoLocal as _};

/// Fails if it is evaluated.
fn never<T>() -> T {
    panic!("an argument of an annotation was evaluated")
}

#[test]
fn arguments_are_not_evaluated() {
    foresee::event!(one, never::<i32>());
    foresee::event!("two", object = never::<&Vec<u8>>(), text = never::<&str>(), 3, last = never::<bool>(),);
    foresee::local!(critical = never::<bool>());
    foresee::watch!(never::<Box<[u32; 3]>>()[1]);
    foresee::watch!("name", *never::<&u64>());
}

#[test]
fn values_are_not_moved() {
    let (text, list) = (String::from("text"), vec![1]);
    foresee::event!(used, text.as_str(), &text, list = &list, list.as_slice(), list.len() == 1);
    foresee::watch!(list);
    drop((text, list));
}

#[test]
fn blocks_have_values_and_can_be_left() {
    fn leave(early: bool) -> Result<u8, &'static str> {
        for _ in 0..3 {
            foresee::atomic! {
                if early {
                    return Ok(1);
                }
                continue;
            }
        }
        foresee::atomic!("fails", {
            Err("no")?;
            Ok(2)
        })
    }
    assert_eq!((leave(true), leave(false)), (Ok(1), Err("no")));
}

struct Counter(Cell<u32>);

impl Counter {
    /// Documented, generic, with `where` and attributes of its body.
    #[atomic]
    pub(crate) fn add<const N: usize, T>(&self, by: [T; N]) -> impl Iterator<Item = u32> + use<N, T>
    where
        T: Into<u32>,
    {
        #![allow(clippy::let_and_return)]
        let sums = by.map(|by| {
            self.0.set(self.0.get() + by.into());
            self.0.get()
        });
        let sums = sums.into_iter();
        sums
    }
}

#[atomic("named")]
extern "C" fn twice(r#type: extern "C" fn(u32) -> u32) -> u32 {
    r#type(r#type(1))
}

#[atomic]
extern "C" fn more(x: u32) -> u32 {
    x + 1
}

#[atomic]
fn r#match() -> &'static str {
    "raw"
}

#[test]
fn functions_stay_what_they_are() {
    let counter = Counter(Cell::new(1));
    assert_eq!(counter.add([2_u8, 3]).collect::<Vec<_>>(), [3, 6]);
    assert_eq!((twice(more), r#match()), (3, "raw"));
}

#[test]
fn arguments_are_numbers_texts_and_objects() {
    let object = [1_u64, 2];
    let at = std::ptr::from_ref(&object).cast::<()>();
    assert_eq!((&object).into_arg(), Arg::Object(at));
    assert_eq!(object.as_slice().into_arg(), Arg::Object(at));
    assert_eq!((&raw const object).into_arg(), Arg::Object(at));
    assert_eq!(
        ("a".into_arg(), (-1_i8).into_arg(), 'a'.into_arg()),
        (Arg::Str("a"), Arg::Int(-1), Arg::Int(97))
    );
    let largest = i64::MAX as u64;
    assert_eq!((true.into_local(), (-1_i32).into_local(), u64::MAX.into_local()), (1, u64::MAX, largest));
}

#[test]
fn functions_do_nothing() {
    let mutex = std::sync::Mutex::new(());
    foresee::name_lock(&mutex, "mutex");
    foresee::happens_before(&mutex);
    foresee::happens_after(&mutex);
}
