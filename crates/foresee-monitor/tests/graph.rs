//! Automata as people look at them.
#![allow(clippy::unwrap_used)]

use foresee_monitor::compile;
use foresee_monitor::graph::{Graph, Undrawable, dot, svg};

fn graph(spec: &str) -> Result<Graph, Undrawable> {
    let compiled = compile(spec).unwrap_or_else(|problems| panic!("{problems:#?}"));
    Graph::of(&compiled.properties[0], &compiled.properties[0].bodies[0])
}

/// `from -label-> to`, with the verdicts of a state after its name.
fn arrows(spec: &str) -> Vec<String> {
    let graph = graph(spec).unwrap();
    let name = |node: usize| {
        let node = &graph.nodes[node];
        if node.verdicts.is_empty() {
            node.label.clone()
        } else {
            format!("{}@{}", node.label, node.verdicts.join("@"))
        }
    };
    graph.edges.iter().map(|e| format!("{} -{}-> {}", name(e.from), e.label, name(e.to))).collect()
}

const HAS_NEXT: &str = "property HasNext(i) { event hasnext(i); event next(i);
    fsm: start [ next -> unsafe hasnext -> safe ] safe [ next -> start hasnext -> safe ] unsafe [ ]
    @unsafe { count; } }";

#[test]
fn machines_keep_the_names_of_their_states() {
    assert_eq!(
        arrows(HAS_NEXT),
        [
            "start -hasnext-> safe",
            "start -next-> unsafe@unsafe",
            "safe -next-> start",
            "safe -hasnext-> safe"
        ]
    );
}

#[test]
fn what_leads_nowhere_is_left_out() {
    let spec = "property P { event a; event b; event c; ere: a (b | c)* a @match { count; } }";
    assert_eq!(arrows(spec), ["0 -a-> 1", "1 -b, c-> 1", "1 -a-> 2@match"]);
}

#[test]
fn conditions_are_short() {
    let spec = "property P { var x, y: int; ptltl: x > 0 -> y == 1 @violation { count; } }";
    let arrows = arrows(spec);
    assert!(arrows.contains(&"0 -x > 0 && !(y == 1)-> 1@violation".to_owned()), "{arrows:#?}");
    let spec = "property P { event a; event b; ere: a (a | b) @match { count; } }";
    let found = self::arrows(spec);
    assert!(found.iter().any(|arrow| arrow.ends_with("-any-> 2@match")), "{found:#?}");
}

#[test]
fn what_has_no_automaton_is_refused() {
    let grammar = "property P { event a; event b; cfg: s -> a s b | epsilon @fail { count; } }";
    assert_eq!(graph(grammar), Err(Undrawable::Grammar));
}

#[test]
fn pictures_are_well_formed() {
    let spec = "property P { var x: int; event a; ltl: [](a => x < 1 && x >= -5) @violation { count; } }";
    let graphs = [graph(HAS_NEXT).unwrap(), graph(spec).unwrap()];
    let picture = svg::write(&graphs);
    assert!(picture.contains("x &lt; 1") && !picture.contains("NaN"), "{picture}");
    assert_eq!(picture.matches("<g").count(), picture.matches("</g>").count());
    assert_eq!(picture.matches("<rect class").count(), graphs.iter().map(|graph| graph.nodes.len()).sum());
    let dot = dot::write(&graphs);
    assert!(dot.contains("s0_0 -> s0_1 [label=\"hasnext\"];"), "{dot}");
}
