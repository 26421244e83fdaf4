// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Whether two views share a byte.

use opweave_tensor::{Extent, RawTensor};

/// Whether two views with overlapping extents may share a byte. Exact for views that interleave within a common outer
/// stride (columns of one packed buffer, K and V of one cache); otherwise errs on the side of `true`.
pub fn may_share(a: &RawTensor, b: &RawTensor) -> bool {
    let (Some(ea), Some(eb)) = (a.extent(), b.extent()) else { return true };
    if !ea.overlaps(eb) {
        return false;
    }
    // Peel equal outer strides: inside one period of the stride, each view occupies one window.
    for axis in 0..a.rank().min(b.rank()) {
        let Some(period) = byte_stride(a, axis).filter(|&p| Some(p) == byte_stride(b, axis) && p > 0) else { continue };
        let (Some(wa), Some(wb)) = (window(a, axis), window(b, axis)) else { continue };
        if wa > period || wb > period {
            continue;
        }
        let (sa, sb) = (start(a, ea) % period, start(b, eb) % period);
        let distance = (sb + period - sa) % period;
        if distance >= wa && distance + wb <= period {
            return false;
        }
    }
    true
}

fn start(view: &RawTensor, extent: Extent) -> usize {
    // Windows are measured from the element with all indices zero; strides here are positive.
    debug_assert!(extent.start <= view.data() as usize);
    view.data() as usize
}

fn byte_stride(view: &RawTensor, axis: usize) -> Option<usize> {
    usize::try_from(view.stride(axis)).ok()?.checked_mul(view.dtype().bits()).filter(|b| b % 8 == 0).map(|b| b / 8)
}

/// Bytes that the view occupies from its start with index `axis` fixed at zero: the whole view, less that dimension.
fn window(view: &RawTensor, axis: usize) -> Option<usize> {
    let mut reach = 0_usize;
    for (i, (&size, &stride)) in view.shape().iter().zip(view.strides()).enumerate() {
        if i != axis {
            let stride = usize::try_from(stride).ok()?;
            reach = reach.checked_add(stride.checked_mul(size.checked_sub(1)?)?)?;
        }
    }
    reach.checked_add(1)?.checked_mul(view.dtype().bits()).map(|bits| bits.div_ceil(8))
}

/// Whether two views are the same bytes in the same order.
pub(crate) fn is_same(a: &RawTensor, b: &RawTensor) -> bool {
    a.data() == b.data()
        && a.dtype() == b.dtype()
        && a.shape() == b.shape()
        && a.shape().iter().zip(a.strides().iter().zip(b.strides())).all(|(&n, (x, y))| n <= 1 || x == y)
}
