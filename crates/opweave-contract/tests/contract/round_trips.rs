// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What is written is read back: arguments through assemble and visit, problems through their text.

use opweave_contract::{DynDims, DynProblem, FactValue, Operator};
use opweave_tensor::DType;
use proptest::prelude::*;

use crate::calls::{Seen, Source, assemble, dims, problems, shown, specs};
use crate::probe::{Probe, ProbeProblem, Side};

type Named = (&'static str, usize);

fn arguments<O: Operator>() -> Named {
    let all = problems::<O>();
    for problem in &all {
        let specs = specs::<O>(problem);
        let args = assemble::<O>(&specs, Source { padding: 4, ..Source::new(dims::<O>()) });
        let mut seen = Seen::default();
        O::visit(&args, &mut seen);
        // What the source supplied, in the order of the signature.
        let mut supplied = Seen::default();
        let mut source = Source { padding: 4, ..Source::new(dims::<O>()) };
        for (index, spec) in specs.tensors().enumerate() {
            use opweave_contract::{ArgSource, ArgVisitor};
            let view = spec.present.then(|| source.tensor(index, spec).unwrap());
            supplied.tensor(index, view.as_ref());
        }
        for (index, scalar) in O::signature().scalars.iter().enumerate() {
            use opweave_contract::ArgVisitor;
            supplied.scalar(index, if scalar.ty == "f32" { f64::from(scalar.default as f32) } else { scalar.default });
        }
        assert_eq!(seen, supplied, "{} {problem:?}", O::NAME);
        assert_eq!(O::dims(&specs, &args), shown::<O>(&specs), "{}: the dimensions of a valid call", O::NAME);
    }
    (O::NAME, all.len())
}

fn texts<O: Operator>() -> Named {
    let all = problems::<O>();
    for problem in &all {
        let facts = O::all_facts(problem);
        let pairs: Vec<String> = facts.to_string().split(' ').map(str::to_owned).collect();
        assert_eq!(O::problem_from(&pairs).unwrap(), *problem, "{facts}");
        assert_eq!(O::all_facts(problem).iter().count(), pairs.len());
        assert!(O::CONTRACTS.contains(&O::contract(problem)), "{facts}");
        assert_eq!(O::validate(problem), Ok(()));
    }
    (O::NAME, all.len())
}

/// Inference: outputs from metadata alone are the outputs of a real call.
fn outputs<O: Operator>() -> Named {
    let all = problems::<O>();
    for problem in &all {
        let specs = specs::<O>(problem);
        for rows in [0, 1, 5] {
            let dims = DynDims::new(&O::signature().dims.iter().map(|d| d.min.max(rows)).collect::<Vec<_>>());
            let args = assemble::<O>(&specs, Source::new(dims));
            let mut real = Vec::new();
            struct Outputs<'a>(&'a opweave_contract::ArgSpecs, &'a mut Vec<(&'static str, String)>);
            impl opweave_contract::ArgVisitor for Outputs<'_> {
                fn tensor(&mut self, index: usize, tensor: Option<&opweave_tensor::RawTensor>) {
                    let spec = self.0.tensor(index).unwrap();
                    if let (Some(view), true) = (tensor, spec.role.writes()) {
                        self.1.push((spec.name, format!("{:?} {} {}", view.shape(), view.dtype(), view.device())));
                    }
                }
                fn scalar(&mut self, _: usize, _: f64) {}
            }
            O::visit(&args, &mut Outputs(&specs, &mut real));
            let inferred: Vec<_> = specs
                .outputs(&dims)
                .into_iter()
                .map(|o| (o.name, format!("{:?} {} {}", o.shape, o.dtype, o.device)))
                .collect();
            assert_eq!(inferred, real, "{} {problem:?}", O::NAME);
            assert!(!real.is_empty(), "{} writes something", O::NAME);
        }
    }
    (O::NAME, all.len())
}

#[test]
fn assemble_and_visit_are_inverse() {
    for (operation, count) in for_each_operator!(arguments) {
        assert!(count > 3, "{operation}: only {count} problems");
    }
}

