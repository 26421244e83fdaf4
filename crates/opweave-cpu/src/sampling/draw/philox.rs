// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Philox4x32-10 (Salmon and others, 2011), a random number for each seed and offset.

const ROUNDS: usize = 10;
const MULTIPLIERS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];
const KEY_STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// The number of a seed and an offset: 53 bits, at least 0, below 1.
pub(super) fn uniform(seed: u64, offset: u64) -> f64 {
    let halves = |v: u64| [v as u32, (v >> 32) as u32];
    let [mut k0, mut k1] = halves(seed);
    let [mut c0, mut c1] = halves(offset);
    let [mut c2, mut c3] = [0_u32; 2];
    for _ in 0..ROUNDS {
        let [low0, high0] = halves(MULTIPLIERS[0] * u64::from(c0));
        let [low1, high1] = halves(MULTIPLIERS[1] * u64::from(c2));
        (c0, c1, c2, c3) = (high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0);
        k0 = k0.wrapping_add(KEY_STEPS[0]);
        k1 = k1.wrapping_add(KEY_STEPS[1]);
    }
    let bits = u64::from(c0) << 21 | u64::from(c1 >> 11);
    bits as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_those_of_the_reference() {
        for (seed, offset) in [(0, 0), (1, 0), (0, 1), (u64::MAX, u64::MAX), (1 << 32, 7), (7, 1 << 32)] {
            let wanted = opweave_reference::ops::sampling::top_k_top_p_sampling::uniform(seed, offset);
            assert_eq!(super::uniform(seed, offset), wanted);
            assert!((0.0..1.0).contains(&wanted));
        }
    }
}
