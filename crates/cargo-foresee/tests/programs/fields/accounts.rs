//! Takes money from accounts; with the argument `over`, more than there is, once.

use std::sync::atomic::{AtomicU32, Ordering};

pub struct Account {
    name: String,
    uses: AtomicU32,
    balance: i64,
}

impl Account {
    fn take(&mut self, amount: i64) -> usize {
        self.uses.fetch_add(1, Ordering::Relaxed);
        self.balance -= amount;
        self.name.len()
    }
}

fn main() {
    let over = std::env::args().nth(1).is_some_and(|argument| argument == "over");
    let mut total = 0;
    for number in 0..4 {
        let mut account = Box::new(Account { name: format!("{number}"), uses: AtomicU32::new(0), balance: 10 });
        total += account.take(4);
        total += account.take(if over && number == 2 { 7 } else { 6 });
        total += account.take(1);
    }
    println!("{total}");
}
