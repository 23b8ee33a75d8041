//! Prints what of a program's code its recording does not show, for those who extend the table of effects:
//!
//! ```text
//! cargo run -p foresee-symbols --example blind_code -- PROGRAM [LIBRARY…]
//! ```
//!
//! The libraries are those that the program is linked with, in the order in which they are loaded (`ldd PROGRAM`).

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use foresee_trace::raw::Orders;

fn main() -> Result<(), foresee_symbols::ImageError> {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let mut counts: BTreeMap<(bool, String), usize> = BTreeMap::new();
    for place in foresee_symbols::blind_code(&files)? {
        println!("{:#x} in {}: {}", place.address, place.function, place.what.code);
        *counts.entry((place.what.orders != Orders::Nothing, place.what.code)).or_default() += 1;
    }
    println!("\nBy what is not seen; those marked with * may order threads:");
    let mut counts: Vec<_> =
        counts.into_iter().map(|((orders, code), count)| (count, orders, code)).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    for (count, orders, code) in counts {
        println!("{count:6} {} {code}", if orders { '*' } else { ' ' });
    }
    Ok(())
}
