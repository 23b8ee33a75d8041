//! Ends that the program reports: of an object that monitors know by its address, and of the program.

use std::panic::Location;

use super::declaration::{Reporter, Sharing};
use super::inbox::announce_release;
use super::key::Key;
use super::registry::{all, all_running, object_gone};

/// This object, which monitors know by its address, ends: they forget it, and what comes to lie at its address is another object.
///
/// Call it where the object is dropped, or freed, or moved away.
///
/// ```
/// let buffer = Box::new([0_u8; 64]);
/// foresee::event!(buffer_fill, &*buffer);
/// foresee::release(&*buffer);
/// drop(buffer);
/// ```
#[track_caller]
pub fn release<T: ?Sized>(object: &T) {
    let address = std::ptr::from_ref(object).cast::<()>().addr() as u64;
    let at = Location::caller();
    let mut has_locals = false;
    for running in all_running() {
        has_locals |= running.declaration.sharing != Sharing::Locked;
        object_gone(running, Key::of_address(address), at);
    }
    if has_locals {
        announce_release(address);
    }
}

/// The program ends: reports that to all properties that have the event `end_program`.
///
/// Nothing in Rust runs at the end of every program, so programs that have such properties call this at theirs.
#[track_caller]
pub fn end_program() {
    let at = Location::caller();
    for monitor in all() {
        if monitor.awaits(Reporter::EndProgram) {
            monitor.running().events_by(Reporter::EndProgram, &[], at);
        }
    }
}
