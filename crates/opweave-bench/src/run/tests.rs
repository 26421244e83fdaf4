// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The whole run on the CPU, with kernels that are right, wrong or fail late.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use opweave_contract::ImplementationDecl;
use opweave_contract::Operator;
use opweave_contract::ops::FAMILIES;
use opweave_contract::ops::normalization::{FusedAddRmsNorm, FusedAddRmsNormArgs, RmsNorm, RmsNormArgs};
use opweave_device::cpu::{CpuDevice, Serial};
use opweave_device::{Device, DeviceKind, Instruments, LaunchError, StreamRef};
use opweave_numerics::harness::PrepareOn;
use opweave_numerics::suite::SuiteSet;
use opweave_numerics::{Config, Ground, Interrupt, Mode, Tier};
use opweave_registry::{
    ExecutionMode, FrozenRegistry, Kernel, KernelSpec, Plan, PrepareContext, PrepareError, Registry, Workspace,
};
use opweave_tensor::{DType, RawTensor};

mod activity;
mod ranks;
mod together;

use super::carousel::Carousel;
use super::subject::{Captured, Replay};
use super::*;
use crate::measurement::{Cache, Metric, Timer};
use crate::protocol::Protocol;
use crate::report::{CacheSizes, read};
use crate::sampler::Subject;

/// What a kernel does to a row of f32.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Deed {
    Right,
    /// The last element is left as it was.
    Lazy,
    /// Right until the given call.
    FailsAt(usize),
    /// The same with a panic.
    PanicsAt(usize),
    /// Right as long as every call finds the residual as it was before the first.
    FindsTheSame,
}

/// Where a kernel's outputs lay, each place once.
type Places = Arc<Mutex<BTreeSet<usize>>>;

struct Simple {
    spec: KernelSpec,
    deed: Deed,
    places: Places,
}

struct SimplePlan {
    deed: Deed,
    places: Places,
    calls: AtomicUsize,
    found: OnceLock<Vec<u32>>,
}

impl SimplePlan {
    fn begin(&self) -> Result<(), LaunchError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.deed {
            Deed::FailsAt(n) if call >= n => Err(LaunchError::Refused("tired".to_owned())),
            Deed::PanicsAt(n) if call >= n => panic!("tired of {call} calls"),
            _ => Ok(()),
        }
    }
}

/// Row `row` of a contiguous or row-strided f32 matrix.
fn row(view: &RawTensor, row: usize) -> *mut f32 {
    view.data().cast::<f32>().wrapping_offset(row as isize * view.stride(0))
}

/// Normalises `sums` into `out`, in f64 with one rounding, as the reference does.
fn normalise(sums: &[f64], weight: Option<&RawTensor>, epsilon: f32, out: *mut f32, deed: Deed) {
    let mean = sums.iter().map(|x| x * x).sum::<f64>() / sums.len() as f64;
    let scale = 1.0 / (mean + f64::from(epsilon)).sqrt();
    let last = if deed == Deed::Lazy { sums.len() - 1 } else { sums.len() };
    for (i, x) in sums[..last].iter().enumerate() {
        // SAFETY: clause "every view is readable and writable": the checked call owns `sums.len()` elements of both.
        let w = weight.map_or(1.0, |w| f64::from(unsafe { *w.data().cast::<f32>().add(i) }));
        // SAFETY: as above.
        unsafe { *out.add(i) = (x * scale * w) as f32 };
    }
}

impl Plan<RmsNorm> for SimplePlan {
    unsafe fn enqueue(&self, a: &RmsNormArgs, _: Workspace, _: StreamRef<'_>) -> Result<(), LaunchError> {
        self.begin()?;
        self.places.lock().unwrap().insert(a.out.data().addr());
        for r in 0..a.input.dim(0) {
            let input = row(&a.input, r);
            // SAFETY: clause "every view is readable": a row of a checked call.
            let x: Vec<f64> = (0..a.input.dim(1)).map(|i| f64::from(unsafe { *input.add(i) })).collect();
            normalise(&x, a.weight.as_ref(), a.epsilon, row(&a.out, r), self.deed);
        }
        Ok(())
    }
}

