// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Metadata: named values of a dozen types.

use std::collections::BTreeMap;

use super::cursor::Cursor;
use crate::checkpoint::Defect;

/// A value of the metadata. Numbers of all widths are one of three.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer; those above `i64::MAX` do not fit and are refused where they are read.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// Text.
    Text(String),
    /// Values of one type.
    List(Vec<Value>),
}

const TYPES: &str = "a type of 0 to 12";
const LIST: u32 = 9;

/// Reads one value of type `kind`.
fn value(cursor: &mut Cursor<'_>, kind: u32, key: &str, inside: bool) -> Result<Value, Defect> {
    let integer = |v: i64| Ok(Value::Integer(v));
    match kind {
        0 => integer(cursor.array::<1>(key)?[0].into()),
        1 => integer(i8::from_le_bytes(cursor.array(key)?).into()),
        2 => integer(u16::from_le_bytes(cursor.array(key)?).into()),
        3 => integer(i16::from_le_bytes(cursor.array(key)?).into()),
        4 => integer(cursor.u32(key)?.into()),
        5 => integer(i32::from_le_bytes(cursor.array(key)?).into()),
        6 => Ok(Value::Float(f32::from_le_bytes(cursor.array(key)?).into())),
        7 => match cursor.array::<1>(key)?[0] {
            byte @ 0..=1 => Ok(Value::Bool(byte == 1)),
            byte => Err(Defect::unknown(key, byte, "the truth value 0 or 1")),
        },
        8 => cursor.text(key).map(Value::Text),
        // Lists of lists are legal in the format; no field of a Llama model is one.
        LIST if inside => Err(Defect::unknown(format!("the type within list {key}"), "a list", "a plain type")),
        LIST => {
            let kind = cursor.u32(key)?;
            let count = cursor.u64(key)?;
            let count = cursor.fits(count, least(kind), key)?;
            // A value takes more memory than its byte in the file may: grow as they come.
            let mut values = Vec::new();
            for _ in 0..count {
                values.push(value(cursor, kind, key, true)?);
            }
            Ok(Value::List(values))
        }
        10 => {
            let v = cursor.u64(key)?;
            i64::try_from(v).map(Value::Integer).map_err(|_| Defect::unknown(key, v, "an integer below 2^63"))
        }
        11 => integer(i64::from_le_bytes(cursor.array(key)?)),
        12 => Ok(Value::Float(f64::from_le_bytes(cursor.array(key)?))),
        other => Err(Defect::unknown(format!("the type of {key}"), other, TYPES)),
    }
}

/// The fewest bytes of a value of that type.
fn least(kind: u32) -> u64 {
    match kind {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        _ => 8,
    }
}

/// The metadata by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metadata(BTreeMap<String, Value>);

impl Metadata {
    pub(super) fn read(cursor: &mut Cursor<'_>, count: u64) -> Result<Self, Defect> {
        // A key's length, a type, a byte.
        let count = cursor.fits(count, 13, "the metadata")?;
        let mut values = BTreeMap::new();
        for _ in 0..count {
            let key = cursor.text("a metadata key")?;
            let kind = cursor.u32(&key)?;
            let value = value(cursor, kind, &key, false)?;
            if values.insert(key.clone(), value).is_some() {
                return Err(Defect::Duplicate { what: format!("metadata key {key}") });
            }
        }
        Ok(Metadata(values))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    fn typed<T>(&self, key: &str, legal: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Option<T>, Defect> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let shown = || match value {
            Value::List(list) => format!("a list of {}", list.len()),
            other => format!("{other:?}"),
        };
        read(value).map(Some).ok_or_else(|| Defect::unknown(key, shown(), legal))
    }

    /// A size, if the key is there.
    pub fn size(&self, key: &str) -> Result<Option<usize>, Defect> {
        self.typed(key, "an integer of at least 0", |value| match value {
            Value::Integer(v) => usize::try_from(*v).ok(),
            _ => None,
        })
    }

    /// A number, if the key is there.
    pub fn number(&self, key: &str) -> Result<Option<f64>, Defect> {
        self.typed(key, "a number", |value| match value {
            Value::Float(v) => Some(*v),
            Value::Integer(v) => Some(*v as f64),
            _ => None,
        })
    }

    /// A truth value, if the key is there.
    pub fn flag(&self, key: &str) -> Result<Option<bool>, Defect> {
        self.typed(key, "a truth value", |value| if let Value::Bool(v) = value { Some(*v) } else { None })
    }

    /// Text, if the key is there.
    pub fn text(&self, key: &str) -> Result<Option<&str>, Defect> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(Defect::unknown(key, "no text", "text")),
        }
    }

    /// A list of texts, if the key is there.
    pub fn texts(&self, key: &str) -> Result<Option<Vec<&str>>, Defect> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let Value::List(list) = value else { return Err(Defect::unknown(key, "no list", "a list of texts")) };
        let texts = list.iter().map(|value| if let Value::Text(text) = value { Some(text.as_str()) } else { None });
        let texts: Option<Vec<&str>> = texts.collect();
        texts.map(Some).ok_or_else(|| Defect::unknown(key, "a list of something else", "a list of texts"))
    }

    /// A list of integers, if the key is there.
    pub fn integers(&self, key: &str) -> Result<Option<Vec<i64>>, Defect> {
        self.typed(key, "a list of integers", |value| {
            let Value::List(list) = value else { return None };
            list.iter().map(|v| if let Value::Integer(v) = v { Some(*v) } else { None }).collect()
        })
    }
}
