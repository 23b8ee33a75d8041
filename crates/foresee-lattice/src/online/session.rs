//! All properties of a spec and one program.

use std::time::Instant;

use foresee_monitor::property::Property;

use super::finding::OnlineFinding;
use super::intake::Lie;
use super::limits::Limits;
use super::message::{Message, MissingVariable};
use super::observation::Observation;
use super::stage::{Refused, Stage};

/// A stage for each property, for one program.
pub fn stages(properties: &[Property]) -> Result<Vec<Stage<'_>>, Refused> {
    properties.iter().map(Stage::new).collect()
}

/// A program and its messages.
///
/// What a property says of a variable that the program does not have is not proven: it is kept back until the program has it.
pub struct Session<'a> {
    observations: Vec<Observation<'a>>,
    /// By property.
    kept_back: Vec<KeptBack>,
    doubt: Option<String>,
}

/// What a property is not believed for now.
#[derive(Default)]
struct KeptBack {
    missing: Option<MissingVariable>,
    /// The first that were found.
    found: Vec<OnlineFinding>,
}

/// So much is kept back of each property.
const MOST_KEPT_BACK: usize = 100;

impl KeptBack {
    /// What can be told now.
    fn told(&mut self, found: Vec<OnlineFinding>) -> Vec<OnlineFinding> {
        self.found.extend(found);
        if self.missing.is_none() {
            return std::mem::take(&mut self.found);
        }
        self.found.truncate(MOST_KEPT_BACK);
        Vec::new()
    }
}

impl<'a> Session<'a> {
    /// Before any message.
    pub fn new(stages: &'a [Stage<'a>], limits: Limits) -> Session<'a> {
        let observations = stages.iter().map(|stage| Observation::new(stage, limits)).collect();
        let kept_back = stages.iter().map(|_| KeptBack::default()).collect();
        Session { observations, kept_back, doubt: None }
    }

    /// Takes a message.
    pub fn hear(&mut self, message: Message) -> Result<(), Lie> {
        match message {
            // Another connection of the same program.
            Message::Hello(_) => Ok(()),
            Message::Relevant(event) => self.observation(event.property)?.relevant(event),
            Message::Silent(promise) => self.observation(promise.property)?.silent(promise),
            Message::Doubt(why) => {
                self.doubt = Some(why);
                Ok(())
            }
            Message::Variables(said) => {
                let kept_back = self.kept_back.get_mut(said.property as usize);
                kept_back.ok_or(Lie::Property(said.property))?.missing = said.missing;
                Ok(())
            }
            Message::Ended(ended) => {
                if ended.messages.len() != self.observations.len() {
                    return Err(Lie::Property(ended.messages.len() as u32));
                }
                let ends = self.observations.iter_mut().zip(&ended.messages);
                ends.into_iter().try_for_each(|(observation, &messages)| observation.end(messages))
            }
        }
    }

    fn observation(&mut self, property: u32) -> Result<&mut Observation<'a>, Lie> {
        self.observations.get_mut(property as usize).ok_or(Lie::Property(property))
    }

    /// From now on, about so many bytes for all properties.
    pub fn limit(&mut self, memory: usize) -> Result<(), Lie> {
        let share = memory / self.observations.len().max(1);
        self.observations.iter_mut().try_for_each(|observation| observation.limit(share))
    }

    /// Explores as far as is known, but no longer than to a moment, if there is one. What was found since the last call.
    pub fn advance(&mut self, until: Option<Instant>) -> Vec<OnlineFinding> {
        let all = self.observations.iter_mut().zip(&mut self.kept_back);
        all.flat_map(|(observation, kept_back)| kept_back.told(observation.advance(until))).collect()
    }

    /// Whether the last look ended before all that is known was explored.
    pub fn is_paused(&self) -> bool {
        self.observations.iter().any(Observation::is_paused)
    }

    /// Whether so much is kept that exploring should come before hearing more.
    pub fn is_crowded(&self) -> bool {
        self.observations.iter().any(Observation::is_crowded)
    }

    /// What is found if no more messages come. Those that come are waited for all the same.
    pub fn look_ahead(&mut self, until: Option<Instant>) -> Vec<OnlineFinding> {
        let all = self.observations.iter_mut().zip(&mut self.kept_back);
        all.flat_map(|(observation, kept_back)| kept_back.told(observation.look_ahead(until))).collect()
    }

    /// Why what is found may be wrong, if so.
    pub fn doubt(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    /// The properties, by position, that name a variable which the program does not have, with that variable.
    pub fn missing(&self) -> impl Iterator<Item = (usize, &MissingVariable)> {
        self.kept_back
            .iter()
            .enumerate()
            .filter_map(|(at, kept_back)| Some((at, kept_back.missing.as_ref()?)))
    }

    /// Whether the program has ended and all its messages are here.
    pub fn is_over(&self) -> bool {
        self.observations.iter().all(Observation::is_over)
    }

    /// Whether every run that `hb` allows was looked at, as far as events are known.
    pub fn is_exhaustive(&self) -> bool {
        self.observations.iter().all(Observation::is_exhaustive)
    }

    /// How many relevant events there were, of all properties.
    pub fn events(&self) -> u64 {
        self.observations.iter().map(|observation| u64::from(observation.events())).sum()
    }

    /// How many messages wait for others.
    pub fn waiting(&self) -> usize {
        self.observations.iter().map(Observation::waiting).sum()
    }

    /// How many bindings of parameters were not looked at, or not to the end.
    pub fn left_out(&self) -> u64 {
        self.observations.iter().map(Observation::left_out).sum()
    }

    /// How many runs were refused by what checks them: bugs of the explorer.
    pub fn refused(&self) -> u64 {
        self.observations.iter().map(Observation::refused).sum()
    }

    /// How many cuts were explored.
    pub fn cuts(&self) -> u64 {
        self.observations.iter().map(Observation::cuts).sum()
    }
}
