//! What scoped threads did is seen when the scope ends, also of those that scoped threads start, and of those that panic.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

fn main() {
    for round in 0..20 {
        let mut numbers = vec![0; 8];
        thread::scope(|scope| {
            for (i, number) in numbers.iter_mut().enumerate() {
                scope.spawn(move || *number = i + round);
            }
        });
        assert_eq!(numbers.iter().sum::<usize>(), 28 + 8 * round);
        let (mut outer, mut inner) = (0, 0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    outer = 1;
                    scope.spawn(|| inner = 1);
                });
                if round == 3 {
                    scope.spawn(|| resume_unwind(Box::new(())));
                }
            })
        }));
        assert_eq!(result.is_err(), round == 3);
        assert_eq!(outer + inner, 2);
    }
}
