//! Transfers between accounts that have a mutex each; now and then the history of one is looked at.

use std::sync::Mutex;
use std::thread;

use workload::{THREADS, next, seed, share};

const ACCOUNTS: usize = 256;
const TRANSFERS: u64 = 16_000_000;
const REMEMBERED: usize = 16;

struct Account {
    balance: i64,
    history: [i64; REMEMBERED],
    transfers: usize,
}

impl Account {
    fn change(&mut self, by: i64) {
        self.balance += by;
        self.history[self.transfers % REMEMBERED] = by;
        self.transfers += 1;
    }
}

fn transfer(accounts: &[Mutex<Account>], from: usize, to: usize, amount: i64) {
    if from == to {
        return;
    }
    let mut first = accounts[from.min(to)].lock().unwrap();
    let mut second = accounts[from.max(to)].lock().unwrap();
    let (from, to) = if from < to { (&mut *first, &mut *second) } else { (&mut *second, &mut *first) };
    if from.balance >= amount {
        from.change(-amount);
        to.change(amount);
    }
}

/// What the last transfers of an account come to.
fn recently(account: &Mutex<Account>) -> i64 {
    account.lock().unwrap().history.iter().sum()
}

fn main() {
    let account = |_| Mutex::new(Account { balance: 1000, history: [0; REMEMBERED], transfers: 0 });
    let accounts: Vec<Mutex<Account>> = (0..ACCOUNTS).map(account).collect();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let accounts = &accounts;
            scope.spawn(move || {
                let mut random = seed(thread);
                let mut moved = 0;
                for round in 0..share(TRANSFERS) / THREADS {
                    let number = next(&mut random);
                    let (from, to) = (number as usize % ACCOUNTS, (number >> 16) as usize % ACCOUNTS);
                    transfer(accounts, from, to, (number >> 32) as i64 % 100);
                    if round % 16 == 0 {
                        moved += recently(&accounts[to]);
                    }
                }
                std::hint::black_box(moved);
            });
        }
    });
    let total: i64 = accounts.iter().map(|account| account.lock().unwrap().balance).sum();
    assert_eq!(total, 1000 * ACCOUNTS as i64);
}
