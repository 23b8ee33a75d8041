//! The words for what threads do.

/// How targets are called that are descriptors: they are not memory, but used and closed.
const DESCRIPTOR: &str = "descriptor ";

/// `writes`, `atomically reads`: what an operation does to its target.
pub(crate) fn verb<'a>(op: &'a str, target: &str) -> &'a str {
    match op {
        "read" if target.starts_with(DESCRIPTOR) => "uses",
        "write" if target.starts_with(DESCRIPTOR) => "closes",
        "read" => "reads",
        "write" => "writes",
        "load" => "atomically reads",
        "store" => "atomically writes",
        "rmw" => "atomically updates",
        "free" => "frees",
        "request" => "wants",
        "acquire" => "locks",
        "release" => "unlocks",
        "fork" => "starts",
        "join" => "joins",
        "wait" => "waits for",
        "await" => "waits for the end of",
        "blocked" => "waits for",
        "notify" => "notifies",
        "named" => "does",
        "enter" => "enters",
        "exit" => "leaves",
        "arguments" => "calls",
        "result" => "returns from",
        "verdict" => "meets",
        "block-begin" => "begins atomic block",
        "block-end" => "ends atomic block",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::verb;

    #[test]
    fn descriptors_are_used_and_closed() {
        assert_eq!([verb("read", "descriptor 4"), verb("write", "descriptor 4")], ["uses", "closes"]);
        assert_eq!([verb("read", "descriptors"), verb("write", "x")], ["reads", "writes"]);
    }
}
