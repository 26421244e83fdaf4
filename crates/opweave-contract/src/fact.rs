// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Facts: the named values that a problem consists of.
//!
//! One list of facts feeds the input domains of kernels, the key of the measured profile, printing, and the `k=v` text of
//! the command line.

use std::fmt;
use std::hash::Hash;
use std::num::NonZero;

use opweave_tensor::DType;

/// The value of one fact.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum FactValue {
    /// A size or count.
    Int(u64),
    /// An element type.
    DType(DType),
    /// One of a closed set of words.
    Word(&'static str),
    /// A flag.
    Flag(bool),
    /// An optional value that is absent.
    None,
}

impl FactValue {
    /// The number, if it is one.
    pub const fn int(self) -> Option<u64> {
        match self {
            FactValue::Int(n) => Some(n),
            _ => None,
        }
    }
}

impl fmt::Display for FactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactValue::Int(n) => n.fmt(f),
            FactValue::DType(d) => d.fmt(f),
            FactValue::Word(w) => f.pad(w),
            FactValue::Flag(b) => f.pad(if *b { "true" } else { "false" }),
            FactValue::None => f.pad("none"),
        }
    }
}

/// A Rust type that can be the type of a fact.
pub trait FactType: Copy + Eq + Hash + fmt::Debug + Send + Sync + 'static {
    /// Whether the value may be absent.
    const OPTIONAL: bool = false;
    /// The legal spellings, for messages and pages.
    fn legal() -> String;
    /// The value as data.
    fn value(self) -> FactValue;
    /// Reads the text form.
    fn parse(text: &str) -> Option<Self>;
    /// Every value, where the set is closed and small; empty otherwise.
    fn all() -> Vec<FactValue> {
        Vec::new()
    }
}

impl FactType for usize {
    fn legal() -> String {
        "a non-negative integer".to_owned()
    }
    fn value(self) -> FactValue {
        FactValue::Int(self as u64)
    }
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl FactType for NonZero<usize> {
    fn legal() -> String {
        "a positive integer".to_owned()
    }
    fn value(self) -> FactValue {
        FactValue::Int(self.get() as u64)
    }
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl FactType for bool {
    fn legal() -> String {
        "true or false".to_owned()
    }
    fn value(self) -> FactValue {
        FactValue::Flag(self)
    }
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn all() -> Vec<FactValue> {
        vec![FactValue::Flag(false), FactValue::Flag(true)]
    }
}

impl FactType for DType {
    fn legal() -> String {
        "a dtype".to_owned()
    }
    fn value(self) -> FactValue {
        FactValue::DType(self)
    }
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl<T: FactType> FactType for Option<T> {
    const OPTIONAL: bool = true;
    fn legal() -> String {
        format!("{} or none", T::legal())
    }
    fn value(self) -> FactValue {
        self.map_or(FactValue::None, T::value)
    }
    fn parse(text: &str) -> Option<Self> {
        if text == "none" { Some(None) } else { T::parse(text).map(Some) }
    }
    fn all() -> Vec<FactValue> {
        let mut all = T::all();
        if !all.is_empty() {
            all.push(FactValue::None);
        }
        all
    }
}

/// Receives the facts of a problem in the order of its declaration.
pub trait FactVisitor {
    /// One fact.
    fn fact(&mut self, name: &'static str, value: FactValue);
}

/// The facts of a problem, collected. Ordered as declared; prints as `k=v` separated by spaces.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Facts(Vec<(String, FactValue)>);

impl Facts {
    /// Appends a fact whose name is put together, such as a promise or a bound.
    pub fn push(&mut self, name: String, value: FactValue) {
        self.0.push((name, value));
    }

    /// The value of a fact.
    pub fn get(&self, name: &str) -> Option<FactValue> {
        self.0.iter().find(|(n, _)| n == name).map(|&(_, v)| v)
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, FactValue)> {
        self.0.iter().map(|(n, v)| (n.as_str(), *v))
    }
}

impl FactVisitor for Facts {
    fn fact(&mut self, name: &'static str, value: FactValue) {
        self.0.push((name.to_owned(), value));
    }
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={value}", if i > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

/// Declares an enum whose variants are words of a problem: a numerical mode, a form, a layout.
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $vis enum $name { $($(#[$vmeta])* $variant),* }

        impl $crate::FactType for $name {
            fn legal() -> String {
                [$($word),*].join(" or ")
            }
            fn value(self) -> $crate::FactValue {
                $crate::FactValue::Word(match self { $($name::$variant => $word),* })
            }
            fn parse(text: &str) -> Option<Self> {
                match text { $($word => Some($name::$variant),)* _ => None }
            }
            fn all() -> Vec<$crate::FactValue> {
                vec![$($crate::FactValue::Word($word)),*]
            }
        }
    };
}
