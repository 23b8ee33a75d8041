//! `tsp`: workers that look for the shortest tour through all cities, by branch and bound.
//!
//! Short tours are extended inside the lock of a shared queue; long ones are completed by one worker on its own. All
//! compare what they have with the best length so far. Only the thread that sets a new best takes its lock: the
//! three places that look without it (taking a tour, extending one, and before taking the lock) race with the one write.
//! Programmers call that benign: the bound is only a hint. Three racy pairs of lines, if the first best is
//! not already optimal.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use foresee_trace::{LocId, LockId, Mem};

use super::simulation::{Array, Random, Script, Simulation};

/// The pool of tours is made before anything starts, whatever the map: small maps are mostly that.
const POOL: u32 = 5000;
const WORDS_PER_TOUR: u32 = 24;
/// Tours of fewer cities are extended in the queue.
const SPLIT: usize = 3;

#[derive(Clone, Copy)]
struct Lines {
    take: LocId,
    bound_of_taken: LocId,
    extend: LocId,
    copy: LocId,
    bound: LocId,
    distance: LocId,
    bound_of_complete: LocId,
    lock_best: LocId,
    bound_in_lock: LocId,
    set_best: LocId,
}

/// Where the program keeps its things.
#[derive(Clone, Copy)]
struct Places {
    tours: Array,
    distances: Array,
    queue: Mem,
    queue_lock: LockId,
    best: Mem,
    best_lock: LockId,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Tour {
    length: u32,
    path: Vec<u32>,
    slot: u32,
}

/// What is in the shared memory.
struct Shared {
    distances: Vec<Vec<u32>>,
    queue: BinaryHeap<Reverse<Tour>>,
    next_slot: u32,
    best: u32,
    /// Workers that may still put something into the queue.
    busy: u32,
}

enum Doing {
    Wanting,
    /// Has the lock of the queue.
    Taking,
    Solving,
    /// Has the lock of the best length, and this better one.
    Improving(u32),
    Done,
}

struct Worker {
    lines: Lines,
    places: Places,
    shared: Rc<RefCell<Shared>>,
    doing: Doing,
    is_busy: bool,
    stack: Vec<Tour>,
}

/// A map of this many cities.
pub(super) fn program(cities: u32, workers: u32) -> Simulation {
    let mut program = Simulation::new("tsp.rs", 20);
    let lines = Lines {
        take: program.at(44, "take_tour"),
        bound_of_taken: program.at(47, "take_tour"),
        extend: program.at(53, "extend"),
        copy: program.at(61, "solve"),
        bound: program.at(66, "solve"),
        distance: program.at(69, "solve"),
        bound_of_complete: program.at(80, "offer"),
        lock_best: program.at(81, "offer"),
        bound_in_lock: program.at(82, "offer"),
        set_best: program.at(83, "offer"),
    };
    let places = Places {
        tours: program.array("tours", POOL * WORDS_PER_TOUR),
        distances: program.array("distances", cities * cities),
        queue: program.variable("queue"),
        queue_lock: program.mutex("queue"),
        best: program.variable("best"),
        best_lock: program.mutex("best"),
    };
    let mut random = Random(u64::from(cities));
    let mut row = || (0..cities).map(|_| 10 + random.below(90)).collect();
    let shared = Rc::new(RefCell::new(Shared {
        distances: (0..cities).map(|_| row()).collect(),
        queue: BinaryHeap::from([Reverse(Tour { length: 0, path: vec![0], slot: 0 })]),
        next_slot: 1,
        best: u32::MAX,
        busy: 0,
    }));
    let workers: Vec<_> = (0..workers)
        .map(|i| {
            let mut worker = Worker {
                lines,
                places,
                shared: Rc::clone(&shared),
                doing: Doing::Wanting,
                is_busy: false,
                stack: Vec::new(),
            };
            program.thread(&format!("worker-{i}"), move |script| worker.go_on(script))
        })
        .collect();
    let (pool, map, start) = (program.at(92, "main"), program.at(95, "main"), program.at(97, "main"));
    let (fork, join, print) = (program.at(99, "main"), program.at(102, "main"), program.at(104, "main"));
    let main = program.main();
    for word in 0..POOL * WORDS_PER_TOUR {
        main.write(pool, places.tours.word(word));
    }
    for word in 0..cities * cities {
        main.write(map, places.distances.word(word));
    }
    main.write(start, places.queue);
    main.write(start, places.best);
    main.run(fork, join, &workers);
    main.read(print, places.best);
    program
}

impl Worker {
    fn go_on(&mut self, script: &mut Script) {
        let (lines, places) = (self.lines, self.places);
        match self.doing {
            Doing::Wanting => {
                script.lock(lines.take, places.queue_lock);
                self.doing = Doing::Taking;
            }
            Doing::Taking => {
                self.take(script);
                script.unlock(lines.take, places.queue_lock);
            }
            Doing::Solving => self.solve(script),
            Doing::Improving(length) => {
                let mut shared = self.shared.borrow_mut();
                script.read(lines.bound_in_lock, places.best);
                if length < shared.best {
                    shared.best = length;
                    script.write(lines.set_best, places.best);
                }
                script.unlock(lines.lock_best, places.best_lock);
                self.doing = Doing::Solving;
            }
            Doing::Done => {}
        }
    }

