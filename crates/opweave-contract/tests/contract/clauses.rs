// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Every clause of every operator's contract, broken one at a time: a typed error that names argument, clause, expected and
//! actual.

use std::collections::BTreeSet;

use opweave_contract::{ArgSpecs, Clause, ContractError, DynDims, Operator, Role};
use opweave_tensor::{DType, DeviceId, DeviceKind, LayoutId, RawTensor};

use crate::calls::{DEVICE, Source, address, assemble, bounds, dims, problems, shown, shows, specs, with_facts};

type Covered = (&'static str, BTreeSet<&'static str>);

/// Breaks clauses of one operator for one problem and keeps count of those that it broke.
struct Breaker<'a, O: Operator> {
    problem: &'a O::Problem,
    specs: &'a ArgSpecs,
    covered: &'a mut BTreeSet<&'static str>,
}

impl<O: Operator> Breaker<'_, O> {
    fn check(&self, specs: &ArgSpecs, source: Source<'_>) -> Result<DynDims, ContractError> {
        O::check(specs, &assemble::<O>(self.specs, source))
    }

    /// The call in which tensor `index` is replaced breaks `clause`, of one of `arguments`.
    fn broken(&mut self, what: &str, clause: Clause, arguments: &[&str], result: Result<DynDims, ContractError>) {
        let context = format!("{} of {}, {:?}", what, O::NAME, self.problem);
        let error = result.expect_err(&context);
        assert_eq!(error.clause, clause, "{context}: {error}");
        assert!(arguments.contains(&error.argument), "{context}: names `{}`, not {arguments:?}", error.argument);
        assert_eq!(error.operation, O::NAME);
        assert!(!error.expected.is_empty() && !error.actual.is_empty(), "{context}: {error}");
        let text = error.to_string();
        for part in [O::NAME, error.argument, clause.name(), &error.expected, &error.actual] {
            assert!(text.contains(part), "{context}: `{text}` lacks `{part}`");
        }
        self.covered.insert(clause.name());
    }

    fn replace(&mut self, what: &str, clause: Clause, index: usize, change: &dyn Fn(RawTensor) -> RawTensor) {
        let source = Source { replace: Some((index, change)), ..Source::new(dims::<O>()) };
        let result = self.check(self.specs, source);
        let name = O::signature().tensors[index].name;
        self.broken(&format!("{what} of {name}"), clause, &[name], result);
    }
}

/// `view` with another shape and other strides.
fn reshaped(view: RawTensor, change: impl Fn(&mut Vec<usize>, &mut Vec<isize>)) -> RawTensor {
    let (mut shape, mut strides) = (view.shape().to_vec(), view.strides().to_vec());
    change(&mut shape, &mut strides);
    RawTensor::strided(view.data(), view.dtype(), view.device(), &shape, &strides).unwrap()
}

fn shifted(view: RawTensor, bytes: usize) -> RawTensor {
    view.with_data(view.data().wrapping_add(bytes))
}

fn break_all<O: Operator>() -> Covered {
    let mut covered = BTreeSet::new();
    for problem in &problems::<O>() {
        let specs = specs::<O>(problem);
        // Nothing of an empty tensor can be broken; see `empty_tensors_need_no_memory_and_no_strides`.
        if specs.tensors().any(|s| s.present && s.bytes(&dims::<O>()) == 0) {
            continue;
        }
        let whole = O::check(&specs, &assemble::<O>(&specs, Source::new(dims::<O>())));
        assert_eq!(whole.unwrap(), shown::<O>(&specs), "{}: the call that is not broken, {problem:?}", O::NAME);
        let mut breaker = Breaker::<O> { problem, specs: &specs, covered: &mut covered };
        break_views(&mut breaker);
        break_sizes(&mut breaker);
        break_strides(&mut breaker);
        break_memory(&mut breaker);
        break_promises(&mut breaker);
        break_bounds(&mut breaker);
        break_scalars(&mut breaker);
    }
    break_presence::<O>(&mut covered);
    (O::NAME, covered)
}

