//! Lists that the linker puts together: everything that is in the sections of one name.

/// What is from the first to behind the last, each of type `T`.
///
/// # Safety
/// The linker defines both as the beginning and the end of a section, in which there is nothing else.
pub(crate) unsafe fn list<T: 'static>(first: *const u8, last: *const u8) -> impl Iterator<Item = &'static T> {
    let (first, last) = (first.cast::<T>(), last.cast::<T>());
    let next = |one: &*const T| Some(one.wrapping_add(1));
    // SAFETY: the caller vouches for what is there.
    std::iter::successors(Some(first), next).take_while(move |one| *one < last).map(|one| unsafe { &*one })
}
