//! What events and locals can carry.

#[cfg(feature = "monitor")]
use crate::life::ObjectId;

/// One argument of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg<'a> {
    /// A number.
    Int(i64),
    /// An object, known by its address.
    Object(*const ()),
    /// A text.
    Str(&'a str),
    /// An object that has an identity of its own.
    #[cfg(feature = "monitor")]
    Id(ObjectId<'a>),
}

/// What can be an argument of an event: numbers, texts, and objects by reference.
///
/// A reference stands for the object that it refers to, so of a counted pointer pass `&*arc`, not `&arc`; and a `String` is an
/// object, its `as_str()` a text.
///
/// ```
/// use foresee::{Arg, IntoArg};
///
/// assert_eq!(7_u8.into_arg(), Arg::Int(7));
/// assert_eq!("seven".into_arg(), Arg::Str("seven"));
/// let object = vec![7];
/// assert_eq!((&object).into_arg(), (&object).into_arg());
/// ```
pub trait IntoArg<'a> {
    /// The argument.
    fn into_arg(self) -> Arg<'a>;
}

/// What can be the value of a local: numbers and `bool`.
pub trait IntoLocal {
    /// Its bits as a signed number.
    fn into_local(self) -> u64;
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(
            impl IntoArg<'static> for $number {
                #[inline]
                fn into_arg(self) -> Arg<'static> {
                    Arg::Int(self as i64)
                }
            }

            impl IntoLocal for $number {
                #[inline]
                fn into_local(self) -> u64 {
                    // What is larger than any number of a property counts as the largest.
                    i64::try_from(self).unwrap_or(i64::MAX) as u64
                }
            }
        )*
    };
}

numbers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool }

impl IntoArg<'static> for char {
    #[inline]
    fn into_arg(self) -> Arg<'static> {
        Arg::Int(i64::from(u32::from(self)))
    }
}

impl<'a> IntoArg<'a> for Arg<'a> {
    #[inline]
    fn into_arg(self) -> Arg<'a> {
        self
    }
}

impl<'a> IntoArg<'a> for &'a str {
    #[inline]
    fn into_arg(self) -> Arg<'a> {
        Arg::Str(self)
    }
}

impl<T> IntoArg<'static> for &T {
    #[inline]
    fn into_arg(self) -> Arg<'static> {
        Arg::Object(core::ptr::from_ref(self).cast())
    }
}

impl<T> IntoArg<'static> for &mut T {
    #[inline]
    fn into_arg(self) -> Arg<'static> {
        Arg::Object(core::ptr::from_mut(self).cast_const().cast())
    }
}

impl<T> IntoArg<'static> for &[T] {
    #[inline]
    fn into_arg(self) -> Arg<'static> {
        Arg::Object(self.as_ptr().cast())
    }
}

impl<T> IntoArg<'static> for *const T {
    #[inline]
    fn into_arg(self) -> Arg<'static> {
        Arg::Object(self.cast())
    }
}

impl<T> IntoArg<'static> for *mut T {
    #[inline]
    fn into_arg(self) -> Arg<'static> {
        Arg::Object(self.cast_const().cast())
    }
}

#[cfg(feature = "monitor")]
impl<'a> IntoArg<'a> for ObjectId<'a> {
    #[inline]
    fn into_arg(self) -> Arg<'a> {
        Arg::Id(self)
    }
}
