//! Properties that a program checks of itself while it runs, in any build.
//!
//! Subscribers are told of news one after the other; one of them unsubscribes while it is told, which shifts the others, and
//! the next is passed over. The property sees it the moment it happens, says where, and calls the program's own remedy.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use foresee::Life;
use foresee::attr::event;

foresee::monitor! {
    property ChangedUnderCursor(list, cursor) {
        event cursor_create(list, cursor);
        event list_update(list);
        event cursor_next(cursor);
        ere: cursor_create cursor_next* list_update+ cursor_next
        @match { report "list {list} changed under cursor {cursor}"; recover "start again"; reset; }
    }
}

type Subscriber = Rc<dyn Fn(&Subscribers)>;

#[derive(Default)]
struct Subscribers {
    all: RefCell<Vec<(&'static str, Subscriber)>>,
    life: Life,
}

/// A place in the list of subscribers.
struct Cursor<'a> {
    list: &'a Subscribers,
    at: usize,
    life: Life,
}

impl Subscribers {
    #[event(list_update(self.life.id()))]
    fn add(&self, name: &'static str, subscriber: impl Fn(&Subscribers) + 'static) {
        self.all.borrow_mut().push((name, Rc::new(subscriber)));
    }

    #[event(list_update(self.life.id()))]
    fn remove(&self, name: &str) {
        self.all.borrow_mut().retain(|(other, _)| *other != name);
    }

    #[event(cursor_create(self.life.id(), result.life.id()))]
    fn cursor(&self) -> Cursor<'_> {
        Cursor { list: self, at: 0, life: Life::new() }
    }
}

impl Cursor<'_> {
    #[event(cursor_next(self.life.id()))]
    fn next(&mut self) -> Option<(&'static str, Subscriber)> {
        self.at += 1;
        self.list.all.borrow().get(self.at - 1).cloned()
    }
}

thread_local! {
    static START_AGAIN: Cell<bool> = const { Cell::new(false) };
}

fn main() {
    foresee::on("start again", |_| START_AGAIN.set(true));
    let subscribers = Subscribers::default();
    subscribers.add("ann", |_| println!("ann has heard the news"));
    subscribers.add("bob", |list| {
        println!("bob has heard the news, and enough");
        list.remove("bob");
    });
    subscribers.add("eve", |_| println!("eve has heard the news"));

    let mut told = Vec::new();
    let mut cursor = subscribers.cursor();
    loop {
        let next = cursor.next();
        if START_AGAIN.replace(false) {
            cursor = subscribers.cursor();
            continue;
        }
        let Some((name, tell)) = next else { break };
        if !told.contains(&name) {
            told.push(name);
            tell(&subscribers);
        }
    }
    for count in foresee::counts() {
        println!("{} ({}): {}", count.property, count.category, count.count);
    }
}
