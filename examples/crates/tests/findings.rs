//! What was found in real crates stays wrong, and with the result that should have been there it is right.

use foresee_refine::linear::Limits;
use foresee_refine::named::{Consistency, check};
use foresee_refine::read::{Subject, read};

fn is_linearizable(text: &str) -> Option<bool> {
    let cases = read(text.as_bytes(), None).unwrap();
    let Subject::History { model, initial, history } = &cases[0].subject else { panic!("a history") };
    check(*model, initial, history, Consistency::Linearizable, Limits::default()).unwrap().is_linearizable()
}

#[test]
fn findings_are_what_they_say() {
    for (finding, wrong, right) in [
        ("scc-tree-upsert", "\"ret\":false", "\"ret\":true"),
        ("crossbeam-skiplist-insert", "\"ret\":null", "\"ret\":18631"),
        ("crossbeam-skiplist-remove", "\"return\":2616,\"ret\":358597", "\"return\":2616,\"ret\":null"),
        ("crossbeam-skiplist-remove", "\"return\":2616,\"ret\":358597", "\"return\":2616,\"ret\":679841"),
        ("moka-get-with", "\"return\":1983,\"ret\":452346", "\"return\":1983,\"ret\":388542"),
    ] {
        let path = format!("{}/findings/{finding}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(is_linearizable(&text), Some(false), "{finding}");
        let repaired = text.replace(wrong, right);
        assert_ne!(repaired, text, "{finding}");
        assert_eq!(is_linearizable(&repaired), Some(true), "{finding}");
    }
}