impl Plan<FusedAddRmsNorm> for SimplePlan {
    unsafe fn enqueue(&self, a: &FusedAddRmsNormArgs, _: Workspace, _: StreamRef<'_>) -> Result<(), LaunchError> {
        self.begin()?;
        if self.deed == Deed::FindsTheSame {
            let width = a.residual.dim(1);
            // SAFETY: clause "every view is readable": an element of a checked call.
            let bits = |i: usize| unsafe { *row(&a.residual, i / width).add(i % width) }.to_bits();
            let bits: Vec<u32> = (0..a.residual.dim(0) * width).map(bits).collect();
            if *self.found.get_or_init(|| bits.clone()) != bits {
                return Err(LaunchError::Refused("the residual is not what it was".to_owned()));
            }
        }
        for r in 0..a.input.dim(0) {
            let (input, residual) = (row(&a.input, r), row(&a.residual, r));
            let add = |i: usize| {
                // SAFETY: clauses "readable" and "writable": a row of a checked call.
                unsafe {
                    let sum = *input.add(i) + *residual.add(i);
                    *residual.add(i) = sum;
                    f64::from(sum)
                }
            };
            let x: Vec<f64> = (0..a.input.dim(1)).map(add).collect();
            normalise(&x, a.weight.as_ref(), a.epsilon, row(&a.out, r), self.deed);
        }
        Ok(())
    }
}

impl<O: Operator> Kernel<O> for Simple
where
    SimplePlan: Plan<O>,
{
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }
    fn prepare(&self, _: &O::Problem, _: &PrepareContext<'_>) -> Result<Arc<dyn Plan<O>>, PrepareError> {
        let (deed, places) = (self.deed, Arc::clone(&self.places));
        Ok(Arc::new(SimplePlan { deed, places, calls: AtomicUsize::new(0), found: OnceLock::new() }))
    }
}

const NORM: &str = "cpu.test.rms_norm";
const ROWS: &[ImplementationDecl] = &[
    ImplementationDecl { name: NORM, solution: "cpu.test", libraries: &[] },
    ImplementationDecl { name: "cpu.other.rms_norm", solution: "cpu.other", libraries: &[] },
    ImplementationDecl { name: "cpu.test.fused_add_rms_norm", solution: "cpu.test", libraries: &[] },
];

/// A registry in which `test` does `deed` and `other` does `other`, and where their outputs lay.
fn registry(deed: Deed, other: Deed) -> (Arc<FrozenRegistry>, [Places; 2]) {
    fn add<O: Operator>(registry: &mut Registry, solution: &str, (deed, places): (Deed, &Places), priority: i32)
    where
        SimplePlan: Plan<O>,
    {
        let name = format!("cpu.{solution}.{}", O::NAME);
        let mut spec = KernelSpec::new(name, solution, DeviceKind::Cpu, &O::CONTRACTS[..1]);
        spec.priority = priority;
        spec.needs = spec.needs.with(opweave_registry::Domain::DTypes(
            vec!["dtype", "weight_dtype"],
            vec![vec![Some(DType::F32), Some(DType::F32)]],
        ));
        registry.register::<O, _>(Arc::new(Simple { spec, deed, places: Arc::clone(places) })).unwrap();
    }
    let mut registry = Registry::new();
    for family in FAMILIES {
        registry.declare(family).unwrap();
    }
    registry.declare_rows("rms_norm", &ROWS[..2]).unwrap();
    registry.declare_rows("fused_add_rms_norm", &ROWS[2..]).unwrap();
    let places = [Places::default(), Places::default()];
    add::<RmsNorm>(&mut registry, "test", (deed, &places[0]), 10);
    add::<RmsNorm>(&mut registry, "other", (other, &places[1]), 0);
    add::<FusedAddRmsNorm>(&mut registry, "test", (deed, &places[0]), 10);
    (registry.freeze(), places)
}

pub(super) struct Scene {
    registry: Arc<FrozenRegistry>,
    places: [Places; 2],
    suites: SuiteSet,
    device: Arc<dyn Device>,
    interrupt: Interrupt,
    caches: CacheSizes,
}