    /// Inside the lock of the queue.
    fn take(&mut self, script: &mut Script) {
        let (lines, places) = (self.lines, self.places);
        let shared = &mut *self.shared.borrow_mut();
        if std::mem::take(&mut self.is_busy) {
            shared.busy -= 1;
        }
        script.read(lines.take, places.queue);
        let Some(Reverse(tour)) = shared.queue.pop() else {
            self.doing = if shared.busy == 0 { Doing::Done } else { Doing::Wanting };
            return;
        };
        script.write(lines.take, places.queue);
        script.read(lines.bound_of_taken, places.best);
        self.doing = Doing::Wanting;
        if tour.length >= shared.best {
            return;
        }
        if tour.path.len() >= SPLIT.min(shared.distances.len()) {
            (shared.busy, self.is_busy) = (shared.busy + 1, true);
            self.stack.push(tour);
            self.doing = Doing::Solving;
            return;
        }
        for (city, mut longer) in extensions(&tour, &shared.distances) {
            script.read(lines.extend, distance(places.distances, &shared.distances, &tour, city));
            longer.slot = shared.next_slot;
            shared.next_slot += 1;
            for word in 0..longer.path.len() as u32 + 1 {
                script.write(lines.extend, places.tours.word(longer.slot * WORDS_PER_TOUR + word));
            }
            script.update(lines.extend, places.queue);
            shared.queue.push(Reverse(longer));
        }
    }

    /// One node of the search tree.
    fn solve(&mut self, script: &mut Script) {
        let (lines, places) = (self.lines, self.places);
        let shared = self.shared.borrow();
        let Some(tour) = self.stack.pop() else {
            script.lock(lines.take, places.queue_lock);
            self.doing = Doing::Taking;
            return;
        };
        if tour.path.len() == SPLIT {
            for word in 0..tour.path.len() as u32 + 1 {
                script.read(lines.copy, places.tours.word(tour.slot * WORDS_PER_TOUR + word));
            }
        }
        script.read(lines.bound, places.best);
        if tour.length >= shared.best {
            return;
        }
        if tour.path.len() == shared.distances.len() {
            script.read(lines.distance, distance(places.distances, &shared.distances, &tour, 0));
            let length = tour.length + shared.distances[last(&tour)][0];
            script.read(lines.bound_of_complete, places.best);
            if length < shared.best {
                script.lock(lines.lock_best, places.best_lock);
                self.doing = Doing::Improving(length);
            }
            return;
        }
        for (city, longer) in extensions(&tour, &shared.distances) {
            script.read(lines.distance, distance(places.distances, &shared.distances, &tour, city));
            self.stack.push(longer);
        }
    }
}

fn last(tour: &Tour) -> usize {
    tour.path.last().map_or(0, |&city| city as usize)
}

/// Every tour that is one city longer, with that city.
fn extensions<'a>(tour: &'a Tour, distances: &'a [Vec<u32>]) -> impl Iterator<Item = (u32, Tour)> + 'a {
    let from = &distances[last(tour)];
    (0..distances.len() as u32).filter(|city| !tour.path.contains(city)).map(|city| {
        let mut path = tour.path.clone();
        path.push(city);
        (city, Tour { length: tour.length + from[city as usize], path, slot: tour.slot })
    })
}

/// Where the distance from the end of a tour to a city is.
fn distance(array: Array, distances: &[Vec<u32>], tour: &Tour, city: u32) -> Mem {
    array.word((last(tour) * distances.len()) as u32 + city)
}
