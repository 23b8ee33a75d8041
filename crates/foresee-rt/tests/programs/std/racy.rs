//! Two threads of a scope write to the same number, and nothing orders them. (A handle that is dropped after its thread is
//! done would: whoever drops the last reference to what they share has seen all of the other.)

use std::thread;

static mut NUMBER: usize = 0;

fn main() {
    thread::scope(|scope| {
        let add = |i| scope.spawn(move || unsafe { NUMBER += i });
        let _handles = [add(1), add(2)];
    });
    println!("{}", unsafe { NUMBER });
}