impl Scene {
    pub(super) fn new(deed: Deed, other: Deed) -> Self {
        let (registry, places) = registry(deed, other);
        Self {
            registry,
            places,
            suites: opweave_numerics::suites::builtin().unwrap(),
            device: Arc::new(CpuDevice::new(Arc::new(Serial))),
            interrupt: Interrupt::default(),
            // Small, so that a cold series is quick to set up.
            caches: CacheSizes { l1_bytes: 1, l2_bytes: 1, last_level_bytes: 1 << 20, source: "test".into() },
        }
    }

    pub(super) fn ground(&self) -> BenchGround<'_> {
        let numerics = Ground {
            registry: &self.registry,
            suites: &self.suites,
            device: Ok(&self.device),
            threads: Some(1),
            interrupt: &self.interrupt,
        };
        BenchGround { numerics, instruments: None, caches: &self.caches }
    }

    pub(super) fn run(&self, config: &BenchConfig) -> BenchReport {
        run(config, &self.ground(), &mut Quiet).unwrap()
    }
}

/// One f32 case of one operation, three samples in each of three rounds.
pub(super) fn config(operation: &str) -> BenchConfig {
    BenchConfig {
        selectors: Config {
            operations: vec![operation.to_owned()],
            label: Some("t16_h4096_f32".to_owned()),
            tier: Tier::Full,
            revision: Some("test".to_owned()),
            ..Config::default()
        },
        protocol: Protocol { iterations: Some(3), rounds: 3, ..Protocol::default() },
        baseline: None,
        references: Vec::new(),
        reference_cache: PathBuf::new(),
        caches: vec![Cache::Cold, Cache::Hot],
        timer: None,
        multiply_add_gflop_per_s: None,
        command: vec!["opweave".into(), "bench".into()],
    }
}

#[test]
fn a_case_that_passed_is_timed_in_each_cache_state() {
    let scene = Scene::new(Deed::Right, Deed::Right);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out/bench.json");
    let mut config = config("rms_norm");
    config.selectors.output = Some(path.clone());
    let report = scene.run(&config);
    assert_eq!((report.status, report.rows.len()), (RunStatus::Complete, 1));
    let row = &report.rows[0];
    assert_eq!((row.status, row.implementation.name.as_str()), (RowStatus::Ok, NORM), "{:?}", row.reason);
    let kinds: Vec<_> = row.series.iter().map(|s| (s.measurement.cache, s.measurement.metric)).collect();
    use {Cache::*, Metric::*};
    assert_eq!(kinds, [(Cold, Completion), (Cold, Enqueue), (Hot, Completion), (Hot, Enqueue)]);
    for series in &row.series {
        assert_eq!(series.measurement.timer, Timer::Wall);
        assert_eq!(series.measurement.samples.rounds.iter().map(|r| r.n).collect::<Vec<_>>(), [3, 3, 3]);
    }
    // 16 x 4096 f32 in and out, and the weight.
    let work = row.work.unwrap();
    assert_eq!((work.bytes_read, work.bytes_written), (16 * 4096 * 4 + 4096 * 4, 16 * 4096 * 4));
    let series = &row.series[0];
    let rate = work.bytes() as f64 / series.measurement.impl_us / 1e3;
    assert!((series.gb_per_s.unwrap() - rate).abs() < 1e-9);
    assert_eq!(series.ceiling_gb_per_s, None, "no instruments, no ceiling");
    assert_eq!(series.cache_method, "sets of arguments: 4 in turn");
    assert!(succeeded(&report.rows));
    assert_eq!(read(&path).unwrap(), report);
    assert!(path.with_extension("md").exists());
}

#[test]
fn only_a_case_that_passed_validation_carries_a_time() {
    let report = Scene::new(Deed::Lazy, Deed::Right).run(&config("rms_norm"));
    let row = &report.rows[0];
    assert_eq!(row.status, RowStatus::Fail);
    assert_eq!(row.validation.name(), "failed");
    assert!(row.series.is_empty() && row.reason.as_ref().is_some_and(|r| !r.is_empty()), "{row:?}");
    assert!(!succeeded(&report.rows));
}

