// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Reading and checking problems: the parts that do not depend on the operator.

use std::cell::Cell;

use crate::{Bounds, FactType, Facts, Legal, ProblemError, Promises, Signature, promise};

/// The `k=v` pairs of a problem, each to be taken once.
#[derive(Debug)]
pub struct ProblemText<'a> {
    signature: &'static Signature,
    pairs: Vec<(&'a str, &'a str, Cell<bool>)>,
}

impl<'a> ProblemText<'a> {
    /// Splits `pairs` at their first `=`.
    ///
    /// # Errors
    /// [`ProblemError::Syntax`] for text without `=` or a name given twice.
    pub fn new<S: AsRef<str>>(signature: &'static Signature, pairs: &'a [S]) -> Result<Self, ProblemError> {
        let operation = signature.operation;
        let mut split: Vec<(&str, &str, Cell<bool>)> = Vec::with_capacity(pairs.len());
        for text in pairs.iter().map(|p| p.as_ref().trim()) {
            let syntax = |expected| ProblemError::Syntax { operation, text: text.to_owned(), expected };
            let (name, value) = text.split_once('=').ok_or_else(|| syntax("name=value"))?;
            let (name, value) = (name.trim(), value.trim());
            if split.iter().any(|(n, ..)| *n == name) {
                return Err(syntax("each name once"));
            }
            split.push((name, value, Cell::new(false)));
        }
        Ok(ProblemText { signature, pairs: split })
    }

    /// Takes the fact `name`, or `default` where it is not given.
    ///
    /// # Errors
    /// [`ProblemError::Missing`] without a default, [`ProblemError::Illegal`] for a value that does not parse.
    pub fn take<T: FactType>(&self, name: &'static str, default: Option<T>) -> Result<T, ProblemError> {
        let operation = self.signature.operation;
        let legal = || self.legal_text(name).unwrap_or_else(T::legal);
        match self.pairs.iter().find(|(n, ..)| *n == name) {
            Some((_, value, taken)) => {
                taken.set(true);
                T::parse(value).ok_or_else(|| ProblemError::Illegal {
                    operation,
                    name: name.to_owned(),
                    value: (*value).to_owned(),
                    legal: legal(),
                })
            }
            None => default.ok_or_else(|| ProblemError::Missing { operation, name, legal: legal() }),
        }
    }

    fn legal_text(&self, name: &str) -> Option<String> {
        self.signature.facts.iter().find(|f| f.name == name).map(|f| f.legal_text())
    }

    /// Takes promises and bounds, and refuses what nobody took.
    ///
    /// # Errors
    /// [`ProblemError::Unknown`] with the nearest spelling.
    pub fn finish(self) -> Result<(Promises, Bounds), ProblemError> {
        let (mut promises, mut bounds) = (Promises::default(), Bounds::default());
        for (name, value, taken) in &self.pairs {
            if taken.get() || promise::parse_fact(self.signature, name, value, &mut promises, &mut bounds)? {
                continue;
            }
            let mut known: Vec<String> = self.signature.facts.iter().map(|f| f.name.to_owned()).collect();
            known.extend(self.signature.dims.iter().map(|d| format!("{}.max", d.name)));
            known.extend(self.signature.tensors.iter().map(|t| format!("{}.align", t.name)));
            known.extend(self.signature.tensors.iter().map(|t| format!("{}.contiguous", t.name)));
            let hint = nearest(name, known.iter().map(String::as_str))
                .map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
            let operation = self.signature.operation;
            return Err(ProblemError::Unknown { operation, name: (*name).to_owned(), known, hint });
        }
        Ok((promises, bounds))
    }
}

/// Checks the facts of a problem against the signature's legal sets and relations.
///
/// # Errors
/// [`ProblemError::Illegal`] naming the first offending fact.
pub fn validate_facts(signature: &Signature, facts: &Facts) -> Result<(), ProblemError> {
    for param in signature.facts {
        let Some(value) = facts.get(param.name) else { continue };
        if param.legal != Legal::Any && !param.legal.admits(value) {
            return Err(ProblemError::Illegal {
                operation: signature.operation,
                name: param.name.to_owned(),
                value: value.to_string(),
                legal: param.legal_text(),
            });
        }
    }
    for relation in signature.relations {
        if !relation.holds(facts) {
            let (left, right) = relation.facts();
            let shown = |name| facts.get(name).map_or_else(|| "none".to_owned(), |v| v.to_string());
            return Err(ProblemError::Illegal {
                operation: signature.operation,
                name: left.to_owned(),
                value: shown(left),
                legal: format!("{relation} (here {right}={})", shown(right)),
            });
        }
    }
    Ok(())
}

/// The nearest spelling among `known`, if one is near. Case does not count: names are case-sensitive, so a word in the
/// wrong case needs the hint most.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(&word, &k.to_lowercase()), k))
        .min()
        .filter(|&(distance, k)| distance <= 2.max(k.len() / 3))
        .map(|(_, k)| k)
}