#[test]
fn problems_print_and_parse() {
    for_each_operator!(texts);
}

#[test]
fn inferred_outputs_are_the_outputs_of_a_call() {
    for_each_operator!(outputs);
}

proptest! {
    #[test]
    fn any_legal_probe_problem_survives_its_text(
        heads in prop::sample::select(&[2_usize, 4, 8][..]),
        per_head in 1_usize..512,
        dtype in prop::sample::select(&[DType::F32, DType::BF16, DType::F8E4M3][..]),
        scale in any::<bool>(),
        log in any::<bool>(),
        right in any::<bool>(),
        causal in any::<bool>(),
        window in prop::option::of(1_usize..4096),
        alignments in prop::collection::vec(prop::option::of(0_u32..=12), 8),
        contiguous in prop::collection::vec(any::<bool>(), 8),
        constant in prop::collection::vec(any::<bool>(), 8),
        bounds in (prop::option::of(0_usize..usize::MAX), prop::option::of(1_usize..usize::MAX)),
    ) {
        let mut problem = ProbeProblem::new(heads * per_head, heads, dtype);
        problem.scale_dtype = scale.then_some(DType::F32);
        problem.log_dtype = log.then_some(DType::F32);
        problem.side = if right { Side::Right } else { Side::Left };
        problem.causal = causal;
        problem.window = window.filter(|w| *w <= problem.width);
        for index in 0..8 {
            let alignment = alignments[index].map_or(0, |log2| 1 << log2);
            let read_only = !Probe::signature().tensors[index].role.writes();
            let promise = opweave_contract::Promise {
                alignment,
                contiguous: contiguous[index],
                constant: constant[index] && read_only,
            };
            problem.promises = problem.promises.with(index, promise);
        }
        for (index, bound) in [bounds.0, bounds.1].into_iter().enumerate() {
            if let Some(bound) = bound {
                problem.bounds = problem.bounds.with(index, bound);
            }
        }
        let legal = problem.width <= 4096;
        prop_assert_eq!(Probe::validate(&problem).is_ok(), legal);
        if legal {
            let text = Probe::all_facts(&problem).to_string();
            let pairs: Vec<&str> = text.split(' ').collect();
            prop_assert_eq!(Probe::problem_from(&pairs).unwrap(), problem);
            prop_assert_eq!(Probe::contract(&problem).numerical_mode.name, if right { "side=right" } else { "side=left" });
        }
    }
}

#[test]
fn a_problem_without_its_type_is_compared_by_operation_and_facts() {
    let narrow = ProbeProblem::new(8, 2, DType::F32);
    let a = DynProblem::new::<Probe>(narrow);
    assert_eq!(a, DynProblem::new::<Probe>(narrow));
    assert_ne!(a, DynProblem::new::<Probe>(ProbeProblem::new(16, 2, DType::F32)));
    assert_eq!(a.get::<Probe>(), Some(&narrow));
    assert!(a.get::<opweave_contract::ops::normalization::RmsNorm>().is_none());
    assert_eq!(a.facts().get("heads"), Some(FactValue::Int(2)));
    assert_eq!(a.describe().unwrap().tensors().len(), 8);
    let dims = DynDims::new(&[3, 2]);
    assert_eq!(a.cost(&dims), Probe::cost(&narrow, &dims));
    assert_eq!(a.to_string(), format!("probe {}", Probe::all_facts(&narrow)));
}

#[test]
fn streaming_cost_counts_each_tensor_once_by_its_role() {
    let problem = ProbeProblem::new(8, 2, DType::BF16);
    let cost = Probe::cost(&problem, &DynDims::new(&[3, 2]));
    let (input, weight, indptr, lengths, state, out, log) =
        (3 * 8 * 2, 8 * 8 * 2, 3 * 4, 2 * 4, 2 * 8 * 4, 3 * 8 * 2, 3 * 2 * 4);
    assert_eq!(cost.bytes_read, input + weight + indptr + lengths + state);
    assert_eq!(cost.bytes_written, state + out + log);
    assert_eq!(cost.flops, 48);
}
