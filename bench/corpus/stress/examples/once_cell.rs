//! once_cell: every kind of cell, initialised by several threads at once, some of which fail.

use std::sync::Barrier;
use std::thread;

use once_cell::race::{OnceBool, OnceBox, OnceNonZeroUsize, OnceRef};
use once_cell::sync::{Lazy, OnceCell};

static TABLE: Lazy<Vec<usize>> = Lazy::new(|| (0..100).collect());

fn main() {
    for _ in 0..20 {
        let (cell, fallible) = (OnceCell::<String>::new(), OnceCell::<Vec<usize>>::new());
        let (boxed, number) = (OnceBox::<Vec<usize>>::new(), OnceNonZeroUsize::new());
        let (flag, reference) = (OnceBool::new(), OnceRef::new());
        let lazy = Lazy::new(|| vec![1, 2, 3]);
        let target = String::from("target");
        let together = Barrier::new(4);
        thread::scope(|scope| {
            for task in 0..4usize {
                let (cell, fallible, boxed, number) = (&cell, &fallible, &boxed, &number);
                let (flag, reference, lazy, target, together) =
                    (&flag, &reference, &lazy, &target, &together);
                scope.spawn(move || {
                    together.wait();
                    assert_eq!(cell.get_or_init(|| "made once".to_string()).len(), 9);
                    let tried =
                        fallible.get_or_try_init(|| if task % 2 == 0 { Err(()) } else { Ok(vec![task; 5]) });
                    assert!(tried.is_err() || tried.unwrap().len() == 5);
                    assert_eq!(boxed.get_or_init(|| Box::new(vec![7; 7])).iter().sum::<usize>(), 49);
                    assert_eq!(number.get_or_init(|| 5.try_into().unwrap()).get(), 5);
                    assert!(flag.get_or_init(|| true));
                    assert_eq!(reference.get_or_init(|| target).len(), 6);
                    assert_eq!(lazy.len() + TABLE.len(), 103);
                });
            }
            if let Some(text) = cell.get() {
                assert_eq!(text.len(), 9);
            }
            let waited: &Vec<usize> = fallible.wait();
            assert_eq!(waited.len(), 5);
        });
    }
    println!("done");
}
