//! tokio: tasks of a multi-thread runtime that share every primitive of `tokio::sync`, and check what they see.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, oneshot, watch, Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore};

const TASKS: usize = 4;
const ROUNDS: usize = 25;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
    runtime.block_on(async {
        channels().await;
        locks().await;
        wakers().await;
        published().await;
    });
    drop(runtime);
    println!("done");
}

async fn channels() {
    let (sender, mut receiver) = mpsc::channel::<Box<usize>>(3);
    let (unbounded, mut all) = mpsc::unbounded_channel::<Vec<usize>>();
    for task in 0..TASKS {
        let (sender, unbounded) = (sender.clone(), unbounded.clone());
        tokio::spawn(async move {
            for round in 0..ROUNDS {
                sender.send(Box::new(round)).await.unwrap();
                unbounded.send(vec![task, round]).unwrap();
            }
        });
    }
    drop((sender, unbounded));
    let sum = tokio::spawn(async move {
        let mut sum = 0;
        while let Some(value) = receiver.recv().await {
            sum += *value;
        }
        sum
    });
    let mut lists = 0;
    while let Some(list) = all.recv().await {
        lists += list.len();
    }
    assert_eq!(sum.await.unwrap(), TASKS * ROUNDS * (ROUNDS - 1) / 2);
    assert_eq!(lists, TASKS * ROUNDS * 2);

    let (say, _) = broadcast::channel::<Arc<Vec<usize>>>(8);
    let hearers: Vec<_> = (0..TASKS)
        .map(|_| {
            let mut hear = say.subscribe();
            tokio::spawn(async move {
                let mut heard = 0;
                loop {
                    match hear.recv().await {
                        Ok(list) => heard += list.len(),
                        Err(broadcast::error::RecvError::Lagged(missed)) => heard += missed as usize,
                        Err(broadcast::error::RecvError::Closed) => return heard,
                    }
                }
            })
        })
        .collect();
    for round in 0..ROUNDS {
        say.send(Arc::new(vec![round])).unwrap();
        tokio::task::yield_now().await;
    }
    drop(say);
    for hearer in hearers {
        assert_eq!(hearer.await.unwrap(), ROUNDS);
    }

    for round in 0..ROUNDS {
        let (answer, question) = oneshot::channel::<String>();
        tokio::spawn(async move { answer.send(format!("round {round}")).unwrap() });
        assert_eq!(question.await.unwrap(), format!("round {round}"));
    }
}

async fn locks() {
    let total = Arc::new(Mutex::new(0usize));
    let table = Arc::new(RwLock::new(vec![0usize; TASKS]));
    let permits = Arc::new(Semaphore::new(2));
    let inside = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let (total, table) = (total.clone(), table.clone());
            let (permits, inside) = (permits.clone(), inside.clone());
            tokio::spawn(async move {
                for _ in 0..ROUNDS {
                    {
                        let mut total = total.lock().await;
                        *total += 1;
                        tokio::task::yield_now().await;
                        *total += 1;
                    }
                    table.write().await[task] += 1;
                    let seen: usize = table.read().await.iter().sum();
                    assert!(seen <= TASKS * ROUNDS);
                    let permit = permits.acquire().await.unwrap();
                    assert!(inside.fetch_add(1, Ordering::Relaxed) < 2);
                    tokio::task::yield_now().await;
                    inside.fetch_sub(1, Ordering::Relaxed);
                    drop(permit);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*total.lock().await, 2 * TASKS * ROUNDS);
    assert_eq!(table.read().await.iter().sum::<usize>(), TASKS * ROUNDS);
}

async fn wakers() {
    let ready = Arc::new(Notify::new());
    let slot = Arc::new(std::sync::Mutex::new(Vec::new()));
    let waiting = {
        let (ready, slot) = (ready.clone(), slot.clone());
        tokio::spawn(async move {
            let mut taken = 0;
            while taken < ROUNDS {
                ready.notified().await;
                taken += slot.lock().unwrap().drain(..).count();
            }
        })
    };
    for round in 0..ROUNDS {
        slot.lock().unwrap().push(round);
        ready.notify_one();
        tokio::task::yield_now().await;
    }
    waiting.await.unwrap();

    let barrier = Arc::new(Barrier::new(TASKS));
    let steps = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (barrier, steps) = (barrier.clone(), steps.clone());
            tokio::spawn(async move {
                for step in 1..=5 {
                    steps.fetch_add(1, Ordering::Relaxed);
                    barrier.wait().await;
                    assert!(steps.load(Ordering::Relaxed) >= step * TASKS);
                    barrier.wait().await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

async fn published() {
    static CELL: OnceCell<Vec<usize>> = OnceCell::const_new();
    let (set, get) = watch::channel(vec![0usize]);
    let readers: Vec<_> = (0..TASKS)
        .map(|_| {
            let mut get = get.clone();
            tokio::spawn(async move {
                assert_eq!(CELL.get_or_init(|| async { (0..10).collect() }).await.len(), 10);
                while get.changed().await.is_ok() {
                    let value = get.borrow_and_update();
                    assert!(value.iter().all(|item| *item == value[0]));
                }
            })
        })
        .collect();
    for round in 0..ROUNDS {
        set.send_modify(|value| {
            value.push(0);
            value.fill(round);
        });
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    drop(set);
    for reader in readers {
        reader.await.unwrap();
    }
}
