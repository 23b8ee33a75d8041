//! The programs: what their threads do, and the same as C.

use std::fmt::Write as _;

use foresee_oracle::Random;

/// How many variables there are, how many places the array has, and how many locks.
pub(super) const VARIABLES: usize = 3;
pub(super) const PLACES: usize = 2;
pub(super) const LOCKS: usize = 2;

#[derive(Debug)]
pub(super) enum Statement {
    /// `v = c;`
    Set(usize, i32),
    /// `v = u + c;`
    Copy(usize, usize, i32),
    /// `local = v;`
    Look(usize),
    /// `a[v & 1] = c;`
    SetPlace(usize, i32),
    /// `*(v ? &u : &w) = c;`
    SetEither(usize, [usize; 2], i32),
    /// `if (v) { … } else { … }`
    If(usize, [Vec<Statement>; 2]),
    /// Under the lock.
    Locked(usize, Vec<Statement>),
}

#[derive(Debug)]
pub(super) struct Program {
    pub(super) threads: Vec<Vec<Statement>>,
    /// After how many milliseconds each thread begins.
    delays: Vec<usize>,
}

impl Program {
    pub(super) fn random(random: &mut Random) -> Program {
        let threads = 2 + random.below(2);
        let threads: Vec<_> = (0..threads).map(|_| block(random, 0, 0, 2 + 6 / threads)).collect();
        let delays = threads.iter().map(|_| 2 * random.below(6)).collect();
        Program { threads, delays }
    }

    pub(super) fn to_c(&self) -> String {
        let mut text = String::from("#include <pthread.h>\n#include <unistd.h>\n");
        text += "volatile int v0, v1, v2, a[2];\npthread_mutex_t l0 = PTHREAD_MUTEX_INITIALIZER, l1 = PTHREAD_MUTEX_INITIALIZER;\n";
        for (number, (statements, delay)) in self.threads.iter().zip(&self.delays).enumerate() {
            let wait = format!("int local; (void)local; usleep({delay}000);");
            let _ = writeln!(text, "static void *thread{number}(void *unused) {{ {wait}");
            write_block(&mut text, statements);
            text += "return unused;\n}\n\n";
        }
        text += "int main(void) {\npthread_t threads[3];\n";
        for number in 0..self.threads.len() {
            let _ = writeln!(text, "pthread_create(&threads[{number}], 0, thread{number}, 0);");
        }
        for number in 0..self.threads.len() {
            let _ = writeln!(text, "pthread_join(threads[{number}], 0);");
        }
        text + "return 0;\n}\n"
    }
}

fn block(random: &mut Random, depth: usize, lock: usize, most: usize) -> Vec<Statement> {
    let count = 1 + random.below(most);
    (0..count).map(|_| statement(random, depth, lock)).collect()
}

/// Locks from `lock` on may be taken, so that nobody waits for ever.
fn statement(random: &mut Random, depth: usize, lock: usize) -> Statement {
    let variable = |random: &mut Random| random.below(VARIABLES);
    let value = |random: &mut Random| random.below(3) as i32;
    match if depth == 0 && random.percent(60) { 6 } else { random.below(if depth < 2 { 10 } else { 6 }) } {
        0 | 1 => Statement::Set(variable(random), value(random)),
        2 => Statement::Copy(variable(random), variable(random), value(random)),
        3 => Statement::Look(variable(random)),
        4 => Statement::SetPlace(variable(random), value(random)),
        5 => Statement::SetEither(variable(random), [variable(random), variable(random)], value(random)),
        6..=8 if lock < LOCKS => {
            let taken = lock + random.below(LOCKS - lock);
            Statement::Locked(taken, block(random, depth + 1, taken + 1, 3))
        }
        _ => Statement::If(variable(random), [(); 2].map(|()| block(random, depth + 1, lock, 2))),
    }
}

fn write_block(text: &mut String, statements: &[Statement]) {
    for statement in statements {
        let _ = match statement {
            Statement::Set(v, c) => writeln!(text, "v{v} = {c};"),
            Statement::Copy(v, u, c) => writeln!(text, "v{v} = v{u} + {c};"),
            Statement::Look(v) => writeln!(text, "local = v{v};"),
            Statement::SetPlace(v, c) => writeln!(text, "a[v{v} & 1] = {c};"),
            Statement::SetEither(v, [u, w], c) => writeln!(text, "*(v{v} ? &v{u} : &v{w}) = {c};"),
            Statement::If(v, [yes, no]) => {
                let _ = writeln!(text, "if (v{v}) {{");
                write_block(text, yes);
                text.push_str("} else {\n");
                write_block(text, no);
                writeln!(text, "}}")
            }
            Statement::Locked(l, inside) => {
                let _ = writeln!(text, "pthread_mutex_lock(&l{l});");
                write_block(text, inside);
                writeln!(text, "pthread_mutex_unlock(&l{l});")
            }
        };
    }
}
