//! Events of one thread as columns of small numbers.
//!
//! A *site* is what a place in the program does each time it runs: operation, modifier, size, location. Sites are numbered when
//! first seen. What an event touches is expected from what came before it ([`model`](super::model)). So an event is four
//! numbers, each in a column of its own, because numbers of one kind compress together:
//!
//! | column | holds | typical |
//! |---|---|---|
//! | order | stamp minus the thread's previous stamp | small |
//! | site | number of the site | skewed to few |
//! | rule | for sites with a rule other than the first: number minus that of the one before, the rule | short |
//! | target | what it touches minus what was expected (zigzag) | 0 |
//! | payload | values and arguments, for sites that have them | |
//!
//! (The rules are not of single events.) Blocks must decode alone, so each begins with a new model.

use super::model::{FirstTarget, MemorySlot, Model, Rule, Rules};
use super::pack::{Packer, Unpacker};
use super::sites::SiteTable;
use super::tables::{count, end};
use super::varint::{Cursor, put, unzigzag, zigzag};
use super::{Bad, MAX_COLUMN, MAX_STAMP};
use crate::event::{Arg, Op};
use crate::flat::{Flat, OpKind, Payload, PayloadShape};
use crate::ids::{LocId, StrId};
use crate::names::Names;

/// The events of one thread on their way into a block.
pub(crate) struct Encoder {
    pub(crate) thread: u32,
    pub(crate) events: u32,
    pub(crate) first: u64,
    pub(crate) last: u64,
    order: Vec<u8>,
    /// The sites of the events, and what they touch.
    sites: Vec<u32>,
    targets: Vec<u64>,
    payload: Vec<u8>,
}

/// What turns the sites and targets of a block into columns.
#[derive(Default)]
pub(crate) struct Expectation {
    rules: Rules,
    model: Model,
    /// The columns of sites, rules and targets.
    columns: [Vec<u8>; 3],
    /// Which sites are in the block.
    is_there: Vec<bool>,
}

impl Expectation {
    fn columns(&mut self, first_targets: &[FirstTarget], sites: &[u32], targets: &[u64]) -> &[Vec<u8>; 3] {
        self.rules.choose(first_targets, sites, targets);
        self.model.begin(sites.len());
        self.is_there.clear();
        self.is_there.resize(first_targets.len(), false);
        self.columns.iter_mut().for_each(Vec::clear);
        let [ids, rules, differences] = &mut self.columns;
        for (&site, &target) in sites.iter().zip(targets) {
            let at = site as usize;
            let (Some(&known), Some(is_there)) = (first_targets.get(at), self.is_there.get_mut(at)) else {
                continue;
            };
            *is_there = true;
            let place = MemorySlot { site, is_memory: known.is_memory };
            let expected = self.model.pass(place, self.rules.of(site), || known.target, |_| target).expected;
            put(ids, u64::from(site));
            put(differences, zigzag(target.wrapping_sub(expected) as i64));
        }
        let mut last = 0;
        for (site, _) in (0_u32..).zip(&self.is_there).filter(|&(_, is_there)| *is_there) {
            let rule = self.rules.of(site);
            if rule != Rule::AGAIN {
                put(rules, u64::from(site - last));
                put(rules, u64::from(rule.number()));
                last = site;
            }
        }
        &self.columns
    }
}

impl Encoder {
    pub(crate) fn new() -> Encoder {
        Encoder {
            thread: 0,
            events: 0,
            first: 0,
            last: 0,
            order: Vec::new(),
            sites: Vec::new(),
            targets: Vec::new(),
            payload: Vec::new(),
        }
    }

    /// Makes it ready for the next block.
    pub(crate) fn begin(&mut self, thread: u32, stamp: u64) {
        self.thread = thread;
        self.events = 0;
        self.first = stamp;
        self.last = stamp;
        self.order.clear();
        self.sites.clear();
        self.targets.clear();
        self.payload.clear();
    }

    #[inline]
    pub(crate) fn push(&mut self, stamp: u64, site: u32, target: u64, payload: Payload<'_>) {
        put(&mut self.order, stamp - self.last);
        self.sites.push(site);
        self.targets.push(target);
        self.last = stamp;
        self.events += 1;
        if payload != Payload::Nothing {
            self.push_payload(payload);
        }
    }

