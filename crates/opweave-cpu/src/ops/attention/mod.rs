// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Launchers of the attention family.

opweave_contract::attention_operators!(modules);

use opweave_contract::ops::kv_cache::CacheLayout;
use opweave_tensor::RawTensor;

use crate::attention::{Activations, Logarithms, Plane, Sinks, Table};
use crate::indices::Indices;

fn activations(rows: &RawTensor) -> Activations {
    Activations { data: rows.data(), token: rows.stride(0), head: rows.stride(1) }
}

fn logarithms(lse: &RawTensor) -> Logarithms {
    Logarithms { data: lse.data().cast(), token: lse.stride(0) }
}

fn sinks(sinks: &RawTensor) -> Sinks {
    Sinks { data: sinks.data(), dtype: sinks.dtype() }
}

fn plane(cache: &RawTensor, layout: CacheLayout, scales: Option<&RawTensor>) -> Plane {
    let (token, head) = match layout {
        CacheLayout::Nhd => (cache.stride(1), cache.stride(2)),
        CacheLayout::Hnd => (cache.stride(2), cache.stride(1)),
    };
    let scales = scales.map(|scales| scales.data().cast_const().cast());
    Plane { data: cache.data(), page: cache.stride(0), token, head, scales }
}

/// Rows as a plane of pages of one token.
fn rows(rows: &RawTensor) -> Plane {
    Plane { data: rows.data(), page: rows.stride(0), token: 0, head: rows.stride(1), scales: None }
}

fn blocks(pages: &RawTensor, lens: &RawTensor) -> Table {
    let (stride, each) = (pages.stride(0), pages.dim(1));
    let len = pages.elements();
    let pages = Indices { data: pages.data(), dtype: pages.dtype(), len };
    Table::Blocks { pages, stride, each, lens: Indices::of(lens) }
}

fn lists(indptr: &RawTensor, pages: &RawTensor, last: &RawTensor) -> Table {
    Table::Lists { indptr: Indices::of(indptr), pages: Indices::of(pages), last: Indices::of(last) }
}
