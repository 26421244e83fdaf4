// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Reading and checking problems: the parts that do not depend on the operator.

use crate::{Bounds, FactType, Facts, Legal, ProblemError, Promises, Signature, promise};

/// The `k=v` pairs of a problem: facts to be taken, and the promises and bounds among them.
#[derive(Debug)]
pub struct ProblemText<'a> {
    signature: &'static Signature,
    facts: Vec<(&'a str, &'a str)>,
    promises: Promises,
    bounds: Bounds,
}

impl<'a> ProblemText<'a> {
    /// Splits `pairs` at their first `=`. What the operator does not have is refused first, so that a misspelt fact is not
    /// taken for a missing one.
    ///
    /// # Errors
    /// [`ProblemError::Syntax`] for text without `=` or a name given twice, [`ProblemError::Unknown`] with the nearest
    /// spelling, [`ProblemError::Illegal`] for a promise or bound outside its legal set.
    pub fn new<S: AsRef<str>>(signature: &'static Signature, pairs: &'a [S]) -> Result<Self, ProblemError> {
        let operation = signature.operation;
        let mut names: Vec<&str> = Vec::with_capacity(pairs.len());
        let (promises, bounds) = (Promises::default(), Bounds::default());
        let mut split = ProblemText { signature, facts: Vec::with_capacity(pairs.len()), promises, bounds };
        for text in pairs.iter().map(|p| p.as_ref().trim()) {
            let syntax = |expected| ProblemError::Syntax { operation, text: text.to_owned(), expected };
            let (name, value) = text.split_once('=').ok_or_else(|| syntax("name=value"))?;
            let (name, value) = (name.trim(), value.trim());
            if names.contains(&name) {
                return Err(syntax("each name once"));
            }
            names.push(name);
            if signature.facts.iter().any(|f| f.name == name) {
                split.facts.push((name, value));
            } else if !promise::parse_fact(signature, name, value, &mut split.promises, &mut split.bounds)? {
                return Err(unknown(signature, name));
            }
        }
        Ok(split)
    }

    /// Takes the fact `name`, or `default` where it is not given.
    ///
    /// # Errors
    /// [`ProblemError::Missing`] without a default, [`ProblemError::Illegal`] for a value that does not parse.
    pub fn take<T: FactType>(&self, name: &'static str, default: Option<T>) -> Result<T, ProblemError> {
        let operation = self.signature.operation;
        let legal = || self.legal_text(name).unwrap_or_else(T::legal);
        match self.facts.iter().find(|(n, _)| *n == name) {
            Some((_, value)) => T::parse(value).ok_or_else(|| ProblemError::Illegal {
                operation,
                name: name.to_owned(),
                value: (*value).to_owned(),
                legal: legal(),
            }),
            None => default.ok_or_else(|| ProblemError::Missing { operation, name, legal: legal() }),
        }
    }

    fn legal_text(&self, name: &str) -> Option<String> {
        self.signature.facts.iter().find(|f| f.name == name).map(|f| f.legal_text())
    }

    /// The promises and bounds.
    pub fn finish(self) -> (Promises, Bounds) {
        (self.promises, self.bounds)
    }
}

/// The error for a name that is no fact, promise or bound of the operator.
fn unknown(signature: &Signature, name: &str) -> ProblemError {
    let mut known: Vec<String> = signature.facts.iter().map(|f| f.name.to_owned()).collect();
    known.extend(signature.dims.iter().map(|d| format!("{}.max", d.name)));
    known.extend(signature.tensors.iter().map(|t| format!("{}.align", t.name)));
    known.extend(signature.tensors.iter().map(|t| format!("{}.contiguous", t.name)));
    let hint = nearest(name, known.iter().map(String::as_str));
    let hint = hint.map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
    ProblemError::Unknown { operation: signature.operation, name: name.to_owned(), known, hint }
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
