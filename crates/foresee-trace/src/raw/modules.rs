//! Which files were mapped where.

/// A piece of a file in the memory of the recorded program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Module {
    /// The file.
    pub path: String,
    /// The first address.
    pub start: u64,
    /// The first address after it. Memory that follows the file's and is initially zero (`.bss`) is part of it.
    pub end: u64,
    /// Where in the file `start` is.
    pub offset: u64,
}

/// Adds what a copy of `/proc/self/maps` says to the modules known, which stay sorted by address.
pub(super) fn add_modules(modules: &mut Vec<Module>, maps: &str) {
    let mut last: Option<Module> = None;
    for line in maps.lines() {
        let Some((start, end, offset, path)) = parse_line(line) else { continue };
        match &mut last {
            Some(module) if path.is_empty() && module.end == start => module.end = end,
            _ => {
                modules.extend(last.take());
                last = path.starts_with('/').then(|| Module { path: path.to_owned(), start, end, offset });
            }
        }
    }
    modules.extend(last);
    modules.sort_by(|a, b| (a.start, a).cmp(&(b.start, b)));
    modules.dedup();
}

/// The range, the offset and the path of a line like `55d0-55e0 r-xp 00001000 08:01 1234    /usr/bin/cat`.
fn parse_line(line: &str) -> Option<(u64, u64, u64, &str)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let mut fields = rest.splitn(4, ' ');
    let offset = fields.nth(1)?;
    let inode_and_path = fields.nth(1)?;
    let path = inode_and_path.split_once(' ').map_or("", |(_, path)| path.trim_start());
    let hex = |text| u64::from_str_radix(text, 16).ok();
    let (start, end) = (hex(start)?, hex(end)?);
    (start < end).then_some((start, end, hex(offset)?, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_read_with_bss() {
        let maps = "55d0-55e0 r-xp 00001000 08:01 1234                /bin/a b\n\
                    55e0-55f0 rw-p 00002000 08:01 1234                /bin/a b\n\
                    55f0-5600 rw-p 00000000 00:00 0 \n\
                    5600-5700 rw-p 00000000 00:00 0                   [heap]\n\
                    garbage\n";
        let mut modules = Vec::new();
        add_modules(&mut modules, maps);
        add_modules(&mut modules, maps);
        let module = |start, end, offset| Module { path: "/bin/a b".to_owned(), start, end, offset };
        assert_eq!(modules, [module(0x55d0, 0x55e0, 0x1000), module(0x55e0, 0x5600, 0x2000)]);
    }
}
