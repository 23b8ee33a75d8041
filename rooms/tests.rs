//! Does the test of the rooms see what it should? Small crates, written for it.

use std::path::Path;

use crate::arrows::Graph;
use crate::cycles;

fn cycles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let found = cycles::of(&Graph::of(&folder.path().join(Path::new("lib.rs"))));
    found.into_iter().map(|cycle| cycle.into_iter().collect()).collect()
}

#[test]
fn imports_of_each_other_are_a_cycle() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::{b::{B, Other}, c}; pub struct A(c::C);"),
        ("b.rs", "pub struct B; fn f() -> super::a::A { todo!() }"),
        ("c.rs", "pub struct C;"),
    ];
    assert_eq!(cycles_of(&files), [["a", "b"]]);
}

#[test]
fn reexports_are_no_arrows_and_are_followed_to_the_definition() {
    let files = [
        ("lib.rs", "mod a; pub use a::{A, B}; pub use a::deep::*;"),
        ("a/mod.rs", "pub mod b; pub mod deep; pub use b::B; pub struct A(B);"),
        ("a/b.rs", "use crate::D; pub struct B(D);"),
        ("a/deep.rs", "pub struct D;"),
    ];
    assert_eq!(cycles_of(&files), [[""; 0]; 0]);
}

#[test]
fn a_child_that_uses_its_parent_which_uses_it_is_a_cycle() {
    let files = [
        ("lib.rs", "mod a;"),
        ("a.rs", "mod b; pub use b::B; pub struct A(B);"),
        ("a/b.rs", "use super::*; pub struct B; impl B { fn of(a: &A) {} }"),
    ];
    assert_eq!(cycles_of(&files), [["a", "a/b"]]);
}

#[test]
fn folders_that_use_each_other_are_a_cycle() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "mod one; mod two;"),
        ("a/one.rs", "use crate::b::B;"),
        ("a/two.rs", "pub struct Two;"),
        ("b.rs", "mod deep; pub struct B;"),
        ("b/deep.rs", "use crate::a::two::Two;"),
    ];
    assert_eq!(cycles_of(&files), [["a", "b"]]);
}

#[test]
fn modules_in_one_file_are_one() {
    let files = [(
        "lib.rs",
        "mod a { pub struct A; fn f(_: super::b::B) {} } mod b { use super::a::A; pub struct B; }",
    )];
    assert_eq!(cycles_of(&files), [[""; 0]; 0]);
}

#[test]
fn tests_do_not_count() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::B; pub struct A; #[cfg(test)] mod tests; #[cfg(test)] pub fn f() {}"),
        ("a/tests.rs", "use crate::b::B;"),
        ("b.rs", "pub struct B; #[cfg(test)] use crate::a::A; #[cfg(test)] mod tests { use crate::a::f; }"),
    ];
    assert_eq!(cycles_of(&files), [[""; 0]; 0]);
}

#[test]
fn what_macros_say_counts() {
    let files = [
        ("lib.rs", "#[macro_use] mod a; mod b; mod c; mod d;"),
        ("a.rs", "macro_rules! made { () => { $crate::b::f() } }"),
        ("b.rs", "pub fn f() { made!() }"),
        ("c.rs", "pub fn g() { assert!(crate::d::H.x == [crate::d::h(1)]) }"),
        ("d.rs", "pub fn h() { vec![crate::c::g()]; }"),
    ];
    assert_eq!(cycles_of(&files), [["a", "b"], ["c", "d"]]);
}
