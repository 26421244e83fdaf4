// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! From a row to a prepared operator.

use std::collections::BTreeMap;

use opweave_reference::Reference;
use opweave_registry::{Bucket, Buckets, PrepareContext, PrepareError, Prepared, Record, Row};

use super::{CaseError, Fixture, PrepareOn};
use crate::report::{IMAGE, Implementation, LIBRARY};

/// Makes the plan. A plan that asks for bounds gets those of the case.
pub(super) fn prepare<O: Reference>(fixture: &Fixture<O>, on: &PrepareOn<'_>) -> Result<Prepared<O>, CaseError> {
    let spec = on.row.spec().clone();
    let missing = || CaseError::Row { row: spec.name.clone(), operation: O::NAME };
    let kernel = on.row.kernel::<O>().ok_or_else(missing)?;
    let (device, key) = (on.device.id(), on.device.key());
    let context = PrepareContext { device, key, bucket: Bucket::ALL, communicator: None };
    let mut problem = fixture.case.problem;
    let plan = match kernel.prepare(&problem, &context) {
        Err(PrepareError::Bounds { .. }) => {
            let bounds = fixture.case.dims.iter().enumerate();
            problem = O::with_bounds(&problem, bounds.fold(*O::bounds(&problem), |b, (i, &size)| b.with(i, size)));
            kernel.prepare(&problem, &context)?
        }
        plan => plan?,
    };
    let because = "validated by name".to_owned();
    let record = Record { bucket: Bucket::ALL, spec, considered: on.considered.to_vec(), because };
    let plans = vec![(plan, record)];
    Ok(Prepared::new(problem, device, key.clone(), on.mode, on.generation, Buckets::none(), plans)?)
}

/// What the report says of the implementation.
pub(super) fn describe<O: Reference>(row: &Row, prepared: &Prepared<O>) -> Implementation {
    let spec = row.spec();
    let regions = prepared.workspace();
    let mut launch = BTreeMap::new();
    let mut note = |name: &str, bytes: usize| {
        if bytes > 0 {
            launch.insert(name.to_owned(), bytes.to_string());
        }
    };
    note("workspace.scratch_bytes", regions.scratch.bytes);
    note("workspace.zeroed_bytes", regions.zeroed.bytes);
    if let Some(layout) = prepared.packed() {
        launch.insert("weight_layout".to_owned(), layout.description.clone());
    }
    for metadata in prepared.metadata() {
        launch.extend(metadata.launch);
        launch.extend(metadata.image.map(|image| (IMAGE.to_owned(), image)));
        launch.extend(metadata.libraries.into_iter().map(|(name, version)| (format!("{LIBRARY}{name}"), version)));
    }
    Implementation {
        name: spec.name.clone(),
        solution: format!("{}.{}", spec.device, spec.solution),
        variant: spec.variant.clone(),
        binding: spec.binding.clone(),
        deterministic: spec.deterministic,
        batch_invariant: spec.batch_invariant,
        launch,
    }
}
