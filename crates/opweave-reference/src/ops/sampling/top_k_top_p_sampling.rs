// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! A token drawn from the likeliest of a row.

use opweave_contract::ops::sampling::{
    FilterOrder, TEMPERATURE_ILLEGAL, TOP_K_ILLEGAL, TOP_P_ILLEGAL, TemperatureAt, TopKTopPSampling,
    TopKTopPSamplingProblem,
};

use crate::{Arguments, Reference, ReferenceError};

/// Philox4x32 of ten rounds.
pub fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let a = 0xd251_1f53_u64 * u64::from(counter[0]);
        let b = 0xcd9e_8d57_u64 * u64::from(counter[2]);
        counter = [(b >> 32) as u32 ^ counter[1] ^ key[0], b as u32, (a >> 32) as u32 ^ counter[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

/// The random number of a seed and an offset: at least 0, below 1.
pub fn uniform(seed: u64, offset: u64) -> f64 {
    let words = philox([offset as u32, (offset >> 32) as u32, 0, 0], [seed as u32, (seed >> 32) as u32]);
    let bits = (u64::from(words[0]) << 32 | u64::from(words[1])) >> 11;
    bits as f64 * 2.0_f64.powi(-53)
}

/// What one row is drawn with.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// Tokens that are kept; 0 or less for all.
    pub top_k: f64,
    /// The share that is kept.
    pub top_p: f64,
    /// What logits are divided by.
    pub temperature: f64,
    /// The random number.
    pub uniform: f64,
}

/// All tokens: those of larger logits first, and of equal ones the smaller index; NaN after all numbers.
fn ranked(logits: &[f64]) -> Vec<usize> {
    let place = |logit: f64| {
        // Zeros of both signs are equal.
        let bits = (logit + 0.0).to_bits();
        match logit {
            l if l.is_nan() => u64::MAX,
            l if l < 0.0 => bits,
            _ => i64::MAX as u64 - bits,
        }
    };
    // A place and an index in one integer: rows of vocabularies are sorted several times as fast as by comparing floats.
    let mut keys: Vec<u128> =
        logits.iter().enumerate().map(|(i, &logit)| u128::from(place(logit)) << 64 | i as u128).collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| key as u64 as usize).collect()
}

/// The token of a row.
pub fn row(order: FilterOrder, at: TemperatureAt, draw: Draw, logits: &[f64]) -> usize {
    let ranked = ranked(logits);
    let most = logits[ranked[0]];
    if draw.temperature == 0.0 || most.is_nan() || most == f64::NEG_INFINITY {
        return ranked[0];
    }
    let weight = |logit: f64, temperature: f64| match logit {
        l if l.is_nan() => 0.0,
        // Infinities share all there is.
        l if most == f64::INFINITY => f64::from(u8::from(l == most)),
        l => ((l - most) / temperature).exp(),
    };
    let filtering = if at == TemperatureAt::BeforeFilters { draw.temperature } else { 1.0 };
    let k = if draw.top_k > 0.0 { ranked.len().min(draw.top_k as usize) } else { ranked.len() };
    let mut kept = k;
    if draw.top_p < 1.0 {
        let counted = if order == FilterOrder::KThenP { k } else { ranked.len() };
        let weights: Vec<f64> = ranked[..counted].iter().map(|&i| weight(logits[i], filtering)).collect();
        let wanted = draw.top_p * weights.iter().sum::<f64>();
        let mut sum = 0.0;
        let reached = weights.iter().position(|w| {
            sum += w;
            sum >= wanted
        });
        kept = kept.min(reached.map_or(counted, |at| at + 1));
    }
    let mut tokens = ranked[..kept].to_vec();
    tokens.sort_unstable();
    let weight = |&i: &usize| weight(logits[i], draw.temperature);
    let target = draw.uniform * tokens.iter().map(weight).sum::<f64>();
    let mut sum = 0.0;
    let drawn = tokens.iter().find(|&i| {
        sum += weight(i);
        sum > target
    });
    *drawn.unwrap_or(&ranked[0])
}

