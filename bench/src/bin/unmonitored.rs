//! The programs of `foresee-bench knowledge` with the SDK's types, in a program without any property: `unmonitored PROGRAM ROUNDS journal|bare` prints processor nanoseconds of a round.

#[path = "../sdk_programs.rs"]
mod sdk_programs;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [program, rounds, journal] = &words[..] else {
        return eprintln!("usage: unmonitored PROGRAM ROUNDS journal|bare");
    };
    let nanos = sdk_programs::nanoseconds(program, rounds.parse().unwrap_or(0), journal == "journal");
    println!("{}", nanos.unwrap_or(f64::NAN));
}
