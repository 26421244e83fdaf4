// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Whether verdicts can be trusted on this machine: kernels against themselves, and against themselves with a planted delay.
//!
//! `cargo run --release -p opweave-cli --example verdicts -- --device cuda:0 --delay 3`, from the root of the repository, on a
//! machine where nothing else runs. Goes through workloads of three families and prints how many rows got which verdict, those of
//! calls that take over 20 us apart.

mod twin;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use clap::Parser;
use opweave_bench::caches::host_caches;
use opweave_bench::compare::Verdict;
use opweave_bench::measurement::{Cache, Timer};
use opweave_bench::protocol::Protocol;
use opweave_bench::report::{Row, RowStatus};
use opweave_bench::run::{BenchConfig, BenchGround, Quiet, run};
use opweave_contract::ops::activation::SiluAndMul;
use opweave_contract::ops::normalization::RmsNorm;
use opweave_contract::ops::softmax::Softmax;
use opweave_cpu::ceilings::CpuInstruments;
use opweave_cuda::ceilings::CudaInstruments;
use opweave_device::cpu::{CpuDevice, Serial};
use opweave_device::{Device, DeviceId, DeviceKind, Instruments};
use opweave_device_cuda::CudaDevice;
use opweave_numerics::suite::Glob;
use opweave_numerics::{Config, Ground, Interrupt, Mode, Tier};
use opweave_suite::workload::{Entry, read_tree};
use twin::{AnyError, Delay, Twins, names};

/// Calls that take longer are left out: ten of them do not fit the budget of a round.
const LONGEST_US: f64 = 2000.0;
/// Delays count where a call takes longer than this.
const LONG_US: f64 = 20.0;

/// Verdicts on kernels against themselves
#[derive(Parser)]
struct Options {
    /// The device
    #[arg(long, default_value = "cpu")]
    device: DeviceId,
    /// Rows to judge
    #[arg(long, default_value_t = 200)]
    rows: usize,
    /// Percent by which one of the two is made slower
    #[arg(long, default_value_t = 0.0)]
    delay: f64,
    /// Cycles of the device's clock that are planted instead of a share
    #[arg(long, default_value_t = 0)]
    delay_cycles: u64,
    /// Budget of the samples of a round, in milliseconds
    #[arg(long, default_value_t = Protocol::default().repeat_ms)]
    repeat_ms: f64,
    /// The timer; the mode's own unless said
    #[arg(long)]
    timer: Option<Timer>,
    /// Workloads by their labels, as globs; those of fewer than 100 tokens unless said
    #[arg(long, value_delimiter = ',', default_value = "t?_*,t??_*")]
    label: Vec<String>,
    /// Replay graphs of many calls, whose number is checked: there is no second kernel to plant
    #[arg(long, conflicts_with_all = ["delay", "delay_cycles"])]
    graph: bool,
    /// Say each row
    #[arg(long)]
    each: bool,
}

/// A device with what measuring on it takes.
struct Scene {
    device: Arc<dyn Device>,
    instruments: Box<dyn Instruments>,
    delay: Delay,
}

impl Scene {
    fn open(id: DeviceId, planted: bool) -> Result<Self, AnyError> {
        match id.kind {
            DeviceKind::Cpu => Ok(Self {
                device: Arc::new(CpuDevice::new(Arc::new(Serial))),
                instruments: Box::new(CpuInstruments::default()),
                delay: Delay::host(),
            }),
            DeviceKind::Cuda => {
                let device = CudaDevice::open(id)?;
                let stream = device.stream()?;
                let delay = if planted { Delay::device(&device, &*stream)? } else { Delay::None };
                let instruments = Box::new(CudaInstruments::new(&device)?);
                Ok(Self { device: Arc::new(device), instruments, delay })
            }
            kind => Err(format!("there are no twins for {kind}, there are for cpu and cuda").into()),
        }
    }
}

