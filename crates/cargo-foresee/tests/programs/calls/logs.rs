//! Each log is opened, written to and closed; with the argument `late` the last one is written to afterwards.

use std::sync::Mutex;

pub struct Log {
    is_open: bool,
    written: usize,
}

fn open(level: i32) -> Box<Log> {
    Box::new(Log { is_open: level >= 0, written: 0 })
}

impl Log {
    fn write(&mut self, text: &str, size: usize) -> usize {
        if self.is_open {
            self.written += size.min(text.len());
        }
        self.written
    }

    fn close(&mut self) {
        self.is_open = false;
    }
}

fn main() {
    let argument = std::env::args().nth(1).unwrap_or_default();
    let total = Mutex::new(0);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (argument, total) = (&argument, &total);
            scope.spawn(move || {
                for round in 0..20 {
                    let mut log = open(thread + round);
                    log.write(argument, round as usize);
                    if argument == "big" && round == 3 {
                        log.write("text", 5000);
                    }
                    log.close();
                    if argument == "late" && round == 19 {
                        log.write("late", 4);
                    }
                    *total.lock().unwrap() += log.written;
                }
            });
        }
    });
    println!("{}", total.lock().unwrap());
}
