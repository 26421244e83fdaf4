// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The input domain of a row, as data with four readers: it prints, it filters selection, it tells the numerics harness
//! which cases do not apply, and it generates the boundary cases.

use std::fmt;

use opweave_contract::{ArgSpecs, FactValue, Facts, Operator, Promise, Relation, Signature, TensorSpec};
use opweave_device::{DeviceKey, ImageTarget};
use opweave_tensor::DType;

use crate::Reject;
use crate::reject::tuples;

/// A size in bytes that is linear in facts: `constant + sum(coefficient * fact)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linear {
    /// The fixed part.
    pub constant: u64,
    /// Coefficients and facts.
    pub terms: Vec<(u64, &'static str)>,
}

impl Linear {
    fn value(&self, facts: &Facts) -> u64 {
        let term = |&(k, fact): &(u64, &str)| facts.get(fact).and_then(FactValue::int).unwrap_or(0).saturating_mul(k);
        self.terms.iter().map(term).fold(self.constant, u64::saturating_add)
    }
}

impl fmt::Display for Linear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.constant)?;
        self.terms.iter().try_for_each(|(k, fact)| write!(f, " + {k}*{fact}"))
    }
}

/// A library with the oldest version that will do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Library {
    /// Its name.
    pub name: &'static str,
    /// The oldest version.
    pub minimum: &'static str,
}

