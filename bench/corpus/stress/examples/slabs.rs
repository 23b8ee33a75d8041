//! sharded-slab, and slab behind a lock: entries made by one thread, read and removed by others.

use std::sync::{mpsc, Arc, RwLock};
use std::thread;

fn main() {
    let sharded = Arc::new(sharded_slab::Slab::<Vec<usize>>::new());
    let pool = Arc::new(sharded_slab::Pool::<String>::new());
    let plain = RwLock::new(slab::Slab::new());
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for task in 0..3usize {
            let (sharded, pool, plain, sender) = (sharded.clone(), pool.clone(), &plain, sender.clone());
            scope.spawn(move || {
                for round in 0..50 {
                    let key = sharded.insert(vec![task, round]).unwrap();
                    let text = pool.create_with(|text| text.push_str("reused")).unwrap();
                    let place = plain.write().unwrap().insert(Box::new(round));
                    assert_eq!(sharded.get(key).unwrap().len(), 2);
                    sender.send((key, text, place)).unwrap();
                }
            });
        }
        drop(sender);
        for (count, (key, text, place)) in receiver.into_iter().enumerate() {
            assert!(pool.get(text).unwrap().len() == 6);
            if count % 2 == 0 {
                assert_eq!(sharded.take(key).unwrap().len(), 2);
            } else {
                let owned = sharded.clone().get_owned(key).unwrap();
                assert!(sharded.remove(key));
                assert!(owned[1] < 50);
            }
            assert!(pool.clear(text));
            assert!(*plain.read().unwrap()[place] < 50);
            plain.write().unwrap().remove(place);
        }
    });
    assert!(plain.into_inner().unwrap().is_empty());
    println!("done");
}