/// dtype, rank, device, layout, null.
fn break_views<O: Operator>(b: &mut Breaker<'_, O>) {
    for (index, spec) in b.specs.tensors().enumerate().filter(|(_, s)| s.present) {
        let other = if spec.dtype == DType::F64 { DType::I64 } else { DType::F64 };
        b.replace("dtype", Clause::DType, index, &|v| {
            RawTensor::strided(v.data(), other, v.device(), v.shape(), v.strides()).unwrap()
        });
        b.replace("one dimension more", Clause::Rank, index, &|v| {
            reshaped(v, |shape, strides| {
                shape.push(1);
                strides.push(1);
            })
        });
        b.replace("one dimension less", Clause::Rank, index, &|v| {
            reshaped(v, |shape, strides| {
                shape.pop();
                strides.pop();
            })
        });
        for device in [DeviceId::new(DeviceKind::Noop, 0), DeviceId::new(DeviceKind::Cuda, 1)] {
            b.replace("device", Clause::Device, index, &|v| {
                RawTensor::strided(v.data(), v.dtype(), device, v.shape(), v.strides()).unwrap()
            });
        }
        b.replace("layout", Clause::Layout, index, &|v| RawTensor::packed(v.data(), v.device(), 64, LayoutId(5)));
        b.replace("null", Clause::Null, index, &|v| v.with_data(std::ptr::null_mut()));
    }
}

/// Fixed sizes, sizes that other arguments fix, sizes below their least.
fn break_sizes<O: Operator>(b: &mut Breaker<'_, O>) {
    let mut bound = BTreeSet::new();
    for (index, spec) in b.specs.tensors().enumerate().filter(|(_, s)| s.present) {
        let before = bound.clone();
        bound.extend(spec.dims.iter().filter_map(|d| d.size.dynamic));
        for (axis, dim) in spec.dims.iter().enumerate() {
            let grow = |v: RawTensor, by: usize| {
                reshaped(v, |shape, strides| {
                    shape[axis] += by;
                    for outer in (0..axis).rev() {
                        strides[outer] = strides[outer + 1] * shape[outer + 1] as isize;
                    }
                })
            };
            if dim.size.dynamic.is_none_or(|d| before.contains(&d)) {
                b.replace("size", Clause::Shape, index, &|v| grow(v, 1));
                b.replace("size far off", Clause::Shape, index, &|v| grow(v, 1 << 20));
            } else if let Some(d) = dim.size.dynamic.map(usize::from) {
                let least = O::signature().dims[d].min * dim.size.multiply + dim.size.add;
                if least > 0 {
                    b.replace("least size", Clause::Minimum, index, &|v| {
                        reshaped(v, |shape, _| shape[axis] = least - 1)
                    });
                }
            }
        }
    }
}

/// Inner strides, rows that overlap, rows that run backwards, outer strides that must be contiguous.
fn break_strides<O: Operator>(b: &mut Breaker<'_, O>) {
    for (index, spec) in b.specs.tensors().enumerate().filter(|(_, s)| s.present) {
        let shape = spec.shape(&dims::<O>());
        for (axis, dim) in spec.dims.iter().enumerate().filter(|&(axis, _)| shape[axis] > 1) {
            let set = |stride: fn(isize) -> isize| {
                move |v: RawTensor| reshaped(v, |_, strides| strides[axis] = stride(strides[axis]))
            };
            b.replace("zero stride", Clause::Stride, index, &set(|_| 0));
            b.replace("negative stride", Clause::Stride, index, &set(|s| -s));
            b.replace("stride below its extent", Clause::Stride, index, &set(|s| s - 1));
            if dim.strided && axis == 0 {
                b.replace("address space", Clause::Address, index, &set(|_| isize::MAX / 2));
            } else if !dim.strided {
                b.replace("gap", Clause::Stride, index, &set(|s| s + 1));
            }
        }
    }
}

/// One element's alignment; memory shared with an output.
fn break_memory<O: Operator>(b: &mut Breaker<'_, O>) {
    for (index, spec) in b.specs.tensors().enumerate().filter(|(_, s)| s.present) {
        if spec.dtype.bits() > 8 {
            b.replace("one byte off", Clause::Alignment, index, &|v| shifted(v, 1));
        }
        if !spec.role.writes() {
            continue;
        }
        let apart = |o: &(usize, &opweave_contract::TensorSpec)| o.0 != index && o.1.present;
        for (other, other_spec) in b.specs.tensors().enumerate().filter(apart) {
            if other_spec.placement != spec.placement {
                continue;
            }
            let names = [spec.name, other_spec.name];
            let at = |offset: usize| move |v: RawTensor| v.with_data(address(other).wrapping_add(offset));
            let same_bytes = spec.dtype == other_spec.dtype && spec.dims == other_spec.dims;
            let declared = spec.aliases.contains(&other) || other_spec.aliases.contains(&index);
            let partly = Some(spec.dtype.alignment()).filter(|&bytes| bytes < other_spec.bytes(&dims::<O>()));
            for offset in [Some(0), partly].into_iter().flatten() {
                let change = at(offset);
                let source = Source { replace: Some((index, &change)), ..Source::new(dims::<O>()) };
                let result = b.check(b.specs, source);
                if offset == 0 && declared && same_bytes {
                    assert!(result.is_ok(), "{}: {names:?} may be the same memory: {result:?}", O::NAME);
                } else {
                    b.broken(&format!("{names:?} {offset} bytes apart"), Clause::Overlap, &names, result);
                }
            }
        }
    }
}

