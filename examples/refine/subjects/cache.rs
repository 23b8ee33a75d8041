//! Boxwood's cache over its storage of chunks (figure 8 of the paper): entries are clean or dirty; dirty ones are flushed to the storage, clean
//! ones are evicted by a thread of the cache when there are many.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use foresee::attr::{mutator, observer};
use foresee::refine::models::Store;
use foresee::refine::structures::CacheReplica;
use foresee::refine::{Choice, Harness, Value};
use foresee::{commit, commit_block, log_write};

use super::{Subject, lock};

const BYTES: usize = 4;
/// So many clean entries stay.
const CAPACITY: usize = 16;

/// The bytes of a cached handle, which are copied one by one.
#[derive(Default)]
struct Entry([AtomicI64; BYTES]);

impl Entry {
    fn copy(&self, handle: &str, bytes: &[i64]) {
        for (index, byte) in bytes.iter().enumerate() {
            self.0[index].store(*byte, Ordering::Relaxed);
            log_write!(["entry[{handle}][{index}]"], *byte);
        }
    }

    fn bytes(&self) -> Vec<i64> {
        self.0.iter().map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}

/// The lists of entries, and the storage behind them.
#[derive(Default)]
struct Lists {
    clean: BTreeMap<String, Arc<Entry>>,
    dirty: BTreeMap<String, Arc<Entry>>,
    chunks: BTreeMap<String, Vec<i64>>,
}

#[derive(Default)]
pub(crate) struct Cache<const BUG: bool> {
    lists: Mutex<Lists>,
}

impl<const BUG: bool> Cache<BUG> {
    #[mutator]
    fn write(&self, handle: String, bytes: Vec<i64>) -> &'static str {
        let mut lists = lock(&self.lists);
        if let Some(entry) = lists.dirty.get(&handle).cloned() {
            // The bug of the paper: the lock is given up before the bytes are copied.
            let held = (!BUG).then_some(lists);
            if BUG {
                std::thread::yield_now();
            }
            commit_block! {
                entry.copy(&handle, &bytes);
                commit!();
            }
            drop(held);
            return "ok";
        }
        if let Some(entry) = lists.clean.remove(&handle) {
            commit_block! {
                log_write!(["clean[{handle}]"], false);
                entry.copy(&handle, &bytes);
                log_write!(["dirty[{handle}]"], true);
                lists.dirty.insert(handle.clone(), entry);
                commit!();
            }
            return "ok";
        }
        let entry: Arc<Entry> = Arc::default();
        commit_block! {
            log_write!(["cached[{handle}]"], true);
            entry.copy(&handle, &bytes);
            log_write!(["dirty[{handle}]"], true);
            lists.dirty.insert(handle.clone(), entry);
            commit!();
        }
        "ok"
    }

    /// Writes dirty entries to the storage: that of one handle, or all.
    fn clean(&self, only: Option<&str>) {
        let lists = &mut *lock(&self.lists);
        commit_block! {
            let dirty = std::mem::take(&mut lists.dirty);
            let (chosen, rest) = dirty.into_iter().partition(|(handle, _)| only.is_none_or(|only| only == handle));
            lists.dirty = rest;
            let chosen: BTreeMap<String, Arc<Entry>> = chosen;
            for (handle, entry) in chosen {
                let bytes = entry.bytes();
                for (index, byte) in bytes.iter().enumerate() {
                    log_write!(["chunk[{handle}][{index}]"], *byte);
                }
                lists.chunks.insert(handle.clone(), bytes);
                log_write!(["dirty[{handle}]"], false);
                log_write!(["clean[{handle}]"], true);
                lists.clean.insert(handle, entry);
            }
            commit!();
        }
    }

    #[mutator]
    fn flush(&self) -> &'static str {
        self.clean(None);
        "ok"
    }

    #[mutator]
    fn revoke(&self, handle: String) -> &'static str {
        self.clean(Some(&handle));
        "ok"
    }

    #[observer]
    fn read(&self, handle: String) -> Value {
        let lists = lock(&self.lists);
        let entry = lists.clean.get(&handle).or_else(|| lists.dirty.get(&handle));
        match entry.map(|entry| entry.bytes()).or_else(|| lists.chunks.get(&handle).cloned()) {
            Some(bytes) => Value::from(bytes),
            None => Value::from("none"),
        }
    }

    /// Drops a clean entry, whose bytes are in the storage, if there are too many.
    fn evict(&self) {
        let mut lists = lock(&self.lists);
        if lists.clean.len() <= CAPACITY {
            return;
        }
        let Some((handle, _)) = lists.clean.pop_first() else { return };
        commit_block! {
            log_write!(["cached[{handle}]"], false);
            log_write!(["clean[{handle}]"], false);
            for index in 0..BYTES {
                log_write!(["entry[{handle}][{index}]"], None::<i64>);
            }
        }
        drop(lists);
    }
}

impl<const BUG: bool> Subject for Cache<BUG> {
    type Spec = Store;
    type Replica = CacheReplica;
    const SPEC: Store = Store;
    const INTERNAL: Option<fn(&Self)> = Some(Self::evict);

    fn new(_harness: &Harness) -> Self {
        Cache::default()
    }

    fn operate(&self, choice: &mut Choice) {
        let handle = format!("h{}", choice.key());
        match choice.below(20) {
            0..14 => drop(self.write(handle, vec![choice.below(100) as i64; BYTES])),
            14..16 => drop(self.flush()),
            16..18 => drop(self.revoke(handle)),
            _ => drop(self.read(handle)),
        }
    }
}