    fn push_payload(&mut self, payload: Payload<'_>) {
        let out = &mut self.payload;
        match payload {
            Payload::Nothing => {}
            Payload::One(value) => put(out, value),
            Payload::Two(first, second) => {
                put(out, first);
                put(out, second);
            }
            Payload::Args(args) => {
                put(out, args.len() as u64);
                for arg in args {
                    let (tag, value) = match *arg {
                        Arg::Int(value) => (0, zigzag(value)),
                        Arg::Str(id) => (1, u64::from(id.0)),
                        Arg::Object(id) => (2, id),
                    };
                    put(out, tag);
                    put(out, value);
                }
            }
        }
    }

    /// Whether the block should be closed before a column grows too large.
    pub(crate) fn is_full(&self) -> bool {
        self.payload.len() >= MAX_COLUMN / 2
    }

    /// The columns, compressed, as the payload of an events block; `first_targets` are those of all sites.
    pub(crate) fn compress(
        &self,
        first_targets: &[FirstTarget],
        expectation: &mut Expectation,
        packer: &mut Packer,
        out: &mut Vec<u8>,
    ) {
        out.clear();
        let [sites, rules, targets] = expectation.columns(first_targets, &self.sites, &self.targets);
        for column in [&self.order, sites, rules, targets, &self.payload] {
            packer.pack(column, out);
        }
    }
}

/// One decoded event of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) stamp: u64,
    pub(crate) flat: Flat,
    pub(crate) loc: LocId,
    /// Where the payload is in the decoder's values; `u32::MAX` for none.
    payload: u32,
}

impl Record {
    pub(crate) fn has_payload(&self) -> bool {
        self.payload != u32::MAX
    }
}

/// An events block being read.
#[derive(Default)]
pub(crate) struct Decoder {
    order: Vec<u8>,
    sites: Vec<u8>,
    targets: Vec<u8>,
    payload: Vec<u8>,
    /// How far each column has been read.
    at: [usize; 4],
    /// By site.
    rules: Vec<Rule>,
    model: Model,
    stamp: u64,
    left: u32,
    open_bytes: usize,
    /// Values of the records of the last batch; for arguments, where they start in `args` and how many there are.
    values: Vec<u64>,
    args: Vec<Arg>,
}

impl Decoder {
    /// Starts on a block.
    pub(crate) fn begin(
        &mut self,
        payload: &[u8],
        events: u32,
        first: u64,
        sites: &SiteTable,
        unpacker: &mut Unpacker,
    ) -> Result<(), Bad> {
        let mut cursor = Cursor::new(payload);
        for column in [&mut self.order, &mut self.sites] {
            unpacker.unpack(&mut cursor, MAX_COLUMN, column)?;
        }
        unpacker.unpack(&mut cursor, MAX_COLUMN, &mut self.targets)?;
        self.read_rules(sites.len())?;
        for column in [&mut self.targets, &mut self.payload] {
            unpacker.unpack(&mut cursor, MAX_COLUMN, column)?;
        }
        end(&cursor)?;
        self.at = [0; 4];
        self.model.begin(events as usize);
        self.stamp = first;
        self.left = events;
        let columns = [&self.order, &self.sites, &self.targets, &self.payload];
        self.open_bytes = columns.map(|column| column.len()).iter().sum::<usize>()
            + self.rules.len()
            + Model::bytes(events as usize);
        Ok(())
    }

    /// Reads the column of rules, which is where that of targets will be.
    fn read_rules(&mut self, sites: usize) -> Result<(), Bad> {
        self.rules.clear();
        self.rules.resize(sites, Rule::AGAIN);
        let mut cursor = Cursor::new(&self.targets);
        let mut site = 0_usize;
        while !cursor.is_empty() {
            site = site.saturating_add(usize::try_from(cursor.get()?).unwrap_or(usize::MAX));
            let number = u8::try_from(cursor.get()?).ok();
            match (self.rules.get_mut(site), number) {
                (Some(rule), Some(number)) => *rule = Rule::from_number(number),
                _ => return Err(Bad::new("a rule makes no sense")),
            }
        }
        Ok(())
    }

    /// Bytes this block takes at most while it is open.
    pub(crate) fn open_bytes(&self) -> usize {
        self.open_bytes
    }

