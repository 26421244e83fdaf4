// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the linear family.

opweave_contract::linear_operators!(modules);

use opweave_contract::ops::linear::WeightForm;
use opweave_registry::PackedLayout;
use opweave_tensor::{LayoutId, RawTensor};

use crate::Rows;
use crate::linear::{PANEL, Weight};

/// What a packed weight begins at.
const ALIGN: usize = 64;

fn rows(view: &RawTensor) -> Rows {
    Rows { data: view.data(), stride: view.stride(0) }
}

/// The weight of a call, which its check found to be what the plan wants.
fn weight(view: &RawTensor) -> Weight {
    if view.layout() == LayoutId::PLAIN { Weight::Plain(rows(view)) } else { Weight::Packed(view.data()) }
}

/// A layout of panels; none where there is nothing to pack, or not to be packed.
fn layout(
    form: WeightForm,
    what: &str,
    (in_features, out_features): (usize, usize),
    bytes: usize,
) -> Option<PackedLayout> {
    let wanted = form == WeightForm::Packed && bytes > 0;
    wanted.then(|| {
        let shape = format!("{out_features} rows of {in_features}");
        PackedLayout::new(format!("cpu panels of {PANEL}, {what}, {shape}"), bytes, ALIGN)
    })
}
