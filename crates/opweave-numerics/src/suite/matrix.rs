// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Plain cases out of matrices of facts and dimensions.

use opweave_contract::{Operator, ProblemError};

use super::Case;

/// One axis of a matrix: a fact and the values it takes, each with its place in the label; an empty place says nothing.
#[derive(Clone, Debug)]
pub struct Axis {
    fact: &'static str,
    values: Vec<(String, String)>,
}

impl Axis {
    /// A fact that takes `values`, each of which stands in the label as it is.
    pub fn new(fact: &'static str, values: &[&str]) -> Axis {
        Axis { fact, values: values.iter().map(|v| ((*v).to_owned(), (*v).to_owned())).collect() }
    }

    /// A size that takes `values`, each of which stands in the label behind `prefix`.
    pub fn sizes(fact: &'static str, prefix: &str, values: &[usize]) -> Axis {
        Axis { fact, values: values.iter().map(|v| (v.to_string(), format!("{prefix}{v}"))).collect() }
    }

    /// A fact whose values stand in the label under other words.
    pub fn named(fact: &'static str, values: &[(&str, &str)]) -> Axis {
        Axis { fact, values: values.iter().map(|(v, l)| ((*v).to_owned(), (*l).to_owned())).collect() }
    }
}

/// Cases for every combination of `dims` and the values of `axes`, in that order. A label is the parts of its dimensions and
/// values, joined by `_`: `t4_h4096_bf16`.
///
/// # Errors
/// [`ProblemError`] for a combination that is no legal problem: a matrix says what it means, so nothing is left out.
pub fn tensor_suite<O: Operator>(dims: &[(&str, &[usize])], axes: &[Axis]) -> Result<Vec<Case<O>>, ProblemError> {
    let mut cases = Vec::new();
    for &(part, sizes) in dims {
        let mut combinations: Vec<(Vec<String>, Vec<String>)> = vec![(Vec::new(), vec![part.to_owned()])];
        for axis in axes {
            let extend = |(facts, label): (Vec<String>, Vec<String>)| {
                axis.values.iter().map(move |(value, place)| {
                    let (mut facts, mut label) = (facts.clone(), label.clone());
                    facts.push(format!("{}={value}", axis.fact));
                    label.push(place.clone());
                    (facts, label)
                })
            };
            combinations = combinations.into_iter().flat_map(extend).collect();
        }
        for (facts, label) in combinations {
            let label: Vec<String> = label.into_iter().filter(|part| !part.is_empty()).collect();
            cases.push(Case::new(label.join("_"), O::problem_from(&facts)?, sizes));
        }
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use opweave_contract::ops::normalization::RmsNorm;

    use super::*;

    #[test]
    fn every_combination_has_its_dimensions_in_its_label() {
        let axes = [
            Axis::sizes("hidden_size", "h", &[64, 769]),
            Axis::new("dtype", &["bf16", "f32"]),
            Axis::named("weight_multiply", &[("f32", ""), ("after_rounding", "after")]),
        ];
        let cases = tensor_suite::<RmsNorm>(&[("t1", &[1]), ("t7", &[7])], &axes).unwrap();
        let labels: Vec<&str> = cases.iter().map(|c| c.label.as_str()).collect();
        assert_eq!(labels.len(), 16);
        assert_eq!(labels[..4], ["t1_h64_bf16", "t1_h64_bf16_after", "t1_h64_f32", "t1_h64_f32_after"]);
        assert_eq!((cases[15].label.as_str(), cases[15].dims.as_slice()), ("t7_h769_f32_after", &[7_usize][..]));
        assert!(cases.iter().all(|c| c.check().is_ok()));
        assert!(tensor_suite::<RmsNorm>(&[("t1", &[1])], &[Axis::sizes("hidden_size", "h", &[0])]).is_err());
    }
}
