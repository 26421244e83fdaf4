// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Linear layers: one order of every sum. Case A34: a row's bits depend neither on its batch nor on its place there, nor on
//! threads, nor on how the weight is passed. And the sums are right.

use std::num::NonZero;

use half::{bf16, f16};
use opweave_contract::ops::linear::{InputMode, LinearActivation, LinearWna16Problem, WeightOffset};
use opweave_cpu::Rows;
use opweave_cpu::linear::{
    FloatCall, Layer, QuantizedCall, Scales, Weight, code_bytes, float_bytes, float_linear, pack_codes, pack_floats,
    quantized_linear,
};
use opweave_cpu::simd::Isa;
use opweave_device::cpu::{Parallel, Pool, Serial};
use opweave_reference::ops::linear::linear_wna16::{seen, weight};
use opweave_tensor::DType;

/// Sizes of the weight: several runs of columns and a rest, several panels and a rest.
const IN: usize = 416;
const OUT: usize = 77;

/// Bytes aligned to cache lines.
struct Memory(Vec<u64>, usize);

impl Memory {
    fn new(bytes: usize) -> Memory {
        let words = vec![0_u64; bytes / 8 + 16];
        let base = words.as_ptr() as usize;
        Memory(words, base.next_multiple_of(64) - base)
    }

    fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast::<u8>().wrapping_add(self.1)
    }
}

/// Numbers in -1..1, and their bits as a source of codes.
fn noise(at: usize) -> f32 {
    let mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
}

fn fill(dtype: DType, to: *mut u8, count: usize, number: impl Fn(usize) -> f32) {
    for at in 0..count {
        // SAFETY: the caller's buffer has `count` elements of the dtype.
        unsafe {
            match dtype {
                DType::F32 => to.cast::<f32>().add(at).write(number(at)),
                DType::F16 => to.cast::<f16>().add(at).write(f16::from_f32(number(at))),
                _ => to.cast::<bf16>().add(at).write(bf16::from_f32(number(at))),
            }
        }
    }
}

/// A weight, packed and plain.
struct Case {
    dtype: DType,
    quantized: Option<(usize, InputMode, WeightOffset)>,
    plain: Memory,
    packed: Memory,
    scales: Memory,
    offsets: Memory,
}

impl Case {
    fn new(isa: Isa, dtype: DType, quantized: Option<(usize, InputMode, WeightOffset)>) -> Case {
        let mut case = Case {
            dtype,
            quantized,
            plain: Memory::new(IN * OUT * 4),
            packed: Memory::new(float_bytes(DType::F32, IN, OUT)),
            scales: Memory::new(IN / 32 * OUT * 4),
            offsets: Memory::new(IN / 32 * OUT * 4),
        };
        let (plain, packed) = (case.plain.data(), case.packed.data());
        // SAFETY of both: memory of the sizes that the calls state.
        if let Some((bits, _, offset)) = quantized {
            // SAFETY: as above.
            (0..IN * OUT * bits / 8).for_each(|at| unsafe { plain.add(at).write((noise(at) * 1e4) as i64 as u8) });
            let rows = Rows { data: plain, stride: (IN * bits / 8) as isize };
            assert!(code_bytes(bits, IN, OUT) <= float_bytes(DType::F32, IN, OUT));
            // SAFETY: as above.
            unsafe { pack_codes(isa, &Serial, (rows, bits), (IN, OUT), packed) };
            fill(DType::F32, case.scales.data(), IN / 32 * OUT, |at| 0.02 + 0.01 * noise(at));
            if offset == WeightOffset::Integer {
                let zeros = case.offsets.data();
                // SAFETY: as above.
                (0..IN / 32 * OUT).for_each(|at| unsafe { zeros.add(at).write((at * 5 % 17) as u8) });
            } else {
                fill(DType::F32, case.offsets.data(), IN / 32 * OUT, |at| 0.1 * noise(at + 9) - 0.15);
            }
        } else {
            fill(dtype, plain, IN * OUT, noise);
            let rows = Rows { data: plain, stride: IN as isize };
            // SAFETY: as above.
            unsafe { pack_floats(isa, &Serial, (rows, dtype), (IN, OUT), packed) };
        }
        case
    }

    /// The results of `tokens` rows, of which each is `row(token)` of the noise.
    fn run(
        &mut self,
        isa: Isa,
        pool: &dyn Parallel,
        plain: bool,
        tokens: usize,
        row: impl Fn(usize) -> usize,
    ) -> Vec<u32> {
        let mut input = Memory::new(tokens * IN * 4);
        fill(self.dtype, input.data(), tokens * IN, |at| noise(row(at / IN) * 1000 + at % IN));
        let mut out = vec![f32::NAN; tokens * OUT];
        let layer = Layer {
            tokens,
            in_features: IN,
            out_features: OUT,
            dtype: self.dtype,
            input: Rows { data: input.data(), stride: IN as isize },
            bias: None,
            out_dtype: DType::F32,
            out: Rows { data: out.as_mut_ptr().cast(), stride: OUT as isize },
            activation: LinearActivation::None,
        };
        let bits = self.quantized.map_or(self.dtype.bits(), |(bits, ..)| bits);
        let stride = if self.quantized.is_some() { IN * bits / 8 } else { IN };
        let weight = if plain {
            Weight::Plain(Rows { data: self.plain.data(), stride: stride as isize })
        } else {
            Weight::Packed(self.packed.data())
        };
        let groups = |memory: &mut Memory| Rows { data: memory.data(), stride: OUT as isize };
        // SAFETY: memory of the sizes that the calls state.
        unsafe {
            match self.quantized {
                None => float_linear(isa, pool, &FloatCall { layer, weight, weight_dtype: self.dtype }),
                Some((bits, input_mode, offset)) => {
                    let scales = Scales {
                        group_size: 32,
                        dtype: DType::F32,
                        scales: groups(&mut self.scales),
                        offset,
                        offsets: groups(&mut self.offsets),
                    };
                    quantized_linear(isa, pool, &QuantizedCall { layer, weight, bits, scales, input_mode });
                }
            }
        }
        out.into_iter().map(f32::to_bits).collect()
    }
}