    /// The operation of a record of the last batch.
    #[inline]
    pub(crate) fn op(&self, record: &Record) -> Op<'_> {
        let payload = if record.has_payload() { self.payload(record) } else { Payload::Nothing };
        record.flat.op(payload)
    }

    #[cold]
    fn payload(&self, record: &Record) -> Payload<'_> {
        let at = record.payload as usize;
        match (record.flat.kind.payload(), self.values.get(at..).unwrap_or_default()) {
            (PayloadShape::One | PayloadShape::MaybeOne, &[value, ..]) => Payload::One(value),
            (PayloadShape::MaybeTwo, &[first, second, ..]) => Payload::Two(first, second),
            (PayloadShape::Args, &[start, len, ..]) => {
                let (start, len) = (start as usize, len as usize);
                Payload::Args(self.args.get(start..start + len).unwrap_or_default())
            }
            _ => Payload::Nothing,
        }
    }

    /// Decodes up to `max` further events into `out`; none at the end of the block.
    pub(crate) fn batch(
        &mut self,
        max: usize,
        sites: &SiteTable,
        names: &Names,
        out: &mut Vec<Record>,
    ) -> Result<(), Bad> {
        out.clear();
        self.values.clear();
        self.args.clear();
        let mut order = Cursor::new(&self.order[self.at[0]..]);
        let mut site_ids = Cursor::new(&self.sites[self.at[1]..]);
        let mut targets = Cursor::new(&self.targets[self.at[2]..]);
        let mut payload = Cursor::new(&self.payload[self.at[3]..]);
        let mut stamp = self.stamp;
        let n = (self.left as usize).min(max);
        for _ in 0..n {
            stamp = stamp.wrapping_add(order.get()?);
            let id = site_ids.get()? as usize;
            let delta = unzigzag(targets.get()?);
            let (Some(known), Some(&rule)) = (sites.get(id), self.rules.get(id)) else {
                return Err(Bad::new("a site is unknown"));
            };
            let place = MemorySlot { site: id as u32, is_memory: known.site.size != 0 };
            let expected = |expected: u64| expected.wrapping_add(delta as u64);
            let target = self.model.pass(place, rule, || sites.first_target(id), expected).target;
            if target >= known.limit || stamp >= MAX_STAMP {
                return Err(Bad::new("an event's target or stamp is out of range"));
            }
            let site = known.site;
            let payload = if site.has_payload {
                read_payload(site.kind, &mut payload, names, &mut self.values, &mut self.args)?
            } else {
                u32::MAX
            };
            let flat = Flat { kind: site.kind, modifier: site.modifier, size: site.size, target };
            out.push(Record { stamp, flat, loc: site.loc, payload });
        }
        self.stamp = stamp;
        self.left -= n as u32;
        self.at = [
            self.order.len() - order.remaining(),
            self.sites.len() - site_ids.remaining(),
            self.targets.len() - targets.remaining(),
            self.payload.len() - payload.remaining(),
        ];
        if self.left == 0
            && self.at != [self.order.len(), self.sites.len(), self.targets.len(), self.payload.len()]
        {
            return Err(Bad::new("a block has more bytes than events"));
        }
        Ok(())
    }
}

#[cold]
fn read_payload(
    kind: OpKind,
    cursor: &mut Cursor<'_>,
    names: &Names,
    values: &mut Vec<u64>,
    args: &mut Vec<Arg>,
) -> Result<u32, Bad> {
    let at = values.len() as u32;
    match kind.payload() {
        PayloadShape::Nothing => {}
        PayloadShape::One | PayloadShape::MaybeOne => values.push(cursor.get()?),
        PayloadShape::MaybeTwo => values.extend([cursor.get()?, cursor.get()?]),
        PayloadShape::Args => {
            let len = count(cursor)?;
            values.extend([args.len() as u64, len]);
            for _ in 0..len {
                let (tag, value) = (cursor.get()?, cursor.get()?);
                args.push(match tag {
                    0 => Arg::Int(unzigzag(value)),
                    1 if value < names.string_count() as u64 => Arg::Str(StrId(value as u32)),
                    2 => Arg::Object(value),
                    _ => return Err(Bad::new("an argument makes no sense")),
                });
            }
        }
    }
    Ok(at)
}
