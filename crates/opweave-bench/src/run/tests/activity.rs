// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Timers that read the device's records of its kernels.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use opweave_device::{
    Activity, Buffer, Device, DeviceError, DeviceId, DeviceInfo, DeviceKey, FaultSink, KernelSpan, Stream,
};
use opweave_numerics::Mode;

use super::{Deed, Scene, config};
use crate::measurement::{Cache, Metric, Timer};
use crate::report::RowStatus;
use crate::run::{BenchConfig, Quiet, run};

/// A device that records two kernels, 2 us and 3 us long with 1 us between them, each time that its records are taken.
struct Recording(Arc<dyn Device>, Arc<AtomicUsize>);

impl Device for Recording {
    fn id(&self) -> DeviceId {
        self.0.id()
    }
    fn key(&self) -> &DeviceKey {
        self.0.key()
    }
    fn info(&self) -> &DeviceInfo {
        self.0.info()
    }
    fn allocate(&self, bytes: usize, align: usize) -> Result<Box<dyn Buffer>, DeviceError> {
        self.0.allocate(bytes, align)
    }
    fn stream(&self) -> Result<Box<dyn Stream>, DeviceError> {
        self.0.stream()
    }
    fn faults(&self) -> Result<Box<dyn FaultSink>, DeviceError> {
        self.0.faults()
    }
    fn has_graphs(&self) -> bool {
        self.0.has_graphs()
    }
    fn activity(&self) -> Result<Box<dyn Activity>, DeviceError> {
        Ok(Box::new(Records(Arc::clone(&self.1))))
    }
}

struct Records(Arc<AtomicUsize>);

impl Activity for Records {
    fn take(&self) -> Result<Vec<KernelSpan>, DeviceError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(vec![KernelSpan { start_ns: 5000, end_ns: 7000 }, KernelSpan { start_ns: 8000, end_ns: 11_000 }])
    }
}

#[test]
fn records_of_kernels_give_their_sum_and_their_span() {
    for (mode, timer, calls) in [(Mode::Eager, Timer::Kernel, 1.0), (Mode::Graph, Timer::GraphKernel, 4.0)] {
        let mut scene = Scene::new(Deed::Right, Deed::Right);
        let taken = Arc::new(AtomicUsize::new(0));
        scene.device = Arc::new(Recording(scene.device, Arc::clone(&taken)));
        let mut config = BenchConfig { timer: Some(timer), caches: vec![Cache::Hot], ..config("rms_norm") };
        config.selectors.mode = mode;
        config.protocol.graph_calls = 4;
        let report = run(&config, &scene.ground(), &mut Quiet).unwrap();
        let row = &report.rows[0];
        assert_eq!(row.status, RowStatus::Ok, "{:?}", row.reason);
        let series: Vec<_> =
            row.series.iter().map(|s| &s.measurement).map(|m| (m.metric, m.timer, m.impl_us)).collect();
        assert_eq!(series, [(Metric::Completion, timer, 5.0 / calls), (Metric::Span, timer, 6.0 / calls)]);
        // What ran before a sample is forgotten first, and each sample is taken once.
        assert_eq!(taken.load(Ordering::Relaxed) % 2, 0);
    }
}
