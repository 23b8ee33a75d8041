//! tokio: the multi-thread runtime itself: stealing, timers, blocking pools, sockets, cancellation, several runtimes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

fn main() {
    for _ in 0..2 {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
        runtime.block_on(async {
            many_tasks().await;
            timers().await;
            blocking().await;
            sockets().await;
            cancelled().await;
        });
    }
    println!("done");
}

async fn many_tasks() {
    let mut set = JoinSet::new();
    for task in 0..100usize {
        let data: Vec<usize> = (0..task).collect();
        set.spawn(async move {
            tokio::task::yield_now().await;
            let half = tokio::spawn(async move { data.iter().sum::<usize>() });
            half.await.unwrap()
        });
    }
    let mut sum = 0;
    while let Some(part) = set.join_next().await {
        sum += part.unwrap();
    }
    assert_eq!(sum, (0..100usize).map(|task| (0..task).sum::<usize>()).sum());
}

async fn timers() {
    let ticks = Arc::new(AtomicUsize::new(0));
    let mut set = JoinSet::new();
    for task in 0..6u64 {
        let ticks = ticks.clone();
        set.spawn(async move {
            let mut interval = tokio::time::interval(Duration::from_millis(1 + task % 3));
            for _ in 0..4 {
                interval.tick().await;
                ticks.fetch_add(1, Ordering::Relaxed);
            }
            let late = tokio::time::timeout(Duration::from_millis(2), std::future::pending::<()>()).await;
            assert!(late.is_err());
        });
    }
    while let Some(done) = set.join_next().await {
        done.unwrap();
    }
    assert_eq!(ticks.load(Ordering::Relaxed), 24);
}

async fn blocking() {
    let mut set = JoinSet::new();
    for task in 0..12usize {
        set.spawn_blocking(move || vec![task; 16]);
    }
    let mut total = 0;
    while let Some(list) = set.join_next().await {
        total += list.unwrap().iter().sum::<usize>();
    }
    assert_eq!(total, 16 * (0..12).sum::<usize>());
    let inner = tokio::spawn(async { tokio::task::block_in_place(|| vec![1, 2, 3].len()) });
    assert_eq!(inner.await.unwrap(), 3);
}

async fn sockets() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        for _ in 0..4 {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut buffer = [0u8; 64];
                loop {
                    let count = stream.read(&mut buffer).await.unwrap();
                    if count == 0 {
                        return;
                    }
                    stream.write_all(&buffer[..count]).await.unwrap();
                }
            });
        }
    });
    let mut clients = JoinSet::new();
    for client in 0..4u8 {
        clients.spawn(async move {
            let stream = TcpStream::connect(address).await.unwrap();
            let (mut reading, mut writing) = stream.into_split();
            let writer = tokio::spawn(async move {
                for _ in 0..10 {
                    writing.write_all(&[client; 32]).await.unwrap();
                }
            });
            let mut back = vec![0u8; 320];
            reading.read_exact(&mut back).await.unwrap();
            assert!(back.iter().all(|byte| *byte == client));
            writer.await.unwrap();
        });
    }
    while let Some(done) = clients.join_next().await {
        done.unwrap();
    }
    server.await.unwrap();
}

async fn cancelled() {
    let alive = Arc::new(AtomicUsize::new(0));
    let mut handles = Vec::new();
    for task in 0..10usize {
        let alive = alive.clone();
        handles.push(tokio::spawn(async move {
            let held = Box::new(alive);
            held.fetch_add(task, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_secs(60)).await;
        }));
    }
    tokio::time::sleep(Duration::from_millis(3)).await;
    for handle in &handles {
        handle.abort();
    }
    for handle in handles {
        assert!(handle.await.unwrap_err().is_cancelled());
    }
    assert_eq!(Arc::strong_count(&alive), 1);
}
