//! Landing by permit: the write of another thread that comes too early to matter, in this run.
//!
//! `tower` withdraws the permit; `pilot` gets a permit, reads it, and lands. The rule: whenever the plane lands, the
//! permit was there immediately before. In this run the permit is withdrawn first, and the rule holds. As the withdrawal and the
//! permit have nothing to do with each other, the former may as well come between the look at the permit and the
//! landing. (The example of Chen and Roşu, and of Sen, Roşu and Agha's weaker causality: happens-before, which keeps the
//! order of the two writes, cannot see it.)

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

static PERMIT: AtomicBool = AtomicBool::new(false);
static LANDING: AtomicBool = AtomicBool::new(false);

fn main() {
    let pilot = thread::Builder::new().name("pilot".into());
    let pilot = pilot
        .spawn(|| {
            thread::sleep(Duration::from_millis(100));
            PERMIT.store(true, SeqCst);
            let may_land = PERMIT.load(SeqCst);
            LANDING.store(may_land, SeqCst);
        })
        .unwrap();
    let tower = thread::Builder::new().name("tower".into());
    let tower = tower.spawn(|| PERMIT.store(false, SeqCst)).unwrap();
    tower.join().unwrap();
    pilot.join().unwrap();
    println!("landing: {}", LANDING.load(SeqCst));
}
