//! A property that watches a trace as it comes.

use foresee_monitor::property::Property;
use foresee_monitor::watch::{FeedError, Verdict, Watch};
use foresee_trace::{Event, Names, StrId};

use super::translate::{PropertyEvent, Translator};

/// One property, fed by a trace.
#[derive(Debug)]
pub struct Feed<'p> {
    translator: Translator<'p>,
    watch: Watch<'p>,
}

impl<'p> Feed<'p> {
    /// Watches this property.
    pub fn new(property: &'p Property) -> Feed<'p> {
        Feed { translator: Translator::new(property), watch: Watch::new(property, |_| None) }
    }

    /// The property.
    pub fn property(&self) -> &'p Property {
        self.translator.property()
    }

    /// What it knows of the trace.
    pub fn translator(&self) -> &Translator<'p> {
        &self.translator
    }

    /// Takes in names that are new since the last call. To be called before an event that uses them.
    #[inline]
    pub fn learn(&mut self, names: &Names) {
        self.translator.learn(names);
    }

    /// Whether the property has a named event that the trace calls so.
    pub fn knows(&self, name: StrId) -> bool {
        self.translator.knows(name)
    }

    /// What comes next happens at this time, in nanoseconds since any moment.
    pub fn at(&mut self, time: u64) {
        self.watch.at(time);
    }

    /// The next event of the trace.
    #[inline]
    pub fn event(&mut self, event: &Event<'_>, tell: &mut dyn FnMut(Verdict<'_>)) -> Result<(), FeedError> {
        let Feed { translator, watch } = self;
        let thread = u64::from(event.thread.0);
        let mut fed = Ok(());
        translator.event(event, |happening| {
            let this = apply(watch, thread, happening, tell);
            if fed.is_ok() {
                fed = this;
            }
        })?;
        fed
    }

    /// The trace has ended.
    pub fn end(&mut self, tell: &mut dyn FnMut(Verdict<'_>)) {
        let Feed { translator, watch } = self;
        translator.end(|happening| {
            let fed = apply(watch, 0, happening, tell);
            // Without any event there may be no time.
            debug_assert!(matches!(fed, Ok(()) | Err(FeedError::NoTime { .. } | FeedError::GaveUp { .. })));
        });
    }
}

#[inline]
fn apply(
    watch: &mut Watch<'_>,
    thread: u64,
    happening: PropertyEvent<'_>,
    tell: &mut dyn FnMut(Verdict<'_>),
) -> Result<(), FeedError> {
    match happening {
        PropertyEvent::Event(event, values) => watch.event(event, thread, values, tell)?,
        PropertyEvent::Assign(var, value) => watch.assign(var, value, thread, tell),
        PropertyEvent::Gone(object) => _ = watch.object_gone(object),
    }
    Ok(())
}