/// Alignment and contiguity where the problem promises them.
fn break_promises<O: Operator>(b: &mut Breaker<'_, O>) {
    for (index, spec) in b.specs.tensors().enumerate().filter(|(_, s)| s.present) {
        let aligned = with_facts::<O>(b.problem, &[format!("{}.align=64", spec.name)]);
        let aligned = specs::<O>(&aligned);
        let whole = b.check(&aligned, Source::new(dims::<O>()));
        let shape = spec.shape(&dims::<O>());
        let stride = |axis: usize| shape[axis + 1..].iter().product::<usize>();
        let uneven = |&axis: &usize| {
            shape[axis] > 1 && stride(axis) > 1 && !(stride(axis) * spec.dtype.bits() / 8).is_multiple_of(64)
        };
        let row = (0..shape.len()).find(uneven);
        assert_eq!(
            whole.is_err(),
            row.is_some(),
            "{}: a row stride that is no multiple of 64 bytes: {whole:?}",
            O::NAME
        );
        let change = |v: RawTensor| shifted(v, spec.dtype.alignment());
        let result = b.check(&aligned, Source { replace: Some((index, &change)), ..Source::new(dims::<O>()) });
        b.broken("promised alignment", Clause::Alignment, &[spec.name], result);

        let contiguous = with_facts::<O>(b.problem, &[format!("{}.contiguous=true", spec.name)]);
        let contiguous = specs::<O>(&contiguous);
        assert!(b.check(&contiguous, Source::new(dims::<O>())).is_ok());
        if spec.dims.iter().zip(&shape).any(|(d, &size)| d.strided && size > 1) {
            let padded = b.check(b.specs, Source { padding: 16, ..Source::new(dims::<O>()) });
            assert!(padded.is_ok(), "{}: strides that the contract allows: {padded:?}", O::NAME);
            let result = b.check(&contiguous, Source { padding: 16, ..Source::new(dims::<O>()) });
            b.broken("promised contiguity", Clause::Contiguous, &[spec.name], result);
        }
    }
}

/// Dimensions past the bounds that the problem states; at the bound all is well.
fn break_bounds<O: Operator>(b: &mut Breaker<'_, O>) {
    for (d, dim) in O::signature().dims.iter().enumerate().filter(|&(d, _)| shows(b.specs, d)) {
        let bound = dims::<O>().get(d);
        let at = specs::<O>(&with_facts::<O>(b.problem, &[format!("{}.max={bound}", dim.name)]));
        assert!(b.check(&at, Source::new(dims::<O>())).is_ok());
        let below = specs::<O>(&with_facts::<O>(b.problem, &[format!("{}.max={}", dim.name, bound - 1)]));
        let names: Vec<&str> = O::signature().tensors.iter().map(|t| t.name).collect();
        let result = b.check(&below, Source::new(dims::<O>()));
        b.broken("bound", Clause::Bound, &names, result);
    }
    for (fewer, more) in O::signature().dim_relations {
        let at = |name: &str| O::signature().dims.iter().position(|d| d.name == name).unwrap();
        let mut sizes = dims::<O>().as_slice().to_vec();
        sizes[at(fewer)] = sizes[at(more)] + 1;
        let result = b.check(b.specs, Source::new(DynDims::new(&sizes)));
        let shows = |t: &&opweave_contract::TensorParam| t.dims.iter().any(|d| d.text.contains(fewer));
        let names: Vec<&str> = O::signature().tensors.iter().filter(shows).map(|t| t.name).collect();
        b.broken("relation of two dimensions", Clause::Bound, &names, result);
    }
    assert_eq!(*O::bounds(&O::with_bounds(b.problem, bounds::<O>(9))), bounds::<O>(9));
}

fn break_scalars<O: Operator>(b: &mut Breaker<'_, O>) {
    for scalar in O::signature().scalars {
        let mut illegal = vec![scalar.range.min - 1.0];
        if scalar.ty.starts_with('f') {
            illegal.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        }
        if scalar.range.above {
            illegal.push(scalar.range.min);
        }
        if scalar.range.max < f64::from(f32::MAX) {
            illegal.push(scalar.range.max + 1.0);
        }
        for value in illegal.into_iter().filter(|v| !scalar.range.admits(*v)) {
            let source = Source { scalar: Some((scalar.name, value)), ..Source::new(dims::<O>()) };
            let result = b.check(b.specs, source);
            b.broken(&format!("{} = {value}", scalar.name), Clause::Range, &[scalar.name], result);
        }
    }
}

