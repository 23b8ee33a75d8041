//! Work that other threads steal: rayon over crossbeam's queues, whose fences order what is in them.

use rayon::prelude::*;

use crate::Program;

pub(crate) const ALL: &[Program] = &[("sums", sums), ("joins", joins), ("scopes", scopes), ("sorts", sorts)];

fn on_four<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap().install(work)
}

/// Uneven work, so that threads run out of it at different times.
fn sums() {
    let numbers: Vec<u64> = (0..2_000).collect();
    let sum: u64 =
        on_four(|| numbers.par_iter().map(|&n| if n % 97 == 0 { (0..n).sum::<u64>() } else { n }).sum());
    assert!(sum > 0);
}

fn fibonacci(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

fn joins() {
    assert_eq!(on_four(|| fibonacci(10)), 55);
}

fn scopes() {
    let mut parts = vec![0_u64; 32];
    on_four(|| {
        rayon::scope(|scope| {
            for (part, n) in parts.iter_mut().zip(0..) {
                scope.spawn(move |_| *part = n * n);
            }
        });
    });
    assert_eq!(parts.iter().sum::<u64>(), (0..32).map(|n| n * n).sum());
}

fn sorts() {
    let mut numbers: Vec<u64> = (0..3_000).map(|n| n * 7919 % 3_001).collect();
    on_four(|| numbers.par_sort_unstable());
    assert!(numbers.is_sorted());
}
