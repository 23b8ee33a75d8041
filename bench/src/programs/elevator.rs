//! `elevator`: lifts that serve the floors of a building, as in the simulator of that name.
//!
//! People arrive and press a button; an idle lift looks at floor after floor until it can claim one, goes there, lets one
//! of the people in and brings them where they want to go. Everything that lifts share is in the floors, and is
//! accessed under the floor's lock: there is no race. Idle lifts poll, so most events are short critical
//! sections that change nothing.

use std::cell::RefCell;
use std::rc::Rc;

use foresee_trace::{LocId, LockId, Mem, ThreadId};

use super::simulation::{Random, Script, Simulation};

#[derive(Clone, Copy)]
struct Lines {
    press: LocId,
    look: LocId,
    claim: LocId,
    go: LocId,
    enter: LocId,
    leave: LocId,
}

/// A floor as the program's threads see it, and what is in its variables.
struct Floor {
    lock: LockId,
    people: Mem,
    claimed: Mem,
    waiting: u32,
    is_claimed: bool,
}

type Building = Rc<RefCell<Vec<Floor>>>;

enum Doing {
    Looking(usize),
    /// Has the lock of the floor it looks at.
    LooksInside(usize),
    /// On the way to people it has claimed.
    Fetching(usize),
    /// Has the lock of the floor the people come from.
    LetsIn(usize),
    Bringing(usize),
}

struct Lift {
    building: Building,
    lines: Lines,
    random: Random,
    position: Mem,
    at: usize,
    doing: Doing,
}

/// A building of `floors` floors in which every lift does `ticks` things and one person arrives per `ticks / 4`.
pub(super) fn program(floors: u32, lifts: u32, ticks: u32) -> Simulation {
    let mut program = Simulation::new("elevator.rs", 20);
    let lines = Lines {
        press: program.at(21, "Controls::press"),
        look: program.at(29, "Controls::look"),
        claim: program.at(31, "Controls::claim"),
        go: program.at(52, "Lift::go"),
        enter: program.at(60, "Lift::let_in"),
        leave: program.at(66, "Lift::let_out"),
    };
    let floors: Vec<Floor> = (0..floors)
        .map(|i| Floor {
            lock: program.mutex(&format!("floor{i}")),
            people: program.variable(&format!("floor{i}.people")),
            claimed: program.variable(&format!("floor{i}.claimed")),
            waiting: 0,
            is_claimed: false,
        })
        .collect();
    let shared: Vec<Mem> = floors.iter().flat_map(|floor| [floor.people, floor.claimed]).collect();
    let building = Rc::new(RefCell::new(floors));
    let mut threads = vec![arrivals(&mut program, Rc::clone(&building), lines, ticks / 4)];
    for i in 0..lifts {
        let mut lift = Lift {
            building: Rc::clone(&building),
            lines,
            random: Random(u64::from(i)),
            position: program.variable(&format!("lift{i}.position")),
            at: 0,
            doing: Doing::Looking(0),
        };
        let mut left = ticks;
        threads.push(program.thread(&format!("lift-{i}"), move |script| {
            // Whoever has a lock gives it back.
            if left > 0 || matches!(lift.doing, Doing::LooksInside(_) | Doing::LetsIn(_)) {
                left = left.saturating_sub(1);
                lift.tick(script);
            }
        }));
    }
    let (start, fork, join) = (program.at(80, "main"), program.at(84, "main"), program.at(87, "main"));
    let main = program.main();
    for mem in shared {
        main.write(start, mem);
    }
    main.run(fork, join, &threads);
    program
}

fn arrivals(program: &mut Simulation, building: Building, lines: Lines, people: u32) -> ThreadId {
    let (mut random, mut left, mut pressing) = (Random(99), people, None);
    program.thread("people", move |script| {
        let mut floors = building.borrow_mut();
        if let Some(floor) = pressing.take() {
            let floor: &mut Floor = &mut floors[floor];
            floor.waiting += 1;
            script.update(lines.press, floor.people);
            script.unlock(lines.press, floor.lock);
        } else if left > 0 {
            left -= 1;
            let floor = random.below(floors.len() as u32) as usize;
            pressing = Some(floor);
            script.lock(lines.press, floors[floor].lock);
        }
    })
}

impl Lift {
    fn tick(&mut self, script: &mut Script) {
        let lines = self.lines;
        let mut floors = self.building.borrow_mut();
        self.doing = match self.doing {
            Doing::Looking(floor) => {
                script.lock(lines.look, floors[floor].lock);
                Doing::LooksInside(floor)
            }
            Doing::LooksInside(index) => {
                let next = (index + 1) % floors.len();
                let floor = &mut floors[index];
                script.read(lines.look, floor.people);
                let claims = floor.waiting > 0 && !floor.is_claimed;
                if floor.waiting > 0 {
                    script.read(lines.claim, floor.claimed);
                }
                if claims {
                    floor.is_claimed = true;
                    script.write(lines.claim, floor.claimed);
                }
                script.unlock(lines.look, floor.lock);
                if claims { Doing::Fetching(index) } else { Doing::Looking(next) }
            }
            Doing::Fetching(goal) if self.at != goal => {
                self.at = towards(self.at, goal);
                script.update(lines.go, self.position);
                Doing::Fetching(goal)
            }
            Doing::Fetching(goal) => {
                script.lock(lines.enter, floors[goal].lock);
                Doing::LetsIn(goal)
            }
            Doing::LetsIn(index) => {
                let goal = self.random.below(floors.len() as u32) as usize;
                let floor = &mut floors[index];
                floor.waiting -= 1;
                floor.is_claimed = false;
                script.update(lines.enter, floor.people);
                script.write(lines.enter, floor.claimed);
                script.unlock(lines.enter, floor.lock);
                Doing::Bringing(goal)
            }
            Doing::Bringing(goal) if self.at != goal => {
                self.at = towards(self.at, goal);
                script.update(lines.go, self.position);
                Doing::Bringing(goal)
            }
            Doing::Bringing(goal) => {
                script.read(lines.leave, self.position);
                Doing::Looking(goal)
            }
        };
    }
}

fn towards(from: usize, to: usize) -> usize {
    if from < to { from + 1 } else { from - 1 }
}
