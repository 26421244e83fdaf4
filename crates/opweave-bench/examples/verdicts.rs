// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Whether verdicts can be trusted on this machine: one kernel against itself, and against itself with a planted delay.
//!
//! `cargo run --release -p opweave-bench --example verdicts -- ROWS DELAY_PERCENT`, on a quiet machine. Prints how many rows got
//! which verdict, those of calls that take over 20 us apart.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use opweave_bench::caches::host_caches;
use opweave_bench::compare::Verdict;
use opweave_bench::measurement::Cache;
use opweave_bench::protocol::Protocol;
use opweave_bench::report::RowStatus;
use opweave_bench::run::{BenchConfig, BenchGround, Quiet, run};
use opweave_contract::ImplementationDecl;
use opweave_contract::ops::FAMILIES;
use opweave_contract::ops::normalization::{RmsNorm, RmsNormArgs, RmsNormProblem};
use opweave_device::cpu::{CpuDevice, Serial};
use opweave_device::{Device, LaunchError, StreamRef};
use opweave_numerics::{Config, Ground, Interrupt, Tier};
use opweave_registry::{
    FrozenRegistry, Kernel, KernelSpec, Plan, PrepareContext, PrepareError, Regions, Registry, Workspace,
};

/// The kernel under another name, and slower by a share of its own time.
struct Twin {
    inner: Arc<dyn Kernel<RmsNorm>>,
    spec: KernelSpec,
    delay: f64,
}

struct TwinPlan {
    inner: Arc<dyn Plan<RmsNorm>>,
    delay: f64,
}

impl Kernel<RmsNorm> for Twin {
    fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    fn prepare(&self, p: &RmsNormProblem, cx: &PrepareContext<'_>) -> Result<Arc<dyn Plan<RmsNorm>>, PrepareError> {
        Ok(Arc::new(TwinPlan { inner: self.inner.prepare(p, cx)?, delay: self.delay }))
    }
}

impl Plan<RmsNorm> for TwinPlan {
    fn workspace(&self) -> Regions {
        self.inner.workspace()
    }

    unsafe fn enqueue(&self, a: &RmsNormArgs, w: Workspace, s: StreamRef<'_>) -> Result<(), LaunchError> {
        let start = Instant::now();
        // SAFETY: every clause of `Plan::enqueue` is handed through as it came.
        unsafe { self.inner.enqueue(a, w, s) }?;
        // Both twins read the clock, so that what differs is the delay alone.
        let until = start.elapsed().mul_f64(1.0 + self.delay);
        while start.elapsed() < until {
            std::hint::spin_loop();
        }
        Ok(())
    }
}

const ROWS: &[ImplementationDecl] = &[
    ImplementationDecl { name: "cpu.ours.rms_norm", solution: "cpu.ours", libraries: &[] },
    ImplementationDecl { name: "cpu.twin.rms_norm", solution: "cpu.twin", libraries: &[] },
];

fn registry(delay: f64) -> Result<Arc<FrozenRegistry>, Box<dyn std::error::Error>> {
    let mut native = Registry::new();
    opweave_cpu::register(&mut native)?;
    let native = native.freeze();
    let row = native.rows_of("rms_norm").find(|row| row.unavailable().is_none() && row.spec().solution == "cpu.native");
    let inner = row.and_then(|row| row.kernel::<RmsNorm>()).ok_or("there is no native row")?;
    eprintln!("{} against itself", inner.spec().name);
    let mut registry = Registry::new();
    for family in FAMILIES {
        registry.declare(family)?;
    }
    registry.declare_rows("rms_norm", ROWS)?;
    for (at, delay) in [delay, 0.0].into_iter().enumerate() {
        let mut spec = inner.spec().clone();
        (spec.name, spec.solution) = (ROWS[at].name.into(), ROWS[at].solution.into());
        spec.priority = 10 - at as i32;
        registry.register::<RmsNorm, _>(Arc::new(Twin { inner: Arc::clone(&inner), spec, delay }))?;
    }
    Ok(registry.freeze())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let number = |at: usize, or: f64| std::env::args().nth(at).map_or(Ok(or), |text| text.parse::<f64>());
    let (wanted, delay) = (number(1, 200.0)? as usize, number(2, 0.0)? / 100.0);
    let (registry, suites) = (registry(delay)?, opweave_numerics::suites::builtin()?);
    let device: Arc<dyn Device> = Arc::new(CpuDevice::new(Arc::new(Serial)));
    let (interrupt, caches) = (Interrupt::default(), host_caches());
    let numerics =
        Ground { registry: &registry, suites: &suites, device: Ok(&device), threads: Some(1), interrupt: &interrupt };
    let ground = BenchGround { numerics, instruments: None, caches: &caches };
    // Short rows of many sizes; the largest would only take longer.
    let labels =
        ["t1_h8192_bf16", "t8_h4096_bf16", "t37_h769_bf16", "t16_h4096_f32", "t64_h4096_bf16", "t32_h7168_bf16"];
    let mut counts: BTreeMap<(bool, String), usize> = BTreeMap::new();
    let mut largest = 0.0_f64;
    for at in 0..wanted {
        let config = BenchConfig {
            selectors: Config {
                operations: vec!["rms_norm".to_owned()],
                label: Some(labels[at % labels.len()].to_owned()),
                tier: Tier::Full,
                implementation: Some("cpu.ours.rms_norm".to_owned()),
                revision: Some("none".to_owned()),
                ..Config::default()
            },
            protocol: Protocol { warmup_ms: 2.0, repeat_ms: 10.0, ..Protocol::default() },
            baseline: Some("cpu.twin.rms_norm".to_owned()),
            references: Vec::new(),
            reference_cache: std::env::temp_dir(),
            caches: vec![Cache::Cold],
            timer: None,
            command: std::env::args().collect(),
        };
        let report = run(&config, &ground, &mut Quiet)?;
        let row = &report.rows[0];
        let Some(against) = row.against.first().filter(|_| row.status == RowStatus::Ok) else {
            return Err(format!("{}: {:?}", row.label, row.reason).into());
        };
        let long = row.series[0].measurement.impl_us > 20.0;
        *counts.entry((long, against.verdict.to_string())).or_default() += 1;
        if against.verdict != Verdict::Ambiguous {
            largest = largest.max((against.ratio - 1.0).abs());
        }
    }
    for ((long, verdict), rows) in counts {
        println!("{} {verdict}: {rows} rows", if long { "over 20 us" } else { "up to 20 us" });
    }
    println!("largest decided distance from 1: {:.2} %", largest * 100.0);
    Ok(())
}