fn main() -> Result<(), AnyError> {
    let options = Options::parse();
    let scene = Scene::open(options.device, options.delay > 0.0 || options.delay_cycles > 0)?;
    let mut twins = Twins::new(opweave::runtime().registry()?, options.device.kind, scene.delay.clone())?;
    twins.add::<RmsNorm>()?;
    twins.add::<SiluAndMul>()?;
    twins.add::<Softmax>()?;
    let (registry, suites) = (twins.freeze(), opweave_numerics::suites::builtin()?);
    let mut caches = host_caches();
    if let Some(bytes) = scene.instruments.last_level_cache() {
        caches.last_level_bytes = bytes;
    }
    let (interrupt, threads) = (Interrupt::default(), (options.device.kind == DeviceKind::Cpu).then_some(1));
    let numerics =
        Ground { registry: &registry, suites: &suites, device: Ok(&scene.device), threads, interrupt: &interrupt };
    let ground = BenchGround { numerics, instruments: Some(&*scene.instruments), caches: &caches };
    let measure = |entry: &Entry, protocol: Protocol| -> Result<Row, AnyError> {
        let [ours, twin] = names(options.device.kind, &entry.kernel);
        let config = BenchConfig {
            selectors: Config {
                operations: vec![entry.kernel.clone()],
                device: options.device.to_string(),
                mode: if options.graph { Mode::Graph } else { Mode::Eager },
                label: Some(entry.label.clone()),
                tier: Tier::Full,
                implementation: Some(ours),
                revision: Some("none".to_owned()),
                ..Config::default()
            },
            protocol,
            baseline: Some(twin),
            references: Vec::new(),
            reference_cache: std::env::temp_dir(),
            caches: vec![entry.cache],
            timer: options.timer,
            multiply_add_gflop_per_s: None,
            command: std::env::args().collect(),
        };
        let row = run(&config, &ground, &mut Quiet)?.rows.swap_remove(0);
        if row.status != RowStatus::Ok {
            return Err(format!("{} {}: {:?}", entry.kernel, entry.label, row.reason).into());
        }
        Ok(row)
    };
    let us = |row: &Row| row.series[0].measurement.impl_us;
    let protocol = Protocol { repeat_ms: options.repeat_ms, warmup_ms: options.repeat_ms / 4.0, ..Protocol::default() };

    let mut entries = Vec::new();
    for entry in workloads(&options.label)? {
        scene.delay.set(0.0, 0.0);
        let once = us(&measure(&entry, Protocol { rounds: 1, repeat_ms: 10.0, ..protocol.clone() })?);
        if once <= LONGEST_US {
            entries.push((entry, once));
        }
    }
    let mut tally = Tally::default();
    for (entry, once) in entries.iter().cycle().take(if entries.is_empty() { 0 } else { options.rows }) {
        match options.delay_cycles {
            0 => scene.delay.set(options.delay / 100.0, *once),
            cycles => scene.delay.set_cycles(cycles),
        }
        let row = measure(entry, protocol.clone())?;
        let against = row.against.first().ok_or("a row has no ratio")?;
        let paired = against.paired.ok_or("a row has too few turns")?;
        let ratio = paired.ratio;
        if options.each {
            let (us, name) = (us(&row), format!("{} {}", entry.kernel, entry.label));
            let (low, high) = (paired.low, paired.high);
            println!("{name}: {us:.2} us, ratio {ratio:.4} from {low:.4} to {high:.4}, {}", against.verdict);
        }
        tally.add(us(&row) > LONG_US, against.verdict, ratio);
    }
    println!("{} on {}, {} cases, a delay of {} %", options.rows, options.device, entries.len(), options.delay);
    tally.print();
    Ok(())
}

/// The cold workloads of the operators that have twins.
fn workloads(labels: &[String]) -> Result<Vec<Entry>, AnyError> {
    let read = read_tree(Path::new("suites"));
    let files =
        read.map_err(|errors| errors.iter().map(|e| format!("failed to {e}")).collect::<Vec<_>>().join("; "))?;
    let twins = ["rms_norm", "silu_and_mul", "softmax"];
    let globs: Vec<Glob> = labels.iter().map(Glob::new).collect();
    let wanted = |entry: &Entry| {
        twins.contains(&entry.kernel.as_str())
            && entry.cache == Cache::Cold
            && globs.iter().any(|glob| glob.matches(&entry.label))
    };
    Ok(files.into_iter().flat_map(|(_, entries)| entries).filter(wanted).collect())
}

/// Verdicts, of short calls and of long ones.
#[derive(Default)]
struct Tally {
    verdicts: BTreeMap<(bool, String), usize>,
    ratios: BTreeMap<bool, Vec<f64>>,
    decided: f64,
}

impl Tally {
    fn add(&mut self, long: bool, verdict: Verdict, ratio: f64) {
        *self.verdicts.entry((long, verdict.to_string())).or_default() += 1;
        self.ratios.entry(long).or_default().push(ratio);
        if verdict != Verdict::Ambiguous {
            self.decided = self.decided.max((ratio - 1.0).abs());
        }
    }

    fn print(mut self) {
        let length = |long| if long { "over 20 us" } else { "up to 20 us" };
        for ((long, verdict), rows) in &self.verdicts {
            println!("{} {verdict}: {rows} rows", length(*long));
        }
        for (long, ratios) in &mut self.ratios {
            ratios.sort_by(f64::total_cmp);
            let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
            println!("{} ratio: {:.4}, from {least:.4} to {most:.4}", length(*long), ratios[ratios.len() / 2]);
        }
        println!("largest decided distance from 1: {:.2} %", self.decided * 100.0);
    }
}
