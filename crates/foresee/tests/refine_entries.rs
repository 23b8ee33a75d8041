//! Coarse entries of a refinement log: several writes as one, and whole objects, which a replica of the user's own repeats.

use std::collections::BTreeMap;
use std::sync::Mutex;

use foresee::attr::{mutator, observer};
use foresee::refine::{
    Kind, Mode, Recorder, Recording, Replica, Role, Value, WrongWrite, models, structures::VectorReplica,
};
use foresee::{commit, commit_block, log_replay};

/// A page of a map: its keys and data as one text, as it would be on a disk.
fn serialised(page: &BTreeMap<i64, i64>) -> String {
    page.iter().map(|(key, data)| format!("{key}={data};")).collect()
}

/// A map in two pages, one for even keys. With its bug, a page is written without what was in it.
struct Pages {
    pages: [Mutex<BTreeMap<i64, i64>>; 2],
    has_bug: bool,
}

impl Pages {
    fn new(has_bug: bool) -> Pages {
        Pages { pages: Default::default(), has_bug }
    }

    #[mutator]
    fn insert(&self, key: i64, data: i64) -> &'static str {
        let place = key.rem_euclid(2) as usize;
        let mut page = self.pages[place].lock().unwrap();
        if self.has_bug {
            page.clear();
        }
        page.insert(key, data);
        commit_block! {
            log_replay!(["page[{place}]"], serialised(&page));
            commit!();
        }
        "ok"
    }

    #[observer]
    fn lookup(&self, key: i64) -> Value {
        let page = self.pages[key.rem_euclid(2) as usize].lock().unwrap();
        page.get(&key).map_or(Value::from("none"), |data| Value::from(*data))
    }
}

/// What the entries mean.
#[derive(Default)]
struct PagesReplica {
    pages: BTreeMap<String, BTreeMap<i64, i64>>,
    changed: Vec<Value>,
}

impl Replica for PagesReplica {
    fn write(&mut self, target: &str, _value: &Value) -> Result<(), WrongWrite> {
        Err(WrongWrite::new(target, "an entry page[n]"))
    }

    fn replay(&mut self, entry: &str, value: &Value) -> Result<(), WrongWrite> {
        let wrong = || WrongWrite::new(entry, "a page: key=data;…");
        let pair = |text: &str| {
            let (key, data) = text.split_once('=')?;
            Some((key.parse().ok()?, data.parse().ok()?))
        };
        let pairs = value.as_text().ok_or_else(wrong)?.split_terminator(';').map(pair);
        let page: BTreeMap<i64, i64> = pairs.collect::<Option<_>>().ok_or_else(wrong)?;
        let old = self.pages.insert(entry.to_owned(), page.clone()).unwrap_or_default();
        self.changed.extend(old.keys().chain(page.keys()).map(|key| Value::Int(*key)));
        Ok(())
    }

    fn take_changed(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.changed)
    }

    fn part(&self, part: &Value) -> Option<Value> {
        let data = self.pages.values().find_map(|page| page.get(&part.as_int()?))?;
        Some(Value::from(vec![*data]))
    }

    fn parts(&self) -> Vec<Value> {
        self.pages.values().flat_map(BTreeMap::keys).map(|key| Value::Int(*key)).collect()
    }
}

fn run(has_bug: bool) -> Recording {
    let recorder = Recorder::checking(models::Map, PagesReplica::default(), Mode::View, 0);
    let pages = Pages::new(has_bug);
    {
        let _attached = recorder.attach("main", Role::Application);
        for key in 0..6 {
            pages.insert(key, 10 * key);
        }
        assert_eq!(pages.lookup(5), Value::Int(50));
    }
    recorder.finish().unwrap()
}

#[test]
fn objects_are_serialised_and_replayed_by_the_users_method() {
    assert_eq!(run(false).violation, None);
    let found = run(true).violation.unwrap();
    assert_eq!(found.kind, Kind::View);
    // The first key of its page is gone when the second comes.
    assert_eq!(found.differences[0].part, Value::Int(0));
}

/// Without a method of the user's, an entry is a list of variables with their values.
#[test]
fn several_writes_in_one_entry() {
    struct List(Mutex<Vec<i64>>);
    impl List {
        #[mutator]
        fn add(&self, x: i64) -> &'static str {
            let mut list = self.0.lock().unwrap();
            list.push(x);
            commit_block! {
                let writes = [(format!("elem[{}]", list.len() - 1), x), ("size".to_owned(), list.len() as i64)];
                log_replay!("push", writes.to_vec());
                commit!();
            }
            "ok"
        }
    }
    let recorder = Recorder::checking(models::Sequence, VectorReplica::default(), Mode::View, 0);
    let list = List(Mutex::default());
    {
        let _attached = recorder.attach("main", Role::Application);
        list.add(7);
        list.add(8);
    }
    assert_eq!(recorder.finish().unwrap().violation, None);
}