#[test]
fn a_baseline_takes_turns_and_gives_a_ratio() {
    let scene = Scene::new(Deed::Right, Deed::Right);
    let report = scene.run(&BenchConfig { baseline: Some("other".to_owned()), ..config("rms_norm") });
    let [ours, baseline] = &report.rows[..] else { panic!("{:?}", report.rows) };
    assert_eq!((ours.reference, baseline.reference), (false, true));
    assert_eq!(baseline.implementation.name, "cpu.other.rms_norm");
    assert_eq!(ours.order.as_deref(), Some("A B B A, 8 times"));
    assert_eq!(ours.against.len(), 2, "one ratio for each cache state");
    for against in &ours.against {
        // What the ratio is depends on the machine; that it is the quotient of the two rows does not.
        let of = |row: &Row| {
            let series = row.series.iter().find(|s| s.measurement.kind().to_string() == against.series);
            series.map(|s| s.measurement.impl_us).unwrap()
        };
        assert_eq!((against.ratio, against.round_ratios.len()), (of(baseline) / of(ours), 3), "{against:?}");
    }
    assert!(succeeded(&report.rows));
}

#[test]
fn a_wrong_baseline_leaves_ours_timed_and_fails_the_run() {
    let scene = Scene::new(Deed::Right, Deed::Lazy);
    let report = scene.run(&BenchConfig { baseline: Some("cpu.other".to_owned()), ..config("rms_norm") });
    assert_eq!(report.rows[0].status, RowStatus::BaselineError);
    assert!(!report.rows[0].series.is_empty() && report.rows[0].against.is_empty());
    assert!(report.rows[1].series.is_empty());
    assert!(!succeeded(&report.rows));
    // The other way round there is nothing of ours to compare, and one good row does not save the run.
    let scene = Scene::new(Deed::Lazy, Deed::Right);
    let report = scene.run(&BenchConfig { baseline: Some("cpu.other".to_owned()), ..config("rms_norm") });
    assert_eq!((report.rows[0].status, report.rows[1].status), (RowStatus::Fail, RowStatus::Skip));
    assert!(report.rows.iter().all(|row| row.series.is_empty()));
}

#[test]
fn one_failure_among_good_rows_is_no_success() {
    let good = Scene::new(Deed::Right, Deed::Right).run(&config("rms_norm")).rows;
    let bad = Scene::new(Deed::Lazy, Deed::Right).run(&config("rms_norm")).rows;
    assert!(succeeded(&good));
    assert!(!succeeded(&[good, bad].concat()));
}

#[test]
fn a_graph_holds_256_calls_or_as_many_as_change_a_set_each() {
    let scene = Scene::new(Deed::Right, Deed::Right);
    // In a cache of 1 MiB there is no room for 8 sets, but 8 there are.
    for (operation, calls) in [("rms_norm", [256, 256]), ("fused_add_rms_norm", [32, 8])] {
        let mut config = config(operation);
        config.selectors.mode = Mode::Graph;
        // A debug build on a busy machine must not run into the limit that shortens graphs.
        config.protocol.limit_ms = 1e9;
        let report = scene.run(&config);
        let row = &report.rows[0];
        assert_eq!(row.status, RowStatus::Ok, "{operation}: {:?}", row.reason);
        for (series, calls) in row.series.iter().zip(calls) {
            assert_eq!((series.calls_per_sample, series.measurement.timer), (calls, Timer::Graph), "{operation}");
        }
        assert_eq!(row.series.len(), 2, "a replay tells no enqueue");
    }
}

/// Copies like those of a device: they go into the graph that is being captured.
struct Copies;

impl Instruments for Copies {
    unsafe fn copy(&self, from: *const u8, to: *mut u8, bytes: usize, on: StreamRef<'_>) -> Result<(), LaunchError> {
        let (from, to) = (from as usize, to as usize);
        let work = move |_: StreamRef<'_>| {
            // SAFETY: the caller's promise: two ranges of `bytes` bytes that live and do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes) };
            Ok(())
        };
        if on.is_recording() { Ok(on.record(Box::new(work))?) } else { work(on) }
    }

    unsafe fn read(&self, _: *const u8, _: usize, _: StreamRef<'_>) -> Result<(), LaunchError> {
        Ok(())
    }

    fn multiply_add(&self, _: u64, _: StreamRef<'_>) -> Result<u64, LaunchError> {
        Ok(0)
    }

    fn last_level_cache(&self) -> Option<u64> {
        None
    }
}

