//! atomic_refcell: borrows that fail instead of waiting, asked for until they succeed.

use std::thread;

use atomic_refcell::AtomicRefCell;

fn main() {
    let cell = AtomicRefCell::new(Vec::<usize>::new());
    thread::scope(|scope| {
        for task in 0..4 {
            let cell = &cell;
            scope.spawn(move || {
                let mut done = 0;
                while done < 40 {
                    if let Ok(mut list) = cell.try_borrow_mut() {
                        list.push(task);
                        done += 1;
                    } else {
                        thread::yield_now();
                    }
                    if let Ok(list) = cell.try_borrow() {
                        assert!(list.len() <= 160);
                    }
                }
            });
        }
    });
    assert_eq!(cell.into_inner().len(), 160);
    println!("done");
}
