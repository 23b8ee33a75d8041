//! Values by name, in the order they were given in: a JSON object.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A few values with their names. The order counts for people: it is that of a spec's variables, or of the engines.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named<V>(pub(crate) Vec<(String, V)>);

impl<V> Default for Named<V> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<V> Named<V> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, V)> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V: Default> Named<V> {
    /// The value of this name, a new one if there is none.
    pub(crate) fn entry(&mut self, name: &str) -> &mut V {
        let at = self.0.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.0.push((name.to_owned(), V::default()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

impl<V: Serialize> Serialize for Named<V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Named<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = Named<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("values by name")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Named<V>, M::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(Named(all))
            }
        }

        from.deserialize_map(Entries(PhantomData))
    }
}
