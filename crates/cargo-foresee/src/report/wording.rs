//! The words for what threads do.

/// `writes`, `atomically reads`: what an operation does to its target.
pub(crate) fn verb(op: &str) -> &str {
    match op {
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
        "notify" => "notifies",
        "named" => "does",
        "enter" => "enters",
        "exit" => "leaves",
        "block-begin" => "begins atomic block",
        "block-end" => "ends atomic block",
        other => other,
    }
}
