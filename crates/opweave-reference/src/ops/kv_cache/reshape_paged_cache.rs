// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Keys and values into the pages of a cache.

use opweave_contract::ops::kv_cache::{
    CacheFormat, CacheLayout, ReshapePagedCache, ReshapePagedCacheProblem, SLOT_OUTSIDE_THE_CACHE,
};
use opweave_tensor::DType;

use crate::{Arguments, Reference, ReferenceError, round};

/// The largest f8e4m3.
const LARGEST: f64 = 448.0;

/// The f8e4m3 nearest to a number, ties to even: three bits after the point, exponents from -6 on, nothing beyond 448.
fn to_f8e4m3(value: f64) -> f64 {
    if value.is_nan() || value == 0.0 {
        return value;
    }
    let value = value.clamp(-LARGEST, LARGEST);
    let spacing = 2_f64.powi((value.abs().log2().floor() as i32).max(-6) - 3);
    (value / spacing).round_ties_even() * spacing
}

/// One row of one tensor: what the cache holds of `heads`, each of `width` features, given the scale of each head.
pub fn row(problem: &ReshapePagedCacheProblem, scale: impl Fn(usize) -> f64, width: usize, heads: &[f64]) -> Vec<f64> {
    let stored = |(at, &value): (usize, &f64)| match problem.cache_format {
        CacheFormat::Plain => value,
        // The division is one of f32, and rounds.
        _ => to_f8e4m3(round(DType::F32, value / scale(at / width))),
    };
    heads.iter().enumerate().map(stored).collect()
}

impl Reference for ReshapePagedCache {
    fn reference(problem: &ReshapePagedCacheProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let slots = arguments.take("slot_mapping")?;
        let (heads, page_size) = (problem.num_kv_heads, problem.page_size);
        let scales = problem.cache_format.scales(heads);
        let mut faults = Vec::new();
        for (rows, scale, cache, width) in
            [("k", "k_scale", "k_cache", problem.head_dim), ("v", "v_scale", "v_cache", problem.head_dim_v)]
        {
            let rows = arguments.take(rows).map(|values| (rows, values))?;
            let scale = arguments.optional(scale, scales)?.map(<[f64]>::to_vec);
            let mut pages = arguments.take(cache)?;
            let capacity = pages.data.len() / (heads * width);
            faults.clear();
            for (token, &slot) in slots.data.iter().enumerate() {
                if slot == -1.0 {
                    continue;
                }
                if !(0.0..capacity as f64).contains(&slot) {
                    faults.push(token);
                    continue;
                }
                let (page, offset) = (slot as usize / page_size, slot as usize % page_size);
                let of_head = |h: usize| scale.as_ref().map_or(1.0, |s| s[if scales == 1 { 0 } else { h }]);
                let stored =
                    row(problem, of_head, width, &rows.1.data[token * heads * width..(token + 1) * heads * width]);
                for head in 0..heads {
                    let place = match problem.layout {
                        CacheLayout::Nhd => (page * page_size + offset) * heads + head,
                        CacheLayout::Hnd => (page * heads + head) * page_size + offset,
                    };
                    pages.data[place * width..(place + 1) * width]
                        .copy_from_slice(&stored[head * width..(head + 1) * width]);
                }
            }
            arguments.put(cache, pages);
            arguments.put(rows.0, rows.1);
        }
        for token in faults {
            arguments.fault(SLOT_OUTSIDE_THE_CACHE, token)?;
        }
        arguments.put("slot_mapping", slots);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use opweave_tensor::F8E4M3;

    use super::to_f8e4m3;

    #[test]
    fn every_code_stays_and_every_midpoint_goes_to_the_even_one() {
        for code in 0..0x7e_u8 {
            let [low, high] = [code, code + 1].map(|c| f64::from(F8E4M3::from_bits(c).to_f32()));
            for sign in [1.0, -1.0] {
                assert_eq!(to_f8e4m3(sign * low), sign * low);
                let (middle, even) = (low + (high - low) / 2.0, if code % 2 == 0 { low } else { high });
                assert_eq!(to_f8e4m3(sign * middle), sign * even, "{code:x}");
                assert_eq!(to_f8e4m3(sign * middle.next_down()), sign * low, "{code:x}");
                assert_eq!(to_f8e4m3(sign * middle.next_up()), sign * high, "{code:x}");
            }
        }
        assert_eq!([449.0, 1e9, f64::INFINITY].map(to_f8e4m3), [448.0; 3]);
        assert!(to_f8e4m3(f64::NAN).is_nan());
    }
}
