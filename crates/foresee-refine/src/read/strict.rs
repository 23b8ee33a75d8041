//! JSON in which no name comes twice in an object: of two values for one name, the one that does not count would be passed over silently.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

/// Reads a text that is one piece of JSON.
pub(super) fn parse(text: &str) -> Result<Json, serde_json::Error> {
    serde_json::from_str(text).map(|Strict(json)| json)
}

/// The same of an object.
pub(super) fn parse_object(text: &str) -> Result<Map<String, Json>, serde_json::Error> {
    match parse(text)? {
        Json::Object(fields) => Ok(fields),
        _ => Err(Error::custom("expected an object")),
    }
}

struct Strict(Json);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Strict, D::Error> {
        from.deserialize_any(Reader).map(Strict)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, it: bool) -> Result<Json, E> {
        Ok(Json::from(it))
    }

    fn visit_i64<E>(self, it: i64) -> Result<Json, E> {
        Ok(Json::from(it))
    }

    fn visit_u64<E>(self, it: u64) -> Result<Json, E> {
        Ok(Json::from(it))
    }

    fn visit_f64<E>(self, it: f64) -> Result<Json, E> {
        Ok(Json::from(it))
    }

    fn visit_str<E>(self, it: &str) -> Result<Json, E> {
        Ok(Json::from(it))
    }

    fn visit_string<E>(self, it: String) -> Result<Json, E> {
        Ok(Json::from(it))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(Strict(item)) = from.next_element()? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Json, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = from.next_key::<String>()? {
            if fields.contains_key(&name) {
                return Err(Error::custom(format_args!("`{name}` is there twice; expected each name once")));
            }
            let Strict(value) = from.next_value()?;
            fields.insert(name, value);
        }
        Ok(Json::Object(fields))
    }
}
