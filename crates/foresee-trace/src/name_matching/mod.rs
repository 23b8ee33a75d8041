//! Which names people may write for what a program has: one rule for functions, one for variables, wherever names are written.
//!
//! | file | what is there |
//! |---|---|
//! | `function_path` | a function's name without type arguments, impl brackets and arguments |
//! | `functions` | which functions a name means |
//! | `variables` | which variables a name means |
//! | `path_pattern` | the end of a path, with `*` |
//! | `nearest` | what was perhaps meant by a name that nothing has |

mod function_path;
mod functions;
mod nearest;
mod path_pattern;
mod variables;

pub(crate) use function_path::{before_as, closing};
pub use function_path::{function_path, without_result};
pub use functions::FunctionPattern;
pub(crate) use nearest::edit_distance;
pub use nearest::{nearest, perhaps};
pub use variables::VariablePattern;
