//! Where the states of a graph go: a small layered layout (Sugiyama, Tagawa, Toda 1981).
//!
//! A state's layer is its distance from the start, so arrows lead to the next layer, stay in their own, or go back. Within layers,
//! states are moved towards the middle of their neighbours, a few times to and fro, which leaves few crossings. Layers go from left to
//! right; between two layers is as much room as the longest text of an arrow there needs. Arrows that stay or go back bend around:
//! each gets a lane of its own above or below everything.
//!
//! Cost: a few passes over the arrows.

use super::Graph;

/// Half the height of a state.
pub(super) const RADIUS: f64 = 19.0;
/// From one state of a layer to the next.
const ROW: f64 = 86.0;
/// From one lane to the next.
const LANE: f64 = 26.0;
/// What a character takes.
const CHARACTER: f64 = 7.0;

/// How wide a text is, about.
pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// Where everything is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// The middle of each node.
    pub(super) nodes: Vec<(f64, f64)>,
    /// Half the width of each node.
    pub(super) half_widths: Vec<f64>,
    /// How each edge goes.
    pub(super) routes: Vec<Route>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// How an edge goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Route {
    /// To the next layer; the text is at this part of the way.
    Straight(f64),
    /// Out of the top and into it again.
    Loop,
    /// Over or under everything, at this height.
    Around(f64),
}

impl Layout {
    pub(super) fn of(graph: &Graph) -> Layout {
        let layer_of = layers(graph);
        let layers = ordered(graph, &layer_of);
        let half_width = |node: &super::Node| {
            let texts = std::iter::once(&node.label).chain(&node.verdicts);
            texts.map(|text| width(text) / 2.0 + 12.0).fold(RADIUS, f64::max)
        };
        let half_widths: Vec<f64> = graph.nodes.iter().map(half_width).collect();
        // The text of a loop may be wider than its state.
        let mut room = half_widths.clone();
        for edge in graph.edges.iter().filter(|edge| edge.from == edge.to) {
            room[edge.from] = room[edge.from].max(width(&edge.label) / 2.0);
        }
        let rows = layers.iter().map(Vec::len).max().unwrap_or(1);
        let mut nodes = vec![(0.0, 0.0); graph.nodes.len()];
        let mut x = 50.0;
        for (layer, members) in layers.iter().enumerate() {
            let half = members.iter().map(|node| room[*node]).fold(0.0, f64::max);
            x += half;
            for (row, &node) in members.iter().enumerate() {
                let first = (rows - members.len()) as f64 * ROW / 2.0;
                nodes[node] = (x, first + row as f64 * ROW);
            }
            let leaves = |edge: &&super::Edge| layer_of[edge.from] == layer && layer_of[edge.to] == layer + 1;
            let text = graph.edges.iter().filter(leaves).map(|edge| width(&edge.label)).fold(0.0, f64::max);
            x += half + text + 56.0;
        }
        let mut layout =
            Layout { nodes, half_widths, routes: Vec::new(), width: x, height: (rows - 1) as f64 * ROW };
        layout.route(graph, &layer_of);
        layout
    }

    /// Chooses how edges go, and moves everything down by what the lanes above need.
    fn route(&mut self, graph: &Graph, layer_of: &[usize]) {
        let (mut above, mut below) = (0.0, 0.0);
        let mut straight = 0;
        let mut routes = vec![Route::Loop; graph.edges.len()];
        let mut around = Vec::new();
        for (nth, edge) in graph.edges.iter().enumerate() {
            if layer_of[edge.to] == layer_of[edge.from] + 1 {
                // Texts of arrows that leave side by side do not stand side by side.
                routes[nth] = Route::Straight([0.5, 0.42, 0.58][straight % 3]);
                straight += 1;
            } else if edge.from != edge.to {
                around.push(nth);
            }
        }
        // Short ones inside, long ones outside, so that they do not cross.
        around.sort_by_key(|nth| layer_of[graph.edges[*nth].from].abs_diff(layer_of[graph.edges[*nth].to]));
        let has_loops = graph.edges.iter().any(|edge| edge.from == edge.to);
        let top = if has_loops { RADIUS + 52.0 } else { RADIUS + 24.0 };
        for nth in around {
            let edge = &graph.edges[nth];
            let middle = (self.nodes[edge.from].1 + self.nodes[edge.to].1) / 2.0;
            let upper = middle < self.height / 2.0 - 1.0;
            let lane = if upper {
                above += LANE;
                -top - above
            } else {
                below += LANE;
                self.height + RADIUS + 18.0 + below
            };
            routes[nth] = Route::Around(lane);
        }
        let down = top + above + 20.0;
        self.nodes.iter_mut().for_each(|(_, y)| *y += down);
        for route in &mut routes {
            if let Route::Around(lane) = route {
                *lane += down;
            }
        }
        self.routes = routes;
        self.height += down + RADIUS + 18.0 + below + 24.0;
    }
}

/// The distance of each node from the first.
fn layers(graph: &Graph) -> Vec<usize> {
    let mut layer = vec![usize::MAX; graph.nodes.len()];
    let mut queue = std::collections::VecDeque::from([0]);
    layer[0] = 0;
    while let Some(node) = queue.pop_front() {
        for edge in graph.edges.iter().filter(|edge| edge.from == node) {
            if layer[edge.to] == usize::MAX {
                layer[edge.to] = layer[node] + 1;
                queue.push_back(edge.to);
            }
        }
    }
    layer
}

/// The nodes of each layer, from top to bottom.
fn ordered(graph: &Graph, layer_of: &[usize]) -> Vec<Vec<usize>> {
    let count = layer_of.iter().max().map_or(0, |last| last + 1);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); count];
    layer_of.iter().enumerate().for_each(|(node, layer)| layers[*layer].push(node));
    for sweep in 0..8 {
        let order: Vec<usize> =
            if sweep % 2 == 0 { (1..count).collect() } else { (0..count).rev().collect() };
        for layer in order {
            let mut row = vec![0.0; graph.nodes.len()];
            for members in &layers {
                for (at, node) in members.iter().enumerate() {
                    row[*node] = at as f64 - members.len() as f64 / 2.0;
                }
            }
            let middle = |node: usize| {
                let touching = graph.edges.iter().filter(|edge| (edge.from == node) != (edge.to == node));
                let others = touching.map(|edge| row[if edge.from == node { edge.to } else { edge.from }]);
                let (sum, count) = others.fold((0.0, 0.0), |(sum, count), at| (sum + at, count + 1.0));
                if count > 0.0 { sum / count } else { row[node] }
            };
            layers[layer].sort_by(|a, b| middle(*a).total_cmp(&middle(*b)));
        }
    }
    layers
}
