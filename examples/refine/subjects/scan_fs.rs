//! The Scan file system in small (section 7.3 of the paper; M. Ji and E. Felten, *Scan-based scheduling and layout in a reliable write-optimized
//! file system*, 2002): what is written stays in memory until the arm of the disk, which always goes in one direction, passes a free place; there
//! the block goes, wherever it was before.
//!
//! The bugs that the authors found in it were in its cache, "very similar to those found in Boxwood's": here a dirty buffer is overwritten after the lock
//! was given up, while the arm may write it to the disk and drop it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use foresee::attr::{mutator, observer};
use foresee::refine::models::Files;
use foresee::refine::structures::DiskReplica;
use foresee::refine::{Choice, Harness, Value};
use foresee::{commit, commit_block, log_write};

use super::{Subject, lock};

/// Words of a block, and blocks of a file.
const WORDS: usize = 4;
const BLOCKS: usize = 2;

/// A block in memory, whose words are copied one by one.
#[derive(Default)]
struct Buffer([AtomicI64; WORDS]);

impl Buffer {
    fn fill(&self, file: &str, block: usize, words: &[i64]) {
        for (index, word) in words.iter().enumerate() {
            self.0[index].store(*word, Ordering::Relaxed);
            log_write!(["buffer[{file}][{block}][{index}]"], *word);
        }
    }

    fn words(&self) -> Vec<i64> {
        self.0.iter().map(|word| word.load(Ordering::Relaxed)).collect()
    }
}

/// Where a block is: in memory, on the disk, or there with a newer version in memory.
#[derive(Default)]
struct Block {
    dirty: Option<Arc<Buffer>>,
    place: Option<usize>,
}

#[derive(Default)]
struct Volume {
    files: BTreeMap<String, BTreeMap<usize, Block>>,
    /// Dirty blocks, those that have waited longest first.
    waiting: VecDeque<(String, usize)>,
    disk: Vec<Vec<i64>>,
    free: BTreeSet<usize>,
    /// Where the arm is.
    arm: usize,
}

impl Volume {
    /// Writes one dirty block to the next free place in the direction of the arm. Whether there was one.
    fn write_back(&mut self) -> bool {
        let Some((file, number)) = self.waiting.pop_front() else { return false };
        let Some(block) = self.files.get_mut(&file).and_then(|blocks| blocks.get_mut(&number)) else {
            return true;
        };
        let Some(buffer) = block.dirty.take() else { return true };
        let ahead = self.free.range(self.arm..).next();
        let Some(place) = ahead.or_else(|| self.free.first()).copied() else {
            // No room: it stays dirty.
            block.dirty = Some(buffer);
            self.waiting.push_front((file, number));
            return false;
        };
        self.arm = place + 1;
        self.free.remove(&place);
        commit_block! {
            for (index, word) in buffer.0.iter().enumerate() {
                let word = word.load(Ordering::Relaxed);
                self.disk[place][index] = word;
                log_write!(["disk[{place}][{index}]"], word);
            }
            self.free.extend(block.place.replace(place));
            log_write!(["place[{file}][{number}]"], place);
            log_write!(["dirty[{file}][{number}]"], false);
        }
        true
    }
}

pub(crate) struct ScanFs<const BUG: bool> {
    volume: Mutex<Volume>,
}

impl<const BUG: bool> ScanFs<BUG> {
    #[mutator]
    fn create(&self, file: String) -> bool {
        let mut volume = lock(&self.volume);
        let is_new = !volume.files.contains_key(&file);
        commit_block! {
            if is_new {
                log_write!(["file[{file}]"], true);
                volume.files.insert(file, BTreeMap::new());
            }
            commit!();
        }
        is_new
    }

    #[mutator]
    fn unlink(&self, file: String) -> bool {
        let mut volume = lock(&self.volume);
        let gone = volume.files.remove(&file);
        commit_block! {
            if gone.is_some() {
                log_write!(["file[{file}]"], false);
            }
            for (number, block) in gone.iter().flatten() {
                log_write!(["dirty[{file}][{number}]"], false);
                log_write!(["place[{file}][{number}]"], None::<usize>);
                volume.free.extend(block.place);
            }
            volume.waiting.retain(|(other, _)| *other != file);
            commit!();
        }
        gone.is_some()
    }

    #[mutator]
    fn write(&self, file: String, number: usize, words: Vec<i64>) -> &'static str {
        let mut volume = lock(&self.volume);
        let Volume { files, waiting, .. } = &mut *volume;
        let Some(blocks) = files.get_mut(&file) else {
            commit!();
            return "none";
        };
        let block = blocks.entry(number).or_default();
        if let Some(buffer) = block.dirty.clone() {
            let held = (!BUG).then_some(volume);
            if BUG {
                std::thread::yield_now();
            }
            commit_block! {
                buffer.fill(&file, number, &words);
                commit!();
            }
            drop(held);
            return "ok";
        }
        let buffer = Arc::new(Buffer::default());
        commit_block! {
            buffer.fill(&file, number, &words);
            log_write!(["dirty[{file}][{number}]"], true);
            block.dirty = Some(buffer);
            waiting.push_back((file, number));
            commit!();
        }
        "ok"
    }

    #[observer]
    fn read(&self, file: String, number: usize) -> Value {
        let volume = lock(&self.volume);
        let block = volume.files.get(&file).and_then(|blocks| blocks.get(&number));
        match block {
            Some(Block { dirty: Some(buffer), .. }) => Value::from(buffer.words()),
            Some(Block { place: Some(place), .. }) => Value::from(&volume.disk[*place][..]),
            _ => Value::from("none"),
        }
    }

    #[mutator]
    fn sync(&self) -> &'static str {
        let mut volume = lock(&self.volume);
        while volume.write_back() {}
        commit!();
        "ok"
    }

    /// The arm moves on.
    fn scan(&self) {
        lock(&self.volume).write_back();
    }
}

impl<const BUG: bool> Subject for ScanFs<BUG> {
    type Spec = Files;
    type Replica = DiskReplica;
    const SPEC: Files = Files;
    const INTERNAL: Option<fn(&Self)> = Some(Self::scan);

    fn new(harness: &Harness) -> Self {
        // A block needs its old place until it has its new one.
        let places = 10 * harness.keys * BLOCKS + 1;
        let disk = vec![vec![0; WORDS]; places];
        ScanFs { volume: Mutex::new(Volume { disk, free: (0..places).collect(), ..Volume::default() }) }
    }

    fn operate(&self, choice: &mut Choice) {
        let file = format!("f{}", choice.key());
        let block = choice.below(BLOCKS);
        match choice.below(20) {
            0..3 => drop(self.create(file)),
            3 => drop(self.unlink(file)),
            4 => drop(self.sync()),
            5..16 => drop(self.write(file, block, vec![choice.below(100) as i64; WORDS])),
            _ => drop(self.read(file, block)),
        }
    }
}
