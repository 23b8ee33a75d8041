//! The program behind `counter.std`: the run that was recorded was fine, the next one may not be.
use std::sync::Mutex;
use std::thread;

static mut COUNTER: u32 = 0;
static CONFIG: Mutex<&str> = Mutex::new("quiet");

fn main() {
    let worker = thread::Builder::new().name("worker-1".into());
    let worker = worker.spawn(|| {
        unsafe {
            COUNTER += 1;
        }
        let config = CONFIG.lock().unwrap();
        drop(config);
    });
    let config = CONFIG.lock().unwrap();
    unsafe {
        println!("{config}: {}", { COUNTER });
    }
    drop(config);
    worker.unwrap().join().unwrap();
}
