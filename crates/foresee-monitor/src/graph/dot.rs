//! Graphs in the language of Graphviz, one cluster each.

use std::fmt::Write as _;

use super::Graph;

/// All graphs in one document.
pub fn write(graphs: &[Graph]) -> String {
    let mut out = String::from("digraph properties {\n    rankdir=LR;\n    node [shape=circle];\n");
    for (number, graph) in graphs.iter().enumerate() {
        // Writing to a string does not fail.
        let _ = writeln!(out, "    subgraph cluster_{number} {{\n        label={};", quoted(&graph.title));
        let _ =
            writeln!(out, "        start_{number} [shape=point];\n        start_{number} -> s{number}_0;");
        for (nth, node) in graph.nodes.iter().enumerate() {
            let verdicts = node.verdicts.join(", ");
            let (label, shape) = match verdicts.as_str() {
                "" => (node.label.clone(), ""),
                verdicts if verdicts == node.label => (node.label.clone(), ", shape=doublecircle"),
                verdicts => (format!("{}\n{verdicts}", node.label), ", shape=doublecircle"),
            };
            let _ = writeln!(out, "        s{number}_{nth} [label={}{shape}];", quoted(&label));
        }
        for edge in &graph.edges {
            let (from, to, label) = (edge.from, edge.to, quoted(&edge.label));
            let _ = writeln!(out, "        s{number}_{from} -> s{number}_{to} [label={label}];");
        }
        out.push_str("    }\n");
    }
    out + "}\n"
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
