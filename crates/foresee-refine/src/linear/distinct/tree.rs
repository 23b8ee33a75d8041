//! Two segment trees: the smallest of a range with its place, and how often gaps are covered.

/// Numbers in a row, each of which may be absent; the smallest of any range, in logarithmic time.
pub(super) struct Smallest {
    leaves: usize,
    /// The place of the smallest in each subtree.
    tree: Vec<u32>,
    values: Vec<u64>,
}

const ABSENT: u64 = u64::MAX;

impl Smallest {
    pub(super) fn new(values: impl IntoIterator<Item = Option<u64>>) -> Smallest {
        let mut values: Vec<u64> = values.into_iter().map(|value| value.unwrap_or(ABSENT)).collect();
        let leaves = values.len().next_power_of_two();
        values.resize(leaves, ABSENT);
        let mut tree = vec![0; 2 * leaves];
        for place in 0..leaves {
            tree[leaves + place] = place as u32;
        }
        let mut smallest = Smallest { leaves, tree, values };
        (1..leaves).rev().for_each(|node| smallest.refresh(node));
        smallest
    }

    fn refresh(&mut self, node: usize) {
        let (left, right) = (self.tree[2 * node], self.tree[2 * node + 1]);
        self.tree[node] = self.smaller(left, right);
    }

    fn smaller(&self, left: u32, right: u32) -> u32 {
        if self.values[right as usize] < self.values[left as usize] { right } else { left }
    }

    pub(super) fn set(&mut self, place: usize, value: Option<u64>) {
        self.values[place] = value.unwrap_or(ABSENT);
        let mut node = (self.leaves + place) / 2;
        while node > 0 {
            self.refresh(node);
            node /= 2;
        }
    }

    /// The smallest of the places from `from` to just before `to`, with its place.
    pub(super) fn of(&self, from: usize, to: usize) -> Option<(usize, u64)> {
        let (mut from, mut to) = (from + self.leaves, to + self.leaves);
        let mut best: Option<u32> = None;
        while from < to {
            let mut consider = |place| best = Some(best.map_or(place, |best| self.smaller(best, place)));
            if from % 2 == 1 {
                consider(self.tree[from]);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                consider(self.tree[to]);
            }
            (from, to) = (from / 2, to / 2);
        }
        best.map(|place| (place as usize, self.values[place as usize])).filter(|(_, value)| *value != ABSENT)
    }
}

/// How often each gap is covered.
pub(super) struct Coverage {
    leaves: usize,
    /// What was added to all gaps of a subtree, and the least cover in it with that.
    added: Vec<i32>,
    least: Vec<i32>,
}

impl Coverage {
    pub(super) fn new(gaps: usize) -> Coverage {
        let leaves = gaps.next_power_of_two();
        Coverage { leaves, added: vec![0; 2 * leaves], least: vec![0; 2 * leaves] }
    }

    /// Adds `by` to the gaps from `from` to just before `to`.
    pub(super) fn add(&mut self, from: usize, to: usize, by: i32) {
        let (mut left, mut right) = (from + self.leaves, to + self.leaves);
        let (first, last) = (left, right.saturating_sub(1));
        while left < right {
            if left % 2 == 1 {
                self.added[left] += by;
                self.least[left] += by;
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                self.added[right] += by;
                self.least[right] += by;
            }
            (left, right) = (left / 2, right / 2);
        }
        for mut node in [first / 2, last / 2] {
            while node > 0 {
                self.least[node] = self.added[node] + self.least[2 * node].min(self.least[2 * node + 1]);
                node /= 2;
            }
        }
    }

    /// The first gap from `from` on that nothing covers.
    pub(super) fn first_uncovered(&self, from: usize) -> Option<usize> {
        self.descend(1, 0, self.leaves, from, 0)
    }

    fn descend(&self, node: usize, start: usize, len: usize, from: usize, above: i32) -> Option<usize> {
        if start + len <= from || self.least[node] + above > 0 {
            return None;
        }
        if len == 1 {
            return Some(start);
        }
        let (half, above) = (len / 2, above + self.added[node]);
        self.descend(2 * node, start, half, from, above)
            .or_else(|| self.descend(2 * node + 1, start + half, half, from, above))
    }
}
