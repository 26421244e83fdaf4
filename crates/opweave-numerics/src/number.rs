// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Numbers in reports: JSON has no NaN and no infinity, and a report must not lose them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A number that is written as a JSON number if it is finite, and as `"NaN"`, `"inf"` or `"-inf"` otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Number(pub f64);

impl From<f64> for Number {
    fn from(value: f64) -> Number {
        Number(value)
    }
}

impl fmt::Display for Number {
    /// Shortest text for ordinary magnitudes, an exponent for the rest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        if self.0.is_finite() && magnitude != 0.0 && !(1e-3..1e7).contains(&magnitude) {
            write!(f, "{:.4e}", self.0)
        } else {
            write!(f, "{}", self.0)
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { serializer.serialize_f64(self.0) } else { serializer.collect_str(&self.0) }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, \"NaN\", \"inf\" or \"-inf\"")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
                Ok(Number(value))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value as f64))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
                match text {
                    "NaN" => Ok(Number(f64::NAN)),
                    "inf" => Ok(Number(f64::INFINITY)),
                    "-inf" => Ok(Number(f64::NEG_INFINITY)),
                    _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number; a string where it is not finite, because JSON has no such numbers.",
            "oneOf": [{ "type": "number" }, { "enum": ["NaN", "inf", "-inf"] }]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_survives_json() {
        for value in [0.0, -0.0, 1.5, -1e300, 5e-324, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let text = serde_json::to_string(&Number(value)).unwrap();
            let back: Number = serde_json::from_str(&text).unwrap();
            assert!(back.0 == value || (back.0.is_nan() && value.is_nan()), "{text}");
            assert_eq!(text.starts_with('"'), !value.is_finite(), "{text}");
        }
        assert_eq!(serde_json::from_str::<Number>("3").unwrap(), Number(3.0));
        for text in ["\"nan\"", "null", "\"1\"", "true"] {
            assert!(serde_json::from_str::<Number>(text).is_err(), "{text}");
        }
    }
}