#[test]
fn implementations_that_are_compared_work_in_the_same_memory() {
    for mode in [Mode::Eager, Mode::Graph] {
        let scene = Scene::new(Deed::Right, Deed::Right);
        let mut config = BenchConfig { baseline: Some("other".to_owned()), ..config("rms_norm") };
        (config.selectors.mode, config.protocol.graph_calls) = (mode, 4);
        // Each goes through all places in one turn, however few samples a busy machine has time for at first.
        (config.protocol.turns, config.protocol.iterations) = (1, Some(16));
        let report = scene.run(&config);
        assert!(report.rows.iter().all(|row| row.status == RowStatus::Ok), "{:?}", report.rows[0].reason);
        let [ours, other] = scene.places.each_ref().map(|places| places.lock().unwrap().clone());
        // Each was validated in memory of its own, as a graph in two sets of it. All that is timed is shared; the calls of a graph are
        // counted with a set of the first one's.
        let (shared, other) = (ours.intersection(&other).count(), other.difference(&ours).count());
        assert!(shared > 3 && other <= 2, "{mode}: {shared} places shared, {other} of the other alone");
    }
}

#[test]
fn a_rate_of_multiply_adds_that_is_known_is_not_measured_again() {
    let scene = Scene::new(Deed::Right, Deed::Right);
    let instruments: &dyn Instruments = &Copies;
    let ground = BenchGround { instruments: Some(instruments), ..scene.ground() };
    for (known, found) in [(Some(77.5), Some(77.5)), (None, Some(0.0))] {
        let config = BenchConfig { multiply_add_gflop_per_s: known, ..config("rms_norm") };
        let report = run(&config, &ground, &mut Quiet).unwrap();
        assert_eq!(report.ceilings.unwrap().multiply_add_gflop_per_s, found);
    }
}

#[test]
fn what_calls_change_is_put_back_ahead_of_each_replay() {
    let scene = Scene::new(Deed::FindsTheSame, Deed::Right);
    let (config, ground) = (config("fused_add_rms_norm"), scene.ground());
    let planned = plan::plan(&config, &ground.numerics, scene.device.key()).unwrap();
    let source = planned[0].case.fixture(&generator(&config).unwrap()).unwrap();
    let on = PrepareOn {
        device: &scene.device,
        row: planned[0].ours.row.as_ref().unwrap(),
        mode: ExecutionMode::Graph,
        generation: scene.registry.generation(),
        considered: &planned[0].ours.considered,
    };
    let case = source.prepare(&on).unwrap();
    let stream = scene.device.stream().unwrap();
    // Twins hold what the case held before its first call.
    case.launch(stream.borrow()).unwrap();
    for ahead in [None, Some(&Copies as &dyn Instruments)] {
        let sets = (0..3).map(|_| case.twin().unwrap()).collect();
        let graph = Captured::new(sets, 3, &*stream, ahead).unwrap();
        let mut replay = Replay::new(vec![graph], Rc::new(Carousel::new(1, None)), 3, &*stream, None).unwrap();
        for _ in 0..3 {
            replay.before_sample().unwrap();
            replay.sample().unwrap();
        }
        // And what is not put back is noticed.
        let error = replay.sample().unwrap_err().to_string();
        assert!(error.contains("not what it was"), "{error}");
    }
}

#[test]
fn a_call_that_fails_while_it_is_timed_is_a_failed_row() {
    let report = Scene::new(Deed::FailsAt(9), Deed::Right).run(&config("rms_norm"));
    let row = &report.rows[0];
    assert_eq!((row.status, row.series.len()), (RowStatus::Fail, 0));
    assert!(row.reason.as_ref().unwrap().contains("tired"), "{:?}", row.reason);
}

#[test]
fn a_case_that_nothing_does_is_skipped_and_that_alone_is_no_success() {
    let mut config = config("rms_norm");
    config.selectors.label = Some("t16_h4096_bf16".to_owned());
    let report = Scene::new(Deed::Right, Deed::Right).run(&config);
    assert_eq!(report.rows[0].status, RowStatus::Skip);
    assert!(report.rows[0].reason.as_ref().unwrap().contains("is not covered"), "{:?}", report.rows[0].reason);
    assert!(!succeeded(&report.rows));
    assert!(!succeeded(&[]));
}

