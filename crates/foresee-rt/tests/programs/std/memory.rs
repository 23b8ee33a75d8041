//! Memory goes from thread to thread through the allocator: here one of the program's own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        CALLS.fetch_add(1, Ordering::Relaxed);
        unsafe {
            block.write(1);
            System.dealloc(block, layout);
        }
    }
}

#[cfg(counting)]
#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[repr(align(64))]
struct Aligned([u8; 64]);

fn main() {
    let threads: Vec<_> = (0..4)
        .map(|i| {
            thread::spawn(move || {
                for round in 0..100 {
                    let grown: Vec<u64> = (0..20).map(|j| i * j).filter(|n| n % 2 == 0).collect();
                    let mut aligned = Vec::new();
                    for _ in 0..3 {
                        aligned.push(Aligned([round; 64]));
                    }
                    let zeroed = std::hint::black_box(vec![0u8; 100]);
                    assert!(!grown.is_empty() && aligned[2].0[3] == round && zeroed[5] == 0);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    println!("{}", CALLS.load(Ordering::Relaxed));
}
