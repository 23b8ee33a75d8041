//! Colours. Whoever prints a text removes them where they do not belong.

use anstyle::{AnsiColor, Color, Style};

pub(super) const BAD: Style = Style::new().bold().fg_color(Some(Color::Ansi(AnsiColor::Red)));
pub(super) const STRONG: Style = Style::new().bold();
pub(super) const QUIET: Style = Style::new().dimmed();
pub(super) const LINES: Style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Blue)));