#[test]
fn an_interrupt_keeps_whole_rows_and_says_what_was_not_reached() {
    struct StopAfterFirst<'a>(&'a Interrupt);
    impl BenchProgress for StopAfterFirst<'_> {
        fn done(&mut self, _: &[Row]) {
            self.0.request();
        }
    }
    let scene = Scene::new(Deed::Right, Deed::Right);
    let mut config = config("rms_norm");
    config.selectors.operations.push("fused_add_rms_norm".to_owned());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bench.json");
    config.selectors.output = Some(path.clone());
    let report = run(&config, &scene.ground(), &mut StopAfterFirst(&scene.interrupt)).unwrap();
    assert_eq!(report.status, RunStatus::Interrupted);
    let statuses: Vec<_> = report.rows.iter().map(|r| r.status).collect();
    assert_eq!(statuses, [RowStatus::Ok, RowStatus::Cancelled]);
    assert_eq!(read(&path).unwrap(), report);
    // Asked before the first case, there is no time at all.
    let report = run(&config, &scene.ground(), &mut Quiet).unwrap();
    assert!(report.rows.iter().all(|r| r.status == RowStatus::Cancelled && r.series.is_empty()));
}

#[test]
fn unknown_names_and_timers_that_are_not_there_are_refused() {
    let scene = Scene::new(Deed::Right, Deed::Right);
    let refused = |edit: &dyn Fn(&mut BenchConfig)| {
        let mut config = config("rms_norm");
        edit(&mut config);
        let error = run(&config, &scene.ground(), &mut Quiet).unwrap_err();
        (error.exit_code(), error.to_string())
    };
    type Edit<'a> = &'a dyn Fn(&mut BenchConfig);
    let cases: [(Edit<'_>, &str); 7] = [
        (&|c| c.selectors.operations = vec!["rms_nrom".into()], "did you mean `rms_norm`?"),
        (&|c| c.selectors.label = Some("t16_h4096_f23".into()), "did you mean `t16_h4096_f32`?"),
        (&|c| c.selectors.implementation = Some("tset".into()), "did you mean `test`?"),
        (&|c| c.baseline = Some("cpu.othr".into()), "did you mean `cpu.other`?"),
        (&|c| c.timer = Some(Timer::Kernel), "`event`"),
        (&|c| c.timer = Some(Timer::Graph), "`wall`, `event` or `kernel`"),
        (&|c| c.timer = Some(Timer::Distributed), "--distributed"),
    ];
    for (edit, text) in cases {
        let (code, message) = refused(edit);
        assert_eq!(code, 2, "{message}");
        assert!(message.contains(text), "{message}");
    }
}

#[test]
fn a_report_that_cannot_be_written_ends_the_run_before_it_begins() {
    struct Never;
    impl BenchProgress for Never {
        fn started(&mut self, _: usize) {
            unreachable!("nothing may run");
        }
    }
    let scene = Scene::new(Deed::Right, Deed::Right);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let mut config = config("rms_norm");
    config.selectors.output = Some(file.join("bench.json"));
    let error = run(&config, &scene.ground(), &mut Never).unwrap_err();
    assert!(matches!(error, BenchError::Report(_)) && error.exit_code() == 1, "{error}");
}

#[test]
fn an_event_times_the_device_and_the_host_keeps_its_own_clock() {
    let scene = Scene::new(Deed::Right, Deed::Right);
    let report = scene.run(&BenchConfig { timer: Some(Timer::Event), ..config("rms_norm") });
    let timers: Vec<_> = report.rows[0].series.iter().map(|s| (s.measurement.metric, s.measurement.timer)).collect();
    assert_eq!(timers[..2], [(Metric::Completion, Timer::Event), (Metric::Enqueue, Timer::Wall)]);
}

#[test]
fn the_cases_are_listed_without_running() {
    let scene = Scene::new(Deed::FailsAt(0), Deed::Right);
    let lines = listed(&BenchConfig { baseline: Some("other".into()), ..config("rms_norm") }, &scene.ground()).unwrap();
    assert_eq!(lines, ["rms_norm/t16_h4096_f32/seed5309 default cpu.test.rms_norm against cpu.other.rms_norm"]);
}
