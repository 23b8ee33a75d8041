//! What was perhaps meant by a name that nothing has.

use super::function_path::function_path;

/// How many names are suggested at most.
const MOST: usize = 3;

/// Those of the known names that are nearest to one that nothing has, the nearest first: few letters are different in the last part
/// of the path, or that part is the same.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = last_part(name);
    let limit = (wanted.len() / 3).clamp(1, 3);
    let mut close: Vec<(usize, &str)> = (known.into_iter())
        .map(|known| (known, last_part(known)))
        .filter(|(_, last)| last.len().abs_diff(wanted.len()) <= limit)
        .map(|(known, last)| (edit_distance(&wanted, &last), known))
        .filter(|&(distance, _)| distance <= limit)
        .collect();
    close.sort_unstable();
    close.dedup();
    close.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// What to add to a message about a name that nothing has: "; perhaps `main`?", or nothing.
pub fn perhaps<N: AsRef<str>>(nearest: &[N]) -> String {
    let quoted: Vec<String> = nearest.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    if quoted.is_empty() { String::new() } else { format!("; perhaps {}?", quoted.join(" or ")) }
}

/// The last part of a path, without what compilers add.
fn last_part(name: &str) -> String {
    let path = function_path(name);
    let path = path.trim_matches('*');
    path.rsplit("::").find(|part| !part.is_empty()).unwrap_or(path).to_lowercase()
}

/// How many characters must be put in, taken out or changed to get from one word to the other.
pub(crate) fn edit_distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(to.bytes()) {
            let best = (diagonal + usize::from(a != b)).min(left + 1).min(*cell + 1);
            diagonal = *cell;
            left = best;
            *cell = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first() {
        let known = ["app::Bank::withdraw", "app::Bank::deposit", "withdrawn", "main"];
        assert_eq!(nearest("Bank::withdrw", known), ["app::Bank::withdraw", "withdrawn"]);
        assert_eq!(nearest("Bnak::deposit", known), ["app::Bank::deposit"]);
        assert_eq!(nearest("mai", known), ["main"]);
        assert_eq!(perhaps(&nearest("mai", known)), "; perhaps `main`?");
        assert!(nearest("something", known).is_empty() && nearest("", known).is_empty());
    }
}