/// Arguments of one problem in a call of another that differs in which optional tensors it has.
fn break_presence<O: Operator>(covered: &mut BTreeSet<&'static str>) {
    let problems = problems::<O>();
    for (here, there) in problems.iter().flat_map(|p| problems.iter().map(move |q| (p, q))) {
        let (a, c) = (specs::<O>(here), specs::<O>(there));
        let differing: Vec<usize> = (0..a.tensors().len())
            .filter(|&i| a.tensor(i).map(|s| s.present) != c.tensor(i).map(|s| s.present))
            .collect();
        let [index] = differing[..] else { continue };
        let alike = |i: usize| {
            let (x, y) = (a.tensor(i).unwrap(), c.tensor(i).unwrap());
            i == index || (x.dtype, &x.dims) == (y.dtype, &y.dims)
        };
        if !(0..a.tensors().len()).all(alike) {
            continue;
        }
        let result = O::check(&a, &assemble::<O>(&c, Source::new(dims::<O>())));
        let mut breaker = Breaker::<O> { problem: here, specs: &a, covered };
        breaker.broken("presence", Clause::Presence, &[O::signature().tensors[index].name], result);
    }
}

#[test]
fn every_clause_broken_one_at_a_time_is_named() {
    let common: BTreeSet<&str> = [
        Clause::DType,
        Clause::Rank,
        Clause::Shape,
        Clause::Bound,
        Clause::Stride,
        Clause::Contiguous,
        Clause::Alignment,
        Clause::Null,
        Clause::Address,
        Clause::Device,
        Clause::Layout,
        Clause::Overlap,
    ]
    .map(Clause::name)
    .into();
    let mut all = BTreeSet::new();
    for (operation, covered) in for_each_operator!(break_all) {
        let missing: Vec<_> = common.difference(&covered).collect();
        assert!(missing.is_empty(), "{operation}: nothing broke {missing:?}");
        all.extend(covered);
    }
    // Workspace is checked by the prepared operator, not by the contract's checker.
    assert!(all.contains("presence") && all.contains("minimum") && all.contains("range"), "{all:?}");
}

#[test]
fn an_operator_with_an_optional_tensor_refuses_it_where_the_problem_has_none() {
    use opweave_contract::ops::normalization::*;
    fn presence<O: Operator>() -> bool {
        let optional = O::signature().tensors.iter().any(|t| t.optional);
        optional == break_all::<O>().1.contains("presence")
    }
    assert!(presence::<RmsNorm>() && presence::<LayerNorm>() && presence::<L2Norm>() && presence::<RmsNormGated>());
}

#[test]
fn a_packed_weight_is_checked_by_layout_size_and_alignment() {
    use crate::probe::Probe;
    let problem = problems::<Probe>()[0];
    let plain = specs::<Probe>(&problem);
    let layout = LayoutId::of("a layout of the test");
    let wanted = plain.clone().with_layout(layout, 640, 128);
    let call = |view: RawTensor| {
        let change = move |_| view;
        let index = Probe::signature().tensor("weight").unwrap();
        Probe::check(
            &wanted,
            &assemble::<Probe>(&plain, Source { replace: Some((index, &change)), ..Source::new(dims::<Probe>()) }),
        )
    };
    let at = |address: usize| std::ptr::without_provenance_mut(address);
    assert!(call(RawTensor::packed(at(1 << 30), DEVICE, 640, layout)).is_ok());
    let broken: &[(&str, RawTensor, Clause)] = &[
        ("plain", RawTensor::contiguous(at(1 << 30), DType::F32, DEVICE, &[8, 8]).unwrap(), Clause::Layout),
        ("id", RawTensor::packed(at(1 << 30), DEVICE, 640, LayoutId(3)), Clause::Layout),
        ("size", RawTensor::packed(at(1 << 30), DEVICE, 639, layout), Clause::Layout),
        ("alignment", RawTensor::packed(at((1 << 30) + 64), DEVICE, 640, layout), Clause::Alignment),
        ("null", RawTensor::packed(at(0), DEVICE, 640, layout), Clause::Null),
        ("device", RawTensor::packed(at(1 << 30), DeviceId::CPU, 640, layout), Clause::Device),
    ];
    for (name, view, clause) in broken {
        let error = call(*view).unwrap_err();
        assert_eq!((error.argument, error.clause), ("weight", *clause), "{name}: {error}");
    }
}

