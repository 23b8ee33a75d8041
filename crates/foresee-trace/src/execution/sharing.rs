//! Which memory several threads access: what only one does, no other thread can tell anything of.

use super::variables::{Users, Variable};

/// Of each variable, whether a byte of it is accessed by several threads, through it or another one.
pub(super) fn shared(variables: &[Variable], cells: &[(u32, u32)], cell_count: u32) -> Vec<bool> {
    let mut users = vec![Users::NOBODY; cell_count as usize];
    let of = |&(first, count): &(u32, u32)| first as usize..(first + count) as usize;
    for (variable, cells) in variables.iter().zip(cells) {
        users[of(cells)].iter_mut().for_each(|users| *users = users.and(variable.users));
    }
    cells.iter().map(|cells| users[of(cells)].contains(&Users::SEVERAL)).collect()
}
