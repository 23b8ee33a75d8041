//! Methods that call themselves and sometimes panic, on several threads; what they return says what they were called with.

use std::panic::{self, AssertUnwindSafe};
use std::thread;

pub struct Tree {
    height: i64,
}

impl Tree {
    #[inline(never)]
    pub fn grow(&mut self, by: i64, is_dry: bool) -> i64 {
        self.height += by;
        if by > 0 {
            self.height += self.grow(by - 1, is_dry);
        } else if is_dry {
            panic!("it is too dry");
        }
        by * 1000 + 7
    }

    #[inline(never)]
    pub fn prune(&mut self) {
        self.height = self.height.min(100);
        println!("{}", self.height);
    }
}

fn main() {
    panic::set_hook(Box::new(|_| ()));
    let work = |thread: i64| {
        let mut tree = Tree { height: thread };
        for round in 0..6 {
            let dry = panic::catch_unwind(AssertUnwindSafe(|| tree.grow(round, round % 2 == thread)));
            tree.grow(dry.map_or(3, |height| height % 4), false);
        }
        tree.prune();
    };
    thread::scope(|scope| (0..2).for_each(|thread| drop(scope.spawn(move || work(thread)))));
}
