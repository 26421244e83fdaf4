// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Codes of files against decodings that are written here from the formats' definitions, and bytes worked out by hand. Case
//! A31: a packer and an unpacker that are wrong together agree, so none of this goes there and back.

use half::f16;
use opweave_contract::ops::linear::{
    ConvertError, GgufBlock, StoredZero, WeightOffset, WeightShape, from_awq, from_gguf, from_gptq,
};

/// Code `(n, k)` of codes in the contract's order.
fn code(codes: &[u8], bits: usize, in_features: usize, n: usize, k: usize) -> i32 {
    let row = &codes[n * in_features * bits / 8..][..in_features * bits / 8];
    i32::from(match (bits, k % 2) {
        (8, _) => row[k],
        (_, 0) => row[k / 2] & 15,
        _ => row[k / 2] >> 4,
    })
}

/// Bytes without a pattern.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 0x1234_5678_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..count).map(next).collect()
}

#[test]
fn a31_golden_bytes_of_gguf() {
    // Scale 1, first byte of codes 0x21, the others 0x88.
    let mut block = vec![0x00, 0x3c, 0x21];
    block.resize(18, 0x88);
    let weight = from_gguf(GgufBlock::Q4_0, &block, WeightShape::new(32, 1)).unwrap();
    let number = |k| code(&weight.codes, 4, 32, 0, k) - 8;
    assert_eq!((number(0), number(16), number(1)), (-7, -6, 0));
    assert_eq!((weight.scales, weight.minima), (vec![f16::ONE], vec![]));

    // Scale 2, minimum -0.5.
    let mut block = vec![0x00, 0x40, 0x00, 0xb8, 0xf0];
    block.resize(20, 0x30);
    let weight = from_gguf(GgufBlock::Q4_1, &block, WeightShape::new(32, 1)).unwrap();
    assert_eq!([0, 1, 16, 17].map(|k| code(&weight.codes, 4, 32, 0, k)), [0, 0, 15, 3]);
    assert_eq!((weight.scales[0].to_f32(), weight.minima[0].to_f32()), (2.0, -0.5));

    let mut block = vec![0x00, 0x3c, 0x80, 0x7f, 0xff];
    block.resize(34, 0);
    let weight = from_gguf(GgufBlock::Q8_0, &block, WeightShape::new(32, 1)).unwrap();
    assert_eq!([0, 1, 2, 3].map(|k| code(&weight.codes, 8, 32, 0, k) - 128), [-128, 127, -1, 0]);
}

#[test]
fn gguf_blocks_have_the_numbers_of_their_definition() {
    let (k, n) = (96, 5);
    for format in [GgufBlock::Q4_0, GgufBlock::Q4_1, GgufBlock::Q8_0] {
        let bytes = noise(n * k / 32 * format.bytes());
        let weight = from_gguf(format, &bytes, WeightShape::new(k, n)).unwrap();
        for row in 0..n {
            for column in 0..k {
                let block = &bytes[(row * k / 32 + column / 32) * format.bytes()..][..format.bytes()];
                let (j, upper) = (column % 16, column % 32 >= 16);
                let nibble = |first: usize| if upper { block[first + j] / 16 } else { block[first + j] % 16 };
                let stored = match format {
                    GgufBlock::Q4_0 => i32::from(nibble(2)) - 8,
                    GgufBlock::Q4_1 => i32::from(nibble(4)),
                    GgufBlock::Q8_0 => i32::from(block[2 + column % 32] as i8),
                };
                let middle = if format.offset() == WeightOffset::None { 1 << (format.bits() - 1) } else { 0 };
                assert_eq!(code(&weight.codes, format.bits(), k, row, column) - middle, stored, "{format:?}");
                let place = column / 32 * n + row;
                assert_eq!(weight.scales[place].to_bits(), u16::from(block[0]) + 256 * u16::from(block[1]));
                if format == GgufBlock::Q4_1 {
                    assert_eq!(weight.minima[place].to_bits(), u16::from(block[2]) + 256 * u16::from(block[3]));
                }
            }
        }
    }
}

