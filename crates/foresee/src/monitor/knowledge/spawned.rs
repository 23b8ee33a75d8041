//! Threads that begin with what their parent knows, and hand on what they know when they are joined.

use std::panic::Location;
use std::prelude::rust_2024::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::{io, thread};

use super::me::{Me, Vector, act};
use super::violation::handle;
use super::world::world;

/// A thread that can be joined.
#[derive(Debug)]
pub struct JoinHandle<T> {
    handle: thread::JoinHandle<T>,
    known: Arc<Mutex<Option<Vector>>>,
}

/// Starts a thread, as [`std::thread::spawn`] does.
///
/// # Panics
/// If the system cannot start it.
#[track_caller]
pub fn spawn<F, T>(run: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    start(thread::Builder::new(), "", run).expect("the system starts threads")
}

/// Starts a thread with a name.
#[track_caller]
pub fn spawn_named<F, T>(name: &str, run: F) -> io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    start(thread::Builder::new().name(name.to_owned()), name, run)
}

#[track_caller]
fn start<F, T>(builder: thread::Builder, name: &str, run: F) -> io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let known = Arc::new(Mutex::new(None));
    let Some(world) = world() else { return Ok(JoinHandle { handle: builder.spawn(run)?, known }) };
    let at = Location::caller();
    let slot = world.add(name, true);
    let mut begins = None;
    let violated = act(world, |me, program| {
        me.monitor.meet(slot);
        me.internal(program);
        begins = Some(me.monitor.knowledge().clone());
    });
    let ends = Arc::clone(&known);
    let handle_of = builder.spawn(move || {
        begins.iter().for_each(|begins| Me::forked(world, slot, begins).settle());
        let ended = End { at, ends };
        let result = run();
        drop(ended);
        result
    })?;
    handle(violated, at);
    Ok(JoinHandle { handle: handle_of, known })
}

/// The end of a thread is an event, however it comes.
struct End {
    at: &'static Location<'static>,
    ends: Arc<Mutex<Option<Vector>>>,
}

impl Drop for End {
    fn drop(&mut self) {
        let Some(world) = world() else { return };
        let mut known = None;
        let violated = act(world, |me, program| {
            me.internal(program);
            known = Some(me.monitor.knowledge().clone());
        });
        *self.ends.lock().unwrap_or_else(PoisonError::into_inner) = known;
        handle(violated, self.at);
    }
}

impl<T> JoinHandle<T> {
    /// Waits for the thread's end: its result, or what it panicked with.
    #[track_caller]
    pub fn join(self) -> thread::Result<T> {
        let result = self.handle.join();
        if let Some(world) = world() {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).take();
            let violated = act(world, |me, program| {
                known.iter().for_each(|known| me.monitor.learn(known, 0, 0));
                me.internal(program);
            });
            handle(violated, Location::caller());
        }
        result
    }

    /// Whether the thread has ended.
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }
}