/// The message names the dimension that is wrong, not one that is right.
#[test]
fn sizes_and_strides_are_named_by_their_dimension() {
    use crate::probe::Probe;
    let specs = specs::<Probe>(&problems::<Probe>()[0]);
    let state = Probe::signature().tensor("state").unwrap();
    let call = |shape: [usize; 3], strides: [isize; 3]| {
        let change = |v: RawTensor| RawTensor::strided(v.data(), v.dtype(), v.device(), &shape, &strides).unwrap();
        let source = Source { replace: Some((state, &change)), ..Source::new(dims::<Probe>()) };
        Probe::check(&specs, &assemble::<Probe>(&specs, source)).map(|_| ()).map_err(|e| (e.expected, e.actual))
    };
    let fails = |shape, strides, expected: &str| {
        let (said, actual) = call(shape, strides).unwrap_err();
        assert!(said.contains(expected), "{shape:?} {strides:?}: expected {said}, got {actual}");
    };
    assert_eq!(call([3, 2, 4], [8, 4, 1]), Ok(()));
    fails([4, 2, 4], [8, 4, 1], "= 3 in dimension 0");
    fails([3, 3, 4], [12, 4, 1], "= 2 in dimension 1");
    fails([3, 2, 5], [10, 5, 1], "= 4 in dimension 2");
    fails([3, 2, 4], [8, 4, 2], "stride 1 in dimension 2");
    fails([3, 2, 4], [8, 3, 1], "stride at least 4 in dimension 1");
    fails([3, 2, 4], [7, 4, 1], "stride at least 8 in dimension 0");
    fails([3, 2, 4], [9, 5, 1], "stride at least 10 in dimension 0");
}

/// A dimension of one element is never stepped along, so its stride is nobody's business: promises or not.
#[test]
fn the_stride_of_a_dimension_of_one_does_not_count() {
    use opweave_contract::ops::normalization::{RmsNorm, RmsNormProblem};
    let mut problem = RmsNormProblem::new(8, DType::F32);
    for promised in [false, true] {
        if promised {
            let promise = opweave_contract::Promise { alignment: 16, contiguous: true, constant: false };
            problem.promises = opweave_contract::Promises::all(promise);
        }
        let specs = specs::<RmsNorm>(&problem);
        for stride in [0, 1, -7, 9, isize::MAX, isize::MIN] {
            let change = |v: RawTensor| reshaped(v, |_, strides| strides[0] = stride);
            let source = Source { replace: Some((0, &change)), ..Source::new(DynDims::new(&[1])) };
            let result = RmsNorm::check(&specs, &assemble::<RmsNorm>(&specs, source));
            assert!(result.is_ok(), "stride {stride}, promised {promised}: {result:?}");
        }
    }
}

#[test]
fn specs_of_another_operator_are_refused() {
    use opweave_contract::ops::normalization::RmsNorm;
    let probe = specs::<crate::probe::Probe>(&problems::<crate::probe::Probe>()[0]);
    let own = specs::<RmsNorm>(&problems::<RmsNorm>()[0]);
    let args = assemble::<RmsNorm>(&own, Source::new(dims::<RmsNorm>()));
    let error = RmsNorm::check(&probe, &args).unwrap_err();
    assert_eq!((error.argument, error.clause), ("specs", Clause::Presence), "{error}");
    assert!(error.to_string().contains("expected 3 tensors, got 8 tensors, of probe"), "{error}");
}

#[test]
fn empty_tensors_need_no_memory_and_no_strides() {
    fn empty<O: Operator>() -> Covered {
        for problem in &problems::<O>() {
            let specs = specs::<O>(problem);
            let least = DynDims::new(&O::signature().dims.iter().map(|d| d.min).collect::<Vec<_>>());
            let rows = O::signature().dim("tokens").or(O::signature().dim("sequences")).unwrap();
            assert_eq!(least.get(rows), 0, "{}: zero rows are legal", O::NAME);
            for (index, spec) in specs.tensors().enumerate().filter(|(_, s)| s.present && s.role != Role::In) {
                if !spec.shape(&least).contains(&0) {
                    continue;
                }
                let change = |v: RawTensor| v.with_data(std::ptr::null_mut());
                let source = Source { replace: Some((index, &change)), ..Source::new(least) };
                assert_eq!(O::check(&specs, &assemble::<O>(&specs, source)).unwrap(), least, "{}", O::NAME);
            }
        }
        (O::NAME, BTreeSet::new())
    }
    for_each_operator!(empty);
}
