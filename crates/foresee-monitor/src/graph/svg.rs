//! Graphs as one SVG picture, one below the other. It brings its own styles and is readable on light and dark backgrounds.

use std::fmt::Write as _;

use super::layout::{Layout, RADIUS, Route, width};
use super::{Edge, Graph, Node};

/// Larger automata make no picture that anybody could read.
pub const STATE_LIMIT: usize = 150;

const STYLE: &str = "text { font: 13px ui-sans-serif, system-ui, 'DejaVu Sans', sans-serif; text-anchor: middle; fill: #1b2430 } \
.title { font-weight: 600; font-size: 15px; text-anchor: start } \
.edge { fill: none; stroke: #5b6675; stroke-width: 1.3 } .tip { fill: #5b6675 } \
.label { paint-order: stroke; stroke: #fff; stroke-width: 4px; stroke-linejoin: round } \
.state { fill: #eef3fb; stroke: #3b6fb6; stroke-width: 1.5 } \
.reporting { fill: #fdecea; stroke: #c0392b } .verdict { fill: #a32a1d; font-size: 12px }";

/// All graphs in one document.
pub fn write(graphs: &[Graph]) -> String {
    let laid_out: Vec<(&Graph, Layout)> = graphs.iter().map(|graph| (graph, Layout::of(graph))).collect();
    let wide = |(graph, layout): &(&Graph, Layout)| layout.width.max(width(&graph.title) + 60.0);
    let total_width = laid_out.iter().map(wide).fold(0.0, f64::max);
    let total_height: f64 = laid_out.iter().map(|(_, layout)| layout.height + TITLE).sum::<f64>() + 10.0;
    // Writing to a string does not fail.
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total_width:.0}\" height=\"{total_height:.0}\" \
         viewBox=\"0 0 {total_width:.0} {total_height:.0}\">"
    );
    let _ = writeln!(out, "<style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>");
    let _ = writeln!(
        out,
        "<defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto-start-reverse\"><path class=\"tip\" d=\"M0,0 L10,5 L0,10 z\"/></marker></defs>"
    );
    let mut y = 0.0;
    for (graph, layout) in &laid_out {
        let _ = writeln!(out, "<g transform=\"translate(0,{y:.0})\">");
        let _ = writeln!(out, "<text class=\"title\" x=\"16\" y=\"26\">{}</text>", escaped(&graph.title));
        let _ = writeln!(out, "<g transform=\"translate(0,{TITLE:.0})\">");
        one(&mut out, graph, layout);
        out.push_str("</g></g>\n");
        y += layout.height + TITLE;
    }
    out + "</svg>\n"
}

/// The room for a title.
const TITLE: f64 = 30.0;

fn one(out: &mut String, graph: &Graph, layout: &Layout) {
    let (x, y) = layout.nodes[0];
    let begin = x - layout.half_widths[0];
    path(out, &format!("M{:.1},{y:.1} L{begin:.1},{y:.1}", begin - 28.0));
    let mut texts = Vec::new();
    for (edge, route) in graph.edges.iter().zip(&layout.routes) {
        texts.push(arrow(out, layout, edge, *route));
    }
    for (nth, node) in graph.nodes.iter().enumerate() {
        state(out, node, layout.nodes[nth], layout.half_widths[nth]);
    }
    // Texts come last, above all lines.
    for (edge, (x, y)) in graph.edges.iter().zip(texts) {
        let text = escaped(&edge.label);
        let _ = writeln!(out, "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
    }
}

/// Draws the arrow; where its text goes.
fn arrow(out: &mut String, layout: &Layout, edge: &Edge, route: Route) -> (f64, f64) {
    let ((x1, y1), (x2, y2)) = (layout.nodes[edge.from], layout.nodes[edge.to]);
    match route {
        Route::Straight(part) => {
            let (x1, x2) = (x1 + layout.half_widths[edge.from], x2 - layout.half_widths[edge.to]);
            let bend = (x2 - x1) * 0.4;
            path(
                out,
                &format!(
                    "M{x1:.1},{y1:.1} C{:.1},{y1:.1} {:.1},{y2:.1} {x2:.1},{y2:.1}",
                    x1 + bend,
                    x2 - bend
                ),
            );
            let along = |a: f64, b: f64, c: f64, d: f64| {
                let rest = 1.0 - part;
                rest.powi(3) * a
                    + 3.0 * rest.powi(2) * part * b
                    + 3.0 * rest * part.powi(2) * c
                    + part.powi(3) * d
            };
            (along(x1, x1 + bend, x2 - bend, x2), along(y1, y1, y2, y2) - 6.0)
        }
        Route::Loop => {
            let (top, side) = (y1 - RADIUS, 12.0);
            let (left, right) = (x1 - side, x1 + side);
            path(
                out,
                &format!(
                    "M{left:.1},{:.1} C{:.1},{:.1} {:.1},{:.1} {right:.1},{:.1}",
                    top + 3.0,
                    left - 12.0,
                    top - 34.0,
                    right + 12.0,
                    top - 34.0,
                    top + 3.0
                ),
            );
            (x1, top - 30.0)
        }
        Route::Around(lane) => {
            let side = if lane < y1.min(y2) { -RADIUS } else { RADIUS };
            let (from, to) = (y1 + side, y2 + side);
            // Away from the middle of the state, where loops are, and so that both directions stay apart.
            let lean = if x2 < x1 { 8.0 } else { -8.0 };
            let (x1, x2) = (x1 - lean, x2 + lean);
            let middle = (x1 + x2) / 2.0;
            let turn = if (x1 - x2).abs() < 40.0 { 60.0 } else { 0.0 };
            path(
                out,
                &format!(
                    "M{x1:.1},{from:.1} C{:.1},{lane:.1} {:.1},{lane:.1} {middle:.1},{lane:.1} S{:.1},{lane:.1} {x2:.1},{to:.1}",
                    x1 - turn,
                    x1 - turn,
                    x2 - turn,
                ),
            );
            (middle, lane - 5.0)
        }
    }
}

fn path(out: &mut String, way: &str) {
    let _ = writeln!(out, "<path class=\"edge\" d=\"{way}\" marker-end=\"url(#tip)\"/>");
}

/// A state, and what is said there.
fn state(out: &mut String, node: &Node, (x, y): (f64, f64), half: f64) {
    let verdicts = node.verdicts.join(", ");
    let class = if verdicts.is_empty() { "state" } else { "state reporting" };
    let mut shape = |half: f64, radius: f64| {
        let (left, top, wide, high) = (x - half, y - radius, 2.0 * half, 2.0 * radius);
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" rx=\"{radius:.1}\"/>"
        );
    };
    shape(half, RADIUS);
    let mut text = |class: &str, y: f64, text: &str| {
        let _ = writeln!(out, "<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(text));
    };
    match verdicts.as_str() {
        "" => text("", y + 4.5, &node.label),
        verdicts if verdicts == node.label => text(" class=\"verdict\"", y + 4.5, verdicts),
        verdicts => {
            text("", y - 2.0, &node.label);
            text(" class=\"verdict\"", y + 12.0, verdicts);
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