fn cases(isa: Isa) -> Vec<Case> {
    let mut cases: Vec<Case> = [DType::F32, DType::F16, DType::BF16].map(|dtype| Case::new(isa, dtype, None)).into();
    for bits in [4, 8] {
        for mode in [InputMode::AsIs, InputMode::I8Block32] {
            for offset in [WeightOffset::None, WeightOffset::Integer, WeightOffset::Minimum] {
                cases.push(Case::new(isa, DType::F32, Some((bits, mode, offset))));
            }
        }
    }
    cases
}

/// A number of a buffer.
fn read(dtype: DType, from: *const u8, at: usize) -> f64 {
    // SAFETY: the caller's buffer has such an element.
    unsafe {
        match dtype {
            DType::F32 => f64::from(*from.cast::<f32>().add(at)),
            DType::F16 => (*from.cast::<f16>().add(at)).to_f64(),
            _ => (*from.cast::<bf16>().add(at)).to_f64(),
        }
    }
}

impl Case {
    /// The weight as numbers.
    fn numbers(&mut self) -> Vec<f64> {
        let (plain, dtype) = (self.plain.data(), self.dtype);
        let Some((bits, _, offset)) = self.quantized else {
            return (0..IN * OUT).map(|at| read(dtype, plain, at)).collect();
        };
        let problem = LinearWna16Problem { bits, offset, ..LinearWna16Problem::new(IN, OUT, DType::F32) };
        // SAFETY: so many bytes are there.
        let byte = |from: *const u8, at: usize| f64::from(unsafe { *from.add(at) });
        let codes: Vec<f64> = (0..IN * OUT * bits / 8).map(|at| byte(plain, at)).collect();
        let floats = |from: *const u8| (0..IN / 32 * OUT).map(|at| read(DType::F32, from, at)).collect::<Vec<_>>();
        let scales = floats(self.scales.data());
        let offsets = match offset {
            WeightOffset::Integer => (0..IN / 32 * OUT).map(|at| byte(self.offsets.data(), at)).collect(),
            _ => floats(self.offsets.data()),
        };
        weight(&problem, &codes, &scales, (offset != WeightOffset::None).then_some(&offsets))
    }
}

#[test]
fn sums_are_those_of_the_reference() {
    for isa in Isa::available() {
        for mut case in cases(isa) {
            let weight = case.numbers();
            let mode = case.quantized.map_or(InputMode::AsIs, |(_, mode, _)| mode);
            for tokens in [1, 2, 5, 14, 97] {
                for plain in [false, true] {
                    let found = case.run(isa, &Serial, plain, tokens, |token| token);
                    let mut buffer = Memory::new(IN * 4);
                    for token in 0..tokens {
                        fill(case.dtype, buffer.data(), IN, |at| noise(token * 1000 + at));
                        let row: Vec<f64> = (0..IN).map(|at| read(case.dtype, buffer.data(), at)).collect();
                        let row = seen(mode, &row);
                        for (n, found) in found[token * OUT..][..OUT].iter().enumerate() {
                            let terms = row.iter().zip(&weight[n * IN..]).map(|(x, w)| x * w);
                            let (sum, size) =
                                terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
                            let error = (f64::from(f32::from_bits(*found)) - sum).abs();
                            let what = format!("{} {:?} {tokens} rows, plain {plain}", isa.name(), case.quantized);
                            assert!(error <= 2e-6 * size, "{what}: row {token}, column {n}: off by {error}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a34_a_row_has_the_same_bits_in_every_batch_and_at_every_place() {
    for isa in Isa::available() {
        for mut case in cases(isa) {
            let alone = case.run(isa, &Serial, false, 1, |_| 5);
            for tokens in [2, 3, 4, 5, 6, 8, 11, 12, 17, 33, 97, 128, 257] {
                for place in [0, tokens / 2, tokens - 1] {
                    let row = |token| if token == place { 5 } else { token + 10 };
                    let batch = case.run(isa, &Serial, false, tokens, row);
                    let found = &batch[place * OUT..][..OUT];
                    assert!(found == alone, "{} {:?} place {place} of {tokens}", isa.name(), case.quantized);
                }
            }
        }
    }
}

#[test]
fn threads_and_the_form_of_the_weight_change_no_bit() {
    for isa in Isa::available() {
        for mut case in cases(isa) {
            for tokens in [1, 3, 40, 200] {
                let expected = case.run(isa, &Serial, false, tokens, |token| token);
                for threads in [2, 3] {
                    let pool = Pool::new(NonZero::new(threads).expect("not zero")).expect("a few threads");
                    let found = case.run(isa, &pool, false, tokens, |token| token);
                    assert!(found == expected, "{} {:?} {threads} threads", isa.name(), case.quantized);
                }
                let plain = case.run(isa, &Serial, true, tokens, |token| token);
                assert!(plain == expected, "{} {:?} plain, {tokens} rows", isa.name(), case.quantized);
            }
        }
    }
}
