//! Which gaps are not covered, while more and more are: the next one and the one before, in nearly constant time.

/// Gaps 0 to `len`, all uncovered at first.
pub(super) struct Gaps {
    /// For each gap, one at or after it that is nearer to the next uncovered one; itself if it is uncovered.
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Gaps {
    pub(super) fn new(len: u32) -> Gaps {
        // One more at each end, so that there always is an uncovered one.
        let all: Vec<u32> = (0..len + 2).collect();
        Gaps { next: all.clone(), previous: all }
    }

    /// Covers the gaps from `from` to just before `to`.
    pub(super) fn cover(&mut self, from: u32, to: u32) {
        let mut gap = find(&mut self.next, from + 1);
        while gap < to + 1 {
            self.next[gap as usize] = gap + 1;
            self.previous[gap as usize] = gap - 1;
            gap = find(&mut self.next, gap);
        }
    }

    /// The first uncovered gap from this one on; the number of gaps if there is none.
    pub(super) fn at_or_after(&mut self, gap: u32) -> u32 {
        find(&mut self.next, gap + 1) - 1
    }

    /// The last uncovered gap up to this one.
    pub(super) fn at_or_before(&mut self, gap: u32) -> Option<u32> {
        find(&mut self.previous, gap + 1).checked_sub(1)
    }
}

/// Follows the pointers, and shortens the way for the next time.
fn find(pointers: &mut [u32], from: u32) -> u32 {
    let mut end = from;
    while pointers[end as usize] != end {
        end = pointers[end as usize];
    }
    let mut at = from;
    while pointers[at as usize] != end {
        at = std::mem::replace(&mut pointers[at as usize], end);
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covered_gaps_are_passed_over() {
        let mut gaps = Gaps::new(10);
        assert_eq!((gaps.at_or_after(3), gaps.at_or_before(3)), (3, Some(3)));
        gaps.cover(2, 5);
        gaps.cover(7, 7);
        gaps.cover(4, 8);
        assert_eq!((gaps.at_or_after(1), gaps.at_or_after(2), gaps.at_or_after(7)), (1, 8, 8));
        assert_eq!((gaps.at_or_before(7), gaps.at_or_before(8)), (Some(1), Some(8)));
        gaps.cover(0, 10);
        assert_eq!((gaps.at_or_after(0), gaps.at_or_before(9)), (10, None));
    }
}