#[test]
fn a31_golden_words_of_gptq_and_awq() {
    // One group of eight columns of the input, eight of the result: word n holds row n's codes, all 0 to 7.
    let linear = from_gptq((4, 8), &[0x7654_3210; 8], None, WeightShape::new(8, 8)).unwrap();
    for n in 0..8 {
        assert_eq!((0..8).map(|k| code(&linear.codes, 4, 8, n, k)).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
    let zeros = |stored| {
        let zeros = Some((&[0x7654_3210_u32][..], stored));
        from_gptq((4, 8), &[0; 8], zeros, WeightShape::new(8, 8)).unwrap().zeros
    };
    assert_eq!(zeros(StoredZero::MinusOne), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(zeros(StoredZero::AsUsed), [0, 1, 2, 3, 4, 5, 6, 7]);
    // A stored 15 is used as 16, which is no code of 4 bits and legal.
    let most = from_gptq((4, 8), &[0; 8], Some((&[u32::MAX], StoredZero::MinusOne)), WeightShape::new(8, 8)).unwrap();
    assert_eq!(most.zeros, [16; 8]);

    let awq = from_awq(2, &[0x7654_3210; 2], &[0x7654_3210], WeightShape::new(2, 8)).unwrap();
    let expected = [0, 4, 1, 5, 2, 6, 3, 7];
    for k in 0..2 {
        assert_eq!((0..8).map(|n| code(&awq.codes, 4, 2, n, k)).collect::<Vec<_>>(), expected);
    }
    assert_eq!(awq.zeros, expected.map(|zero| zero as u8));
}

#[test]
fn gptq_words_run_along_the_input_and_their_zeros_along_the_result() {
    let (k, n, group) = (64, 16, 32);
    for bits in [4, 8] {
        let each = 32 / bits;
        let words = |count: usize| -> Vec<u32> {
            noise(4 * count).chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
        };
        let (qweight, qzeros) = (words(k / each * n), words(k / group * n / each));
        let weight =
            from_gptq((bits, group), &qweight, Some((&qzeros, StoredZero::AsUsed)), WeightShape::new(k, n)).unwrap();
        for row in 0..n {
            for column in 0..k {
                let word = u64::from(qweight[column / each * n + row]);
                let stored = word / 2_u64.pow((column % each * bits) as u32) % 2_u64.pow(bits as u32);
                assert_eq!(code(&weight.codes, bits, k, row, column) as u64, stored);
            }
            let word = u64::from(qzeros[n / each + row / each]);
            let stored = word / 2_u64.pow((row % each * bits) as u32) % 2_u64.pow(bits as u32);
            assert_eq!(u64::from(weight.zeros[n + row]), stored, "second group");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    let shape = WeightShape::new(64, 3);
    let refused = |error: ConvertError| error.to_string();
    assert_eq!(
        refused(from_gguf(GgufBlock::Q4_0, &[0; 107], shape).unwrap_err()),
        "convert a quantised weight: the tensor has 107 elements; its shape says 3 * 2 * 18"
    );
    assert_eq!(
        refused(from_gguf(GgufBlock::Q4_0, &[], WeightShape::new(33, 3)).unwrap_err()),
        "convert a quantised weight: in_features is 33; expected a multiple of 32"
    );
    let huge = WeightShape::new(1 << 62, 1 << 62);
    assert!(matches!(from_gguf(GgufBlock::Q8_0, &[0; 34], huge), Err(ConvertError::Length { .. })));
    assert!(matches!(from_gptq((3, 32), &[], None, shape), Err(ConvertError::Bits { bits: 3 })));
    assert!(matches!(from_gptq((4, 0), &[], None, shape), Err(ConvertError::Multiple { of: 0, .. })));
    assert!(matches!(from_gptq((4, 32), &[0; 23], None, shape), Err(ConvertError::Length { what: "qweight", .. })));
    assert!(matches!(from_awq(32, &[0; 8], &[], shape), Err(ConvertError::Multiple { what: "out_features", .. })));
    let zeros = Some((&[u32::MAX; 2][..], StoredZero::MinusOne));
    let error = from_gptq((8, 4), &[0; 8], zeros, WeightShape::new(4, 8)).unwrap_err();
    assert_eq!(error, ConvertError::Zero { group: 0, column: 0 });
}
