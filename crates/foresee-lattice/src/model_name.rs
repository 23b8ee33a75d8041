//! The causality models by their names.

use super::hb::HappensBefore;
use super::model::Model;
use super::sliced::Sliced;
use super::weak::Weak;

/// The models, as a user names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ModelName {
    /// [`hb`](super::hb)
    Hb,
    /// [`weak`](super::weak)
    #[default]
    Weak,
    /// [`sliced`](super::sliced); `max`, too, means this where properties are concerned
    Sliced,
}

impl ModelName {
    /// The model of this name.
    pub fn model(self) -> &'static dyn Model {
        match self {
            ModelName::Hb => &HappensBefore,
            ModelName::Weak => &Weak,
            ModelName::Sliced => &Sliced,
        }
    }
}