/// One condition of a domain.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Domain {
    /// The dtypes of these facts form one of these tuples; `None` is an absent tensor.
    DTypes(Vec<&'static str>, Vec<Vec<Option<DType>>>),
    /// A fact lies in `min..=max`.
    Range(&'static str, u64, u64),
    /// A fact is a multiple.
    Multiple(&'static str, u64),
    /// A fact is one of these integers.
    Ints(&'static str, Vec<u64>),
    /// A fact is one of these words: flags and modes.
    Words(&'static str, Vec<&'static str>),
    /// Two facts relate.
    Relation(Relation),
    /// The problem promises at least this of a tensor.
    Promise(&'static str, Promise),
    /// Shared memory of a block, against the device's limit.
    SharedMemory(Linear),
}

/// The input domain of a row. Empty means: wherever its contract applies.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Needs {
    domains: Vec<Domain>,
    features: Vec<&'static str>,
    images: Vec<ImageTarget>,
    libraries: Vec<Library>,
}

impl Needs {
    /// Adds a condition on the problem.
    #[must_use]
    pub fn with(mut self, domain: Domain) -> Self {
        self.domains.push(domain);
        self
    }

    /// Adds device features that must all be there.
    #[must_use]
    pub fn features(mut self, features: &[&'static str]) -> Self {
        self.features.extend_from_slice(features);
        self
    }

    /// Adds images, one of which must run on the device.
    #[must_use]
    pub fn images(mut self, images: &[ImageTarget]) -> Self {
        self.images.extend_from_slice(images);
        self
    }

    /// Adds a library.
    #[must_use]
    pub fn library(mut self, name: &'static str, minimum: &'static str) -> Self {
        self.libraries.push(Library { name, minimum });
        self
    }

    /// The conditions on the problem.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// The libraries.
    pub fn libraries(&self) -> &[Library] {
        &self.libraries
    }

    /// The first name in a condition that is neither a fact nor a tensor of the operator: a spelling that would make the
    /// row never apply, or always.
    pub fn unknown_name(&self, signature: &Signature) -> Option<&'static str> {
        let fact = |name: &str| {
            let promised = |n: &str, field: &str| match field {
                "align" | "contiguous" => signature.tensor(n).is_some(),
                "max" => signature.dim(n).is_some(),
                _ => false,
            };
            signature.facts.iter().any(|f| f.name == name) || name.split_once('.').is_some_and(|(n, f)| promised(n, f))
        };
        let first = |names: &[&'static str]| names.iter().copied().find(|name| !fact(name));
        self.domains.iter().find_map(|domain| match domain {
            Domain::DTypes(names, _) => first(names),
            Domain::Range(name, ..) | Domain::Multiple(name, _) => first(&[name]),
            Domain::Ints(name, _) => first(&[name]),
            Domain::Words(name, _) => first(&[name]),
            Domain::Relation(relation) => first(&[relation.facts().0, relation.facts().1]),
            Domain::SharedMemory(size) => size.terms.iter().map(|&(_, name)| name).find(|name| !fact(name)),
            Domain::Promise(tensor, _) => signature.tensor(tensor).is_none().then_some(*tensor),
        })
    }

    /// Checks the device: features and images.
    ///
    /// # Errors
    /// The first [`Reject`].
    pub fn admits_device(&self, key: &DeviceKey) -> Result<(), Reject> {
        let missing: Vec<String> = self.features.iter().filter(|f| !key.has(f)).map(|f| (*f).to_owned()).collect();
        if !missing.is_empty() {
            return Err(Reject::Feature { missing, has: key.features().to_vec() });
        }
        match key.capability() {
            Some(device) if !self.images.is_empty() && !self.images.iter().any(|image| image.runs_on(device)) => {
                return Err(Reject::Target { images: self.images.clone(), device });
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks a problem, given by its arguments, which hold its promises, and its facts.
    ///
    /// # Errors
    /// The first [`Reject`], in the order in which the conditions were added.
    pub fn admits(&self, specs: &ArgSpecs, facts: &Facts, key: &DeviceKey) -> Result<(), Reject> {
        self.domains.iter().try_for_each(|domain| domain.admits(specs, facts, key))
    }

    /// Checks a typed problem.
    ///
    /// # Errors
    /// As [`Needs::admits`].
    pub fn admits_problem<O: Operator>(&self, problem: &O::Problem, key: &DeviceKey) -> Result<(), Reject> {
        self.admits(&O::describe(problem), &O::all_facts(problem), key)
    }

    /// Values of integer facts on both sides of every boundary of the domain: where its test cases come from.
    pub fn boundaries(&self) -> Vec<(&'static str, u64)> {
        let around = |v: u64| [v.saturating_sub(1), v, v.saturating_add(1)];
        let mut values = Vec::new();
        for domain in &self.domains {
            match domain {
                Domain::Range(fact, min, max) => {
                    let edges = [min.checked_sub(1), Some(*min), min.checked_add(1), Some(*max), max.checked_add(1)];
                    values.extend(edges.into_iter().flatten().map(|v| (*fact, v)));
                }
                Domain::Multiple(fact, of) => {
                    let twice = of.saturating_mul(2);
                    let edges = [*of, twice].into_iter().flat_map(around);
                    values.extend(edges.map(|v| (*fact, v)));
                }
                Domain::Ints(fact, set) => {
                    values.extend(set.iter().copied().flat_map(around).map(|v| (*fact, v)));
                }
                _ => {}
            }
        }
        values.sort_unstable();
        values.dedup();
        values
    }
}

impl Domain {
    /// Checks a problem against this condition.
    ///
    /// # Errors
    /// The [`Reject`] that says what is outside.
    pub fn admits(&self, specs: &ArgSpecs, facts: &Facts, key: &DeviceKey) -> Result<(), Reject> {
        let outside =
            |fact: &str, value, text: String| Err(Reject::Dimension { fact: fact.to_owned(), value, domain: text });
        let value = |fact: &str| facts.get(fact).unwrap_or(FactValue::None);
        match self {
            Domain::DTypes(names, covered) => {
                let values: Vec<FactValue> = names.iter().map(|n| value(n)).collect();
                let dtype = |v: &FactValue| if let FactValue::DType(d) = v { Some(*d) } else { None };
                let tuple: Vec<Option<DType>> = values.iter().map(dtype).collect();
                if covered.contains(&tuple) {
                    return Ok(());
                }
                Err(Reject::DTypes { facts: names.clone(), values, covered: covered.clone() })
            }
            Domain::Range(fact, min, max) => match value(fact) {
                FactValue::Int(n) if (*min..=*max).contains(&n) => Ok(()),
                other => outside(fact, other, format!("{min}..={max}")),
            },
            Domain::Multiple(fact, of) => match value(fact) {
                FactValue::Int(n) if n % (*of).max(1) == 0 => Ok(()),
                other => outside(fact, other, format!("multiples of {of}")),
            },
            Domain::Ints(fact, set) => match value(fact) {
                FactValue::Int(n) if set.contains(&n) => Ok(()),
                other => outside(fact, other, format!("{set:?}")),
            },
            Domain::Words(fact, words) => {
                let shown = value(fact).to_string();
                if words.iter().any(|w| *w == shown) {
                    return Ok(());
                }
                outside(fact, value(fact), words.join(" or "))
            }
            Domain::Relation(relation) if relation.holds(facts) => Ok(()),
            Domain::Relation(relation) => {
                let (left, right) = relation.facts();
                Err(Reject::Relation {
                    relation: relation.to_string(),
                    left: format!("{left} = {}", value(left)),
                    right: format!("{right} = {}", value(right)),
                })
            }
            Domain::Promise(argument, needs) => {
                let has = specs.signature().tensor(argument).and_then(|i| specs.tensor(i));
                // A tensor that the problem leaves out keeps every promise; one that it has is aligned to an element.
                let kept = |s: &TensorSpec| {
                    s.alignment() >= needs.alignment
                        && s.promise.contiguous >= needs.contiguous
                        && s.promise.constant >= needs.constant
                };
                if has.is_some_and(|s| !s.present || kept(s)) {
                    return Ok(());
                }
                let has = has.map(|s| s.promise).unwrap_or_default();
                Err(Reject::Promise { argument, needs: promise_text(needs), has: promise_text(&has) })
            }
            Domain::SharedMemory(size) => {
                let (needs, has) = (size.value(facts), key.limits().shared_memory);
                if needs <= has { Ok(()) } else { Err(Reject::Resource { resource: "shared memory", needs, has }) }
            }
        }
    }
}

fn promise_text(promise: &Promise) -> String {
    let mut parts = Vec::new();
    if promise.alignment > 0 {
        parts.push(format!("aligned to {} bytes", promise.alignment));
    }
    if promise.contiguous {
        parts.push("contiguous".to_owned());
    }
    if promise.constant {
        parts.push("constant".to_owned());
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(" and ") }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Domain::DTypes(names, covered) => write!(f, "({}) in {}", names.join(", "), tuples(covered)),
            Domain::Range(fact, min, u64::MAX) => write!(f, "{fact} >= {min}"),
            Domain::Range(fact, 0, max) => write!(f, "{fact} <= {max}"),
            Domain::Range(fact, min, max) => write!(f, "{min} <= {fact} <= {max}"),
            Domain::Multiple(fact, of) => write!(f, "{fact} % {of} == 0"),
            Domain::Ints(fact, set) => write!(f, "{fact} in {set:?}"),
            Domain::Words(fact, words) => write!(f, "{fact} is {}", words.join(" or ")),
            Domain::Relation(relation) => relation.fmt(f),
            Domain::Promise(argument, promise) => write!(f, "{argument} {}", promise_text(promise)),
            Domain::SharedMemory(size) => write!(f, "shared memory {size} bytes"),
        }
    }
}

impl fmt::Display for Needs {
    /// The descriptive `input_domain`, conditions separated by `; `. Nothing for no needs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        if !self.features.is_empty() {
            parts.push(format!("device has {}", self.features.join(", ")));
        }
        if !self.images.is_empty() {
            let images: Vec<String> = self.images.iter().map(ImageTarget::to_string).collect();
            parts.push(format!("images {}", images.join(", ")));
        }
        parts.extend(self.libraries.iter().map(|l| format!("{} >= {}", l.name, l.minimum)));
        parts.extend(self.domains.iter().map(Domain::to_string));
        f.pad(&parts.join("; "))
    }
}
