//! Calls functions with texts of all kinds, and says which.

use std::hint::black_box;
use std::path::Path;

pub struct Name(String);
pub struct Tag<'a>(&'a str);

fn lent(text: &str, times: u32) -> usize {
    black_box(text).len() + black_box(times) as usize
}

fn owner(text: &String) -> usize {
    black_box(text).len()
}

fn given(times: u32, text: String) -> usize {
    black_box(&text).len() + black_box(times) as usize
}

fn named(name: Name) -> usize {
    black_box(&name.0).len()
}

fn tagged(tag: Tag<'_>) -> usize {
    black_box(tag.0).len()
}

fn late(a: u64, b: u64, c: u64, d: u64, e: u64, text: &str, last: &str) -> usize {
    black_box([a, b, c, d, e]);
    black_box(text).len() + black_box(last).len()
}

fn boxed(text: Box<str>) -> usize {
    black_box(&text).len()
}

fn path(path: &Path) -> usize {
    black_box(path).as_os_str().len()
}

/// Of which nothing but the length is of use.
fn only_counted(text: &str) -> usize {
    black_box(text.len())
}

fn grown(text: &mut String) {
    black_box(text).push('x');
}

fn perhaps(text: Option<&str>) -> usize {
    black_box(text).map_or(0, str::len)
}

fn bytes(bytes: &[u8]) -> usize {
    black_box(bytes).len()
}

fn made(text: &str) -> String {
    black_box(text).to_owned()
}

fn main() {
    let long = "long".repeat(500);
    for text in ["", "plain", "with space", "gr\u{fc}n", &long] {
        let times = black_box(text.len() as u32);
        println!("call texts::lent {text:?} {times}");
        lent(text, times);
        println!("call texts::owner {text:?}");
        owner(&text.to_owned());
        println!("call texts::given {times} {text:?}");
        given(times, text.to_owned());
        println!("call texts::named {text:?}");
        named(Name(text.to_owned()));
        println!("call texts::tagged {text:?}");
        tagged(Tag(text));
        println!("call texts::late {text:?} {:?}", text.to_uppercase());
        late(times.into(), 2, 3, 4, 5, text, &text.to_uppercase());
        println!("call texts::boxed {text:?}");
        boxed(text.into());
        println!("call texts::path {text:?}");
        path(Path::new(text));
        only_counted(text);
        let mut more = made(text);
        grown(&mut more);
        perhaps(Some(&more));
        bytes(more.as_bytes());
    }
}
