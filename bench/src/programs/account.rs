//! `account`: customers of a bank who pay in, draw out, and transfer money to the customer before them (the first one to an
//! account that nobody else uses).
//!
//! The bug is the classic one: `transfer` holds the lock of the account it takes from, but not of the one it gives to. Its
//! line `to.amount += sum` races with every line by which the owner of that account changes it: three racy pairs of
//! lines. Every operation ends with an entry in a log under the log's own lock; that lock happens to order most operations of any
//! one run, so that happens-before misses races which prediction finds (all of them where customers come one by one).

use foresee_trace::{LocId, LockId, Mem, StrId};

use super::simulation::{Script, Simulation};

/// The lines of the program that do something.
#[derive(Clone, Copy)]
struct Lines {
    deposit: LocId,
    withdraw: LocId,
    transfer: LocId,
    take: LocId,
    give: LocId,
    log: LocId,
}

#[derive(Clone, Copy)]
struct Account {
    amount: Mem,
    lock: LockId,
}

#[derive(Clone, Copy)]
struct Log {
    last: Mem,
    lock: LockId,
}

/// A bank with this many customers, who do everything `rounds` times.
pub(super) fn program(customers: u32, rounds: u32, mean_slice: u32) -> Simulation {
    let mut program = Simulation::new("account.rs", mean_slice);
    let lines = Lines {
        deposit: program.at(14, "Account::deposit"),
        withdraw: program.at(19, "Account::withdraw"),
        transfer: program.at(23, "Account::transfer"),
        take: program.at(25, "Account::transfer"),
        give: program.at(26, "Account::transfer"),
        log: program.at(33, "Log::add"),
    };
    let transfer = program.name("Account::transfer");
    let bank: Vec<Account> = (0..=customers)
        .map(|i| Account {
            amount: program.variable(&format!("account{i}.amount")),
            lock: program.mutex(&format!("account{i}")),
        })
        .collect();
    let log = Log { last: program.variable("log.last"), lock: program.mutex("log") };
    let customers: Vec<_> = (1..bank.len())
        .map(|i| {
            let (own, other) = (bank[i], bank[i - 1]);
            let mut left = rounds;
            program.thread(&format!("customer-{i}"), move |script| {
                if left > 0 {
                    left -= 1;
                    round(script, &lines, own, other, log, transfer);
                }
            })
        })
        .collect();
    let (open, fork) = (program.at(41, "main"), program.at(44, "main"));
    let (join, print) = (program.at(47, "main"), program.at(50, "main"));
    let main = program.main();
    for account in &bank {
        main.write(open, account.amount);
    }
    main.run(fork, join, &customers);
    for account in &bank {
        main.read(print, account.amount);
    }
    program
}

fn round(script: &mut Script, lines: &Lines, own: Account, other: Account, log: Log, transfer: StrId) {
    let note = |script: &mut Script| script.locked(lines.log, log.lock, |s| s.write(lines.log, log.last));
    script.locked(lines.deposit, own.lock, |s| s.update(lines.deposit, own.amount));
    note(script);
    script.locked(lines.withdraw, own.lock, |s| s.update(lines.withdraw, own.amount));
    note(script);
    script.atomic(lines.transfer, transfer, |script| {
        script.locked(lines.transfer, own.lock, |s| {
            s.update(lines.take, own.amount);
            s.update(lines.give, other.amount);
        });
    });
    note(script);
}
