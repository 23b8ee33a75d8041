//! Sorting and matrix multiplication, divided among rayon's threads.

use rayon::prelude::*;
use workload::{THREADS, next, seed, share};

const NUMBERS: u64 = 4_000_000;
const ROUNDS: u64 = 32;
const SIDE: usize = 192;

fn multiply(left: &[f64], right: &[f64], product: &mut [f64]) {
    product.par_chunks_mut(SIDE).enumerate().for_each(|(row, out)| {
        out.fill(0.0);
        for k in 0..SIDE {
            let factor = left[row * SIDE + k];
            for (cell, &other) in out.iter_mut().zip(&right[k * SIDE..(k + 1) * SIDE]) {
                *cell += factor * other;
            }
        }
    });
}

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(THREADS as usize).build_global().unwrap();
    let mut random = seed(0);
    let mut numbers: Vec<u64> = (0..share(NUMBERS)).map(|_| next(&mut random)).collect();
    numbers.par_sort();
    assert!(numbers.is_sorted());

    let unit: Vec<f64> = (0..SIDE * SIDE).map(|i| f64::from(u8::from(i % (SIDE + 1) == 0))).collect();
    let matrix: Vec<f64> = (0..SIDE * SIDE).map(|i| i as f64).collect();
    let (mut factor, mut product) = (matrix.clone(), matrix.clone());
    for _ in 0..share(ROUNDS) {
        multiply(&factor, &unit, &mut product);
        std::mem::swap(&mut factor, &mut product);
    }
    assert_eq!(factor, matrix);
}
