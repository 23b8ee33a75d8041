//! Sites: what a place in the program does each time it runs, numbered when first seen.
//!
//! A site also has a *home*, the first thing it ever touched: from there the predictions of each block start
//! ([`columns`](super::columns)).

use rustc_hash::FxHashMap;

use super::Bad;
use super::tables::{count, end};
use super::varint::{Cursor, put};
use crate::flat::{Flat, Kind, PayloadShape, Target};
use crate::ids::LocId;
use crate::names::Names;

/// How many slots a block's table of predictions has.
pub(crate) const CONTEXTS: usize = 1 << 12;

/// What a place in the program does each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    pub(crate) kind: Kind,
    pub(crate) modifier: u8,
    pub(crate) has_payload: bool,
    pub(crate) size: u32,
    pub(crate) loc: LocId,
}

/// What the predictions of a block start from: per slot, the home of the first site that uses it.
#[derive(Clone, Debug)]
struct Homes {
    slots: Box<[u64]>,
    sites: usize,
}

impl Default for Homes {
    fn default() -> Self {
        Homes { slots: vec![0; CONTEXTS].into(), sites: 0 }
    }
}

impl Homes {
    fn add(&mut self, home: u64) {
        if self.sites < CONTEXTS {
            self.slots[self.sites] = home;
        }
        self.sites += 1;
    }
}

/// The sites a writer has met.
#[derive(Default)]
pub(crate) struct SiteWriter {
    ids: FxHashMap<Site, u32>,
    /// The last site at each location, and its number.
    last_at: Vec<(Site, u32)>,
    homes: Homes,
    /// Encoded sites that are in no block yet.
    fresh: Vec<u8>,
    fresh_count: u64,
}

impl SiteWriter {
    /// What the predictions of a block start from.
    pub(crate) fn homes(&self) -> &[u64] {
        &self.homes.slots
    }

    /// The number of the site of an event, and whether it is new.
    #[inline]
    pub(crate) fn id(&mut self, loc: LocId, flat: Flat, has_payload: bool) -> (u32, bool) {
        let site = Site { kind: flat.kind, modifier: flat.modifier, has_payload, size: flat.size, loc };
        // Nearly always a location is one site: look there before hashing.
        match self.last_at.get(loc.index()) {
            Some(&(last, id)) if last == site => (id, false),
            _ => self.find(site, flat.target),
        }
    }

    #[cold]
    fn find(&mut self, site: Site, target: u64) -> (u32, bool) {
        let (id, new) = match self.ids.get(&site) {
            Some(&id) => (id, false),
            None => (self.add(site, target), true),
        };
        let at = site.loc.index();
        if self.last_at.len() <= at {
            self.last_at.resize(at + 1, (site, id));
        }
        self.last_at[at] = (site, id);
        (id, new)
    }

    fn add(&mut self, site: Site, home: u64) -> u32 {
        let id = self.ids.len() as u32;
        self.ids.insert(site, id);
        self.homes.add(home);
        self.fresh_count += 1;
        let flags = u64::from(site.modifier) << 1 | u64::from(site.has_payload);
        for number in [site.kind as u64, flags, u64::from(site.size), u64::from(site.loc.0), home] {
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
    pub(crate) site: Site,
    /// Targets must be smaller.
    pub(crate) limit: u64,
}

/// The sites of a file.
#[derive(Default)]
pub(crate) struct SiteTable {
    sites: Vec<KnownSite>,
    homes: Homes,
}

impl SiteTable {
    /// The site with this number.
    #[inline]
    pub(crate) fn get(&self, id: usize) -> Option<&KnownSite> {
        self.sites.get(id)
    }

    /// What the predictions of a block start from.
    pub(crate) fn homes(&self) -> &[u64] {
        &self.homes.slots
    }

    /// Adds the contents of a sites block.
    pub(crate) fn read(&mut self, payload: &[u8]) -> Result<(), Bad> {
        let mut cursor = Cursor::new(payload);
        for _ in 0..count(&mut cursor)? {
            let kind = u8::try_from(cursor.get()?).ok().and_then(Kind::from_number);
            let kind = kind.ok_or_else(|| Bad::new("an operation is unknown"))?;
            let flags = cursor.get_u32()?;
            let (modifier, has_payload) = ((flags >> 1) as u8, flags & 1 == 1);
            let size = cursor.get_u32()?;
            let loc = LocId(cursor.get_u32()?);
            let home = cursor.get()?;
            let payload_fits = match kind.payload() {
                PayloadShape::Nothing => !has_payload,
                PayloadShape::One | PayloadShape::Args => has_payload,
                PayloadShape::MaybeOne | PayloadShape::MaybeTwo => true,
            };
            if flags > 0xff || !Flat::is_valid(kind, modifier, size) || !payload_fits {
                return Err(Bad::new("a site makes no sense"));
            }
            self.sites.push(KnownSite { site: Site { kind, modifier, has_payload, size, loc }, limit: 0 });
            self.homes.add(home);
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
