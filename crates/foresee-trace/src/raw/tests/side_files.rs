//! Copies of homes in files beside the trace.

use std::fs;
use std::path::{Path, PathBuf};

use super::home_chunks::turn;
use super::*;
use crate::raw::{is_side_file, join};

/// A trace whose thread has its copies of homes, turns 1, 3 and so on, in these files: 0 is the trace itself.
fn trace(folder: &Path, copies: &[usize]) -> PathBuf {
    let path = folder.join("raw");
    let last = 2 * copies.len() as u64 + 1;
    let mut files = [[header(), turn(last, Tag::End, 100)].concat(), Vec::new(), Vec::new()];
    for (at, &file) in copies.iter().enumerate() {
        let what = if at == 0 { Tag::Begin } else { Tag::Write };
        files[file].extend(turn(2 * at as u64 + 1, what, 1 + at as u64));
    }
    for side in 1..files.len() {
        let length = files[side].len() as u64;
        files[0][8 * (SIDE_LENGTHS_WORD + side - 1)..][..8].copy_from_slice(&length.to_le_bytes());
        if length > 0 {
            fs::write(folder.join(format!("raw+{side}")), &files[side]).unwrap();
        }
    }
    fs::write(&path, &files[0]).unwrap();
    path
}

fn events(path: &Path) -> (Vec<&'static str>, bool) {
    let mut reader = RawReader::open(path, Box::new(NoSymbols), LockTable::default()).unwrap();
    let mut events = Vec::new();
    while reader.advance().unwrap() {
        events.push(reader.event().op.name());
    }
    (events, reader.damage().is_some())
}

#[test]
fn copies_are_read_wherever_they_are() {
    let expected = (vec!["thread-begin", "write", "write", "thread-end"], false);
    for copies in [[0, 0, 0], [1, 1, 1], [0, 1, 1], [2, 2, 2], [1, 2, 0], [2, 1, 2]] {
        let folder = tempfile::tempdir().unwrap();
        let path = trace(folder.path(), &copies);
        assert_eq!(events(&path), expected, "{copies:?}");
        join(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(events(&path), expected, "{copies:?} in one file");
    }
}

#[test]
fn a_side_file_that_is_missing_or_short_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &[0, 2, 1]);
    let side = folder.path().join("raw+2");
    let whole = fs::read(&side).unwrap();
    for cut in [0, 1, 31, 32, 100, whole.len() - 1] {
        fs::write(&side, &whole[..cut]).unwrap();
        let (events, damaged) = events(&path);
        assert!(damaged, "{cut}");
        assert!(events.len() <= 2, "{cut}: {events:?}");
    }
    fs::remove_file(&side).unwrap();
    assert_eq!(events(&path), (vec!["thread-begin"], true));
    fs::create_dir(&side).unwrap();
    assert_eq!(events(&path), (vec!["thread-begin"], true));
}

#[test]
fn what_was_not_finished_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path(), &[0, 1]);
    // As the kernel leaves it if the process dies while it writes.
    let side = folder.path().join("raw+1");
    let mut longer = fs::read(&side).unwrap();
    longer.extend([7; 100]);
    fs::write(&side, longer).unwrap();
    assert_eq!(events(&path), (vec!["thread-begin", "write", "thread-end"], false));
}

#[test]
fn names_of_side_files_are_known() {
    assert!(is_side_file("raw+1") && is_side_file("raw.123+15"));
    assert!(
        !is_side_file("raw") && !is_side_file("raw+0") && !is_side_file("raw+16") && !is_side_file("a+b")
    );
}
