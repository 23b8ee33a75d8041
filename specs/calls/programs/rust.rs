//! Keeps all properties of its theme, or breaks the one that it is told.

use std::fs::File;
use std::sync::mpsc::{channel, sync_channel};
use std::{env, mem, thread};

fn main() {
    let told = env::args().nth(1).unwrap_or_default();
    let breaks = |property| told == property;
    let (growing, from_growing) = channel();
    let (bounded, from_bounded) = sync_channel(4);
    let (meeting, from_meeting) = sync_channel(0);
    let receiver = thread::spawn(move || {
        let number: i32 = from_growing.recv().unwrap();
        let letter: char = from_bounded.recv().unwrap();
        let text: String = from_meeting.recv().unwrap();
        println!("{number} {letter} {text}");
    });
    growing.clone().send(1).unwrap();
    bounded.try_send('a').unwrap();
    meeting.send("text".to_owned()).unwrap();
    receiver.join().unwrap();
    if breaks("SentAfterClose") {
        for _ in 0..2 {
            let lost = (growing.send(2), bounded.send('b'), meeting.send("more".to_owned()));
            println!("{lost:?}");
        }
    }
    // Told that nobody receives any more, it stops.
    assert!(growing.send(3).is_err() && bounded.send('c').is_err() && meeting.send(String::new()).is_err());
    // A scope waits for its threads.
    thread::scope(|scope| {
        scope.spawn(|| ());
        scope.spawn(|| ()).join().unwrap();
    });
    let other = thread::spawn(|| ());
    if breaks("HandleDropped") {
        drop(other);
    } else {
        other.join().unwrap();
    }
    let file = File::open("/dev/null").unwrap();
    if breaks("DescriptorLeftOpen") {
        mem::forget(file);
    }
}
