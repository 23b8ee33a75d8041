//! Sites: what a place in the program does each time it runs, numbered when first seen.
//!
//! A site also has a *first target*, the first thing it ever touched: that is expected where nothing else is known
//! ([`model`](super::model)).

use rustc_hash::FxHashMap;

use super::Bad;
use super::model::FirstTarget;
use super::tables::{count, end};
use super::varint::{Cursor, put};
use crate::flat::{Flat, OpKind, PayloadShape, Target};
use crate::ids::LocId;
use crate::names::Names;

/// How many sites that are not the first at their location a writer finds without hashing, each in the one slot it can be in.
const OTHERS: usize = 1 << 10;

/// What a place in the program does each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EventSite {
    pub(crate) kind: OpKind,
    pub(crate) modifier: u8,
    pub(crate) has_payload: bool,
    pub(crate) size: u32,
    pub(crate) loc: LocId,
}

impl EventSite {
    #[inline]
    fn slot(&self) -> usize {
        (8 * self.loc.index() + self.kind as usize + 3 * self.size.trailing_zeros() as usize) % OTHERS
    }

    #[inline]
    fn without_location(&self) -> u64 {
        let flags = u64::from(self.modifier) << 8 | u64::from(self.has_payload) << 16;
        self.kind as u64 | flags | u64::from(self.size) << 32
    }
}

/// The sites a writer has met.
#[derive(Default)]
pub(crate) struct SiteWriter {
    ids: FxHashMap<EventSite, u32>,
    /// By number.
    first_targets: Vec<FirstTarget>,
    /// The first site at each location, in one number but for the location, and its number.
    first_at: Vec<(u64, u32)>,
    /// Other sites that were met recently, with their locations.
    others: Vec<(u64, LocId, u32)>,
    /// Encoded sites that are in no block yet.
    fresh: Vec<u8>,
    fresh_count: u64,
}

impl SiteWriter {
    /// What models have to know of all sites.
    pub(crate) fn first_targets(&self) -> &[FirstTarget] {
        &self.first_targets
    }

    /// The number of the site of an event.
    #[inline]
    pub(crate) fn id(&mut self, loc: LocId, flat: Flat, has_payload: bool) -> u32 {
        let site = EventSite { kind: flat.kind, modifier: flat.modifier, has_payload, size: flat.size, loc };
        // Often a location is one site: look there before hashing.
        match self.first_at.get(loc.index()) {
            Some(&(first, id)) if first == site.without_location() => id,
            _ => self.find(site, flat.target),
        }
    }

    fn find(&mut self, site: EventSite, target: u64) -> u32 {
        let key = site.without_location();
        match self.others.get(site.slot()) {
            Some(&(other, loc, id)) if other == key && loc == site.loc => id,
            _ => self.look_up(site, key, target),
        }
    }

    #[cold]
    fn look_up(&mut self, site: EventSite, key: u64, target: u64) -> u32 {
        let id = match self.ids.get(&site) {
            Some(&id) => id,
            None => self.add(site, target),
        };
        self.others.resize(OTHERS, (u64::MAX, LocId::UNKNOWN, 0));
        self.others[site.slot()] = (key, site.loc, id);
        let at = site.loc.index();
        if self.first_at.len() <= at {
            self.first_at.resize(at + 1, (u64::MAX, 0));
        }
        if self.first_at[at].0 == u64::MAX {
            self.first_at[at] = (key, id);
        }
        id
    }

    fn add(&mut self, site: EventSite, first: u64) -> u32 {
        let id = self.ids.len() as u32;
        self.ids.insert(site, id);
        self.first_targets
            .push(FirstTarget { is_memory: site.kind.target() == Target::Memory, target: first });
        self.fresh_count += 1;
        let flags = u64::from(site.modifier) << 1 | u64::from(site.has_payload);
        for number in [site.kind as u64, flags, u64::from(site.size), u64::from(site.loc.0), first] {
            put(&mut self.fresh, number);
        }
        id
    }

    /// The payload with the sites that are new, if any are.
    pub(crate) fn update(&mut self) -> Option<Vec<u8>> {
        if self.fresh_count == 0 {
            return None;
        }
        let mut out = Vec::with_capacity(self.fresh.len() + 4);
        put(&mut out, std::mem::take(&mut self.fresh_count));
        out.append(&mut self.fresh);
        Some(out)
    }
}

/// A site with what a reader checks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownSite {
    pub(crate) site: EventSite,
    /// Targets must be smaller.
    pub(crate) limit: u64,
}

/// The sites of a file.
#[derive(Default)]
pub(crate) struct SiteTable {
    sites: Vec<KnownSite>,
    first_targets: Vec<u64>,
}

impl SiteTable {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.sites.len()
    }

    /// The site with this number.
    #[inline]
    pub(crate) fn get(&self, id: usize) -> Option<&KnownSite> {
        self.sites.get(id)
    }

    /// The first thing that a site ever touched.
    #[cold]
    pub(crate) fn first_target(&self, id: usize) -> u64 {
        self.first_targets.get(id).copied().unwrap_or(0)
    }

    /// Adds the contents of a sites block.
    pub(crate) fn read(&mut self, payload: &[u8]) -> Result<(), Bad> {
        let mut cursor = Cursor::new(payload);
        for _ in 0..count(&mut cursor)? {
            let kind = u8::try_from(cursor.get()?).ok().and_then(OpKind::from_number);
            let kind = kind.ok_or_else(|| Bad::new("an operation is unknown"))?;
            let flags = cursor.get_u32()?;
            let (modifier, has_payload) = ((flags >> 1) as u8, flags & 1 == 1);
            let size = cursor.get_u32()?;
            let loc = LocId(cursor.get_u32()?);
            let first = cursor.get()?;
            let payload_fits = match kind.payload() {
                PayloadShape::Nothing => !has_payload,
                PayloadShape::One | PayloadShape::Args => has_payload,
                PayloadShape::MaybeOne | PayloadShape::MaybeTwo => true,
            };
            if flags > 0xff || !Flat::is_valid(kind, modifier, size) || !payload_fits {
                return Err(Bad::new("a site makes no sense"));
            }
            let site = EventSite { kind, modifier, has_payload, size, loc };
            self.sites.push(KnownSite { site, limit: 0 });
            self.first_targets.push(first);
        }
        end(&cursor)
    }

    /// Fixes what targets are possible, once all names are known.
    pub(crate) fn check(&mut self, names: &Names) -> Result<(), Bad> {
        for known in &mut self.sites {
            if known.site.loc.index() >= names.locations().len() {
                return Err(Bad::new("a location id is unknown"));
            }
            known.limit = match known.site.kind.target() {
                Target::Nothing => 1,
                Target::Memory => u64::MAX,
                Target::Lock => names.locks().len() as u64,
                Target::Thread => names.threads().len() as u64,
                Target::String => names.string_count() as u64,
            };
        }
        Ok(())
    }
}
