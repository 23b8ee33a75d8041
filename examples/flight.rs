//! A flight controller that lands well, today.
//!
//! One thread asks for approval, which is given if the radio is live, and lands if it was approved. Another watches the
//! radio, which goes down some time after the landing has started. The rule is: who lands has approval, and since it was given
//! the radio has never been down. This run keeps the rule. Two other runs of the same three writes break it: the radio goes
//! down between approval and landing, or between the look at the radio and the approval that follows from it.
//! (The landing controller of Sen, Roşu and Agha's work on predicting errors from successful executions.)
//!
//! The variables are atomics: there is no data race here, the design is wrong.

use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

static LANDING: AtomicI32 = AtomicI32::new(0);
static APPROVED: AtomicI32 = AtomicI32::new(0);
static RADIO: AtomicI32 = AtomicI32::new(1);

fn ask_landing_approval() {
    let live = RADIO.load(SeqCst) != 0;
    APPROVED.store(live.into(), SeqCst);
}

fn land() {
    ask_landing_approval();
    if APPROVED.load(SeqCst) == 1 {
        println!("landing approved");
        LANDING.store(1, SeqCst);
        println!("landing started");
    } else {
        println!("landing not approved");
    }
}

fn check_radio() {
    thread::sleep(Duration::from_millis(100));
    RADIO.store(0, SeqCst);
}

fn main() {
    let pilot = thread::Builder::new().name("pilot".into()).spawn(land).unwrap();
    let radio = thread::Builder::new().name("radio".into());
    let radio = radio
        .spawn(|| {
            while RADIO.load(SeqCst) != 0 {
                check_radio();
            }
        })
        .unwrap();
    pilot.join().unwrap();
    radio.join().unwrap();
    if LANDING.load(SeqCst) == 1 {
        println!("landed");
    }
}
