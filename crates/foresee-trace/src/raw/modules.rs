//! Which files were mapped where.

/// A piece of a file in the memory of the recorded program.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// How the kernel names what it shares with the program: `anon_inode:[io_uring]`.
const OF_KERNEL: &str = "anon_inode:";

impl Module {
    /// Whether the kernel writes there.
    pub(super) fn is_of_kernel(&self) -> bool {
        self.path.starts_with(OF_KERNEL)
    }

    /// Where the file would begin.
    fn base(&self) -> u64 {
        self.start.wrapping_sub(self.offset)
    }
}

/// Adds what a copy of `/proc/self/maps` says to the modules known, which stay sorted by address. Modules that are where
/// another is now are gone; returns whether there were any.
pub(super) fn add_modules(modules: &mut Vec<Module>, maps: &str) -> bool {
    let new = parse(maps);
    let before = modules.len();
    modules.retain(|old| {
        let first = new.partition_point(|module| module.end <= old.start);
        let mut overlapping = new[first..].iter().take_while(|module| module.start < old.end);
        overlapping.all(|module| module.path == old.path && module.base() == old.base())
    });
    let gone = modules.len() < before;
    modules.extend(new);
    modules.sort_by(|a, b| (a.start, a.end, &a.path).cmp(&(b.start, b.end, &b.path)));
    modules.dedup();
    gone
}

/// The modules of a copy of `/proc/self/maps`, in its order, which is that of addresses.
fn parse(maps: &str) -> Vec<Module> {
    let mut modules = Vec::new();
    let mut last: Option<Module> = None;
    for line in maps.lines() {
        let Some((start, end, offset, path)) = parse_line(line) else { continue };
        match &mut last {
            Some(module) if path.is_empty() && module.end == start => module.end = end,
            // Where code was changed, a mapping has several lines.
            Some(module)
                if path == module.path
                    && module.end == start
                    && start.wrapping_sub(offset) == module.base() =>
            {
                module.end = end;
            }
            _ => {
                modules.extend(last.take());
                let is_file = path.starts_with('/') || path.starts_with(OF_KERNEL);
                last = is_file.then(|| Module { path: path.to_owned(), start, end, offset });
            }
        }
    }
    modules.extend(last);
    modules.sort_by_key(|module| module.start);
    modules
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

    #[test]
    fn a_mapping_of_several_lines_is_one() {
        let lines = ["1000-2000 r-xp 00000000", "2000-3000 r-xp 00001000", "3000-4000 r--p 00001000"];
        let maps: String = lines.map(|line| format!("{line} 08:01 1234    /a\n")).concat();
        let mut modules = Vec::new();
        add_modules(&mut modules, &maps);
        let module = |start, end, offset| Module { path: "/a".to_owned(), start, end, offset };
        assert_eq!(modules, [module(0x1000, 0x3000, 0), module(0x3000, 0x4000, 0x1000)]);
    }

    #[test]
    fn a_library_takes_the_place_of_another() {
        let line = |start: &str, path: &str| format!("{start} r-xp 00000000 08:01 1234    {path}\n");
        let mut modules = Vec::new();
        assert!(!add_modules(&mut modules, &(line("1000-3000", "/a") + &line("5000-6000", "/b"))));
        assert!(!add_modules(&mut modules, &line("8000-9000", "/c")));
        assert!(add_modules(&mut modules, &line("2000-4000", "/d")));
        let paths: Vec<_> = modules.iter().map(|module| module.path.as_str()).collect();
        assert_eq!(paths, ["/d", "/b", "/c"]);
    }
}