impl Reference for TopKTopPSampling {
    fn reference(problem: &TopKTopPSamplingProblem, arguments: &mut Arguments) -> Result<(), ReferenceError> {
        let mut out = arguments.take("out")?;
        let tokens = out.data.len();
        let logits = arguments.exactly("logits", tokens * problem.vocab_size)?;
        let names = ["top_k", "top_p", "temperature", "seeds", "offsets"];
        let mut of = [&[][..]; 5];
        for (values, name) in of.iter_mut().zip(names) {
            *values = arguments.exactly(name, tokens)?;
        }
        let [top_k, top_p, temperature, seeds, offsets] = of;
        let valid = problem.valid_size.unwrap_or(problem.vocab_size);
        let mut faults = Vec::new();
        for (token, logits) in logits.chunks(problem.vocab_size).enumerate() {
            let uniform = uniform(seeds[token] as u64, offsets[token] as u64);
            let draw = Draw { top_k: top_k[token], top_p: top_p[token], temperature: temperature[token], uniform };
            let fault = if draw.top_k < -1.0 {
                Some(TOP_K_ILLEGAL)
            } else if !(0.0..=1.0).contains(&draw.top_p) {
                Some(TOP_P_ILLEGAL)
            } else if !(0.0..f64::INFINITY).contains(&draw.temperature) {
                Some(TEMPERATURE_ILLEGAL)
            } else {
                None
            };
            faults.extend(fault.map(|fault| (fault, token)));
            out.data[token] = match fault {
                Some(_) => 0.0,
                None => row(problem.order, problem.temperature_at, draw, &logits[..valid]) as f64,
            };
        }
        for (fault, token) in faults {
            arguments.fault(fault, token)?;
        }
        arguments.put("out", out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that the authors of Philox publish with it (Random123).
    #[test]
    fn philox_gives_its_known_answers() {
        let all = u32::MAX;
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([all; 4], [all; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let counter = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        let known = [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1];
        assert_eq!(philox(counter, [0xa409_3822, 0x299f_31d0]), known);
    }

    fn drawn(top_k: f64, top_p: f64, temperature: f64, uniform: f64, logits: &[f64]) -> usize {
        let draw = Draw { top_k, top_p, temperature, uniform };
        row(FilterOrder::KThenP, TemperatureAt::BeforeFilters, draw, logits)
    }

    #[test]
    fn ends_of_parameters() {
        // Weights 4, 2, 1, 1.
        let logits = [2.0, 1.0, 0.0, 0.0].map(|bits: f64| bits * 2.0_f64.ln());
        let all = |k, p| [0.0, 0.3, 0.6, 0.8, 0.95].map(|u| drawn(k, p, 1.0, u, &logits));
        for (k, p, wanted) in [
            (0.0, 1.0, [0, 0, 1, 2, 3]),
            (-1.0, 1.0, [0, 0, 1, 2, 3]),
            (4.0, 1.0, [0, 0, 1, 2, 3]),
            (9.0, 1.0, [0, 0, 1, 2, 3]),
            (1.0, 1.0, [0; 5]),
            (0.0, 0.0, [0; 5]),
            // Of the two equal ones the first.
            (3.0, 1.0, [0, 0, 1, 1, 2]),
            (0.0, 0.51, [0, 0, 0, 1, 1]),
        ] {
            assert_eq!(all(k, p), wanted, "k {k} p {p}");
        }
        assert_eq!(drawn(0.0, 1.0, 0.0, 0.99, &[1.0, 5.0, 5.0, 0.0]), 1);
        assert_eq!(drawn(0.0, 1.0, 1.0, 0.99, &[3.0]), 0);
    }

    #[test]
    fn tokens_are_ranked_by_value_then_index_and_nan_comes_last() {
        let (nan, inf, tiny) = (f64::NAN, f64::INFINITY, f64::from_bits(1));
        let logits = [nan, -0.0, 0.0, -inf, 2.0, -tiny, tiny, inf, -3.0, 2.0, -nan, -1.0, f64::MAX, f64::MIN];
        assert_eq!(ranked(&logits), [7, 12, 4, 9, 6, 1, 2, 5, 11, 8, 13, 3, 0, 10]);
        assert_eq!(ranked(&[]), [0_usize; 0]);
    }

    #[test]
    fn the_two_orders_differ() {
        // Of 4, 3, 2, 1 the first two are 7 of 10, and the first is 4 of 7.
        let logits = [4.0_f64, 3.0, 2.0, 1.0].map(f64::ln);
        let with = |order| {
            let draw = Draw { top_k: 2.0, top_p: 0.5, temperature: 1.0, uniform: 0.99 };
            row(order, TemperatureAt::BeforeFilters, draw, &logits)
        };
        assert_eq!((with(FilterOrder::KThenP), with(FilterOrder::Joint)), (0, 1));
    }

    #[test]
    fn broken_rows_give_tokens_of_the_vocabulary() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let with = |u, logits: &[f64]| drawn(0.0, 1.0, 1.0, u, logits);
        assert_eq!(with(0.9, &[nan; 3]), 0);
        assert_eq!(with(0.0, &[nan, 1.0, 0.0]), 1);
        assert_eq!(with(0.9, &[-inf; 3]), 0);
        assert_eq!(with(0.9, &[nan, -inf, -inf]), 1);
        assert_eq!((with(0.4, &[inf, inf, 0.0]), with(0.9, &[inf, inf, 0.0])), (0, 1));
    }
}
