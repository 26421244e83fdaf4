// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Each operator against the same computed by candle, and what is refused.

use candle_core::{D, DType, Device, Result, Tensor};
use opweave_candle::{
    Activation, FusedAddRmsNorm, GatedActivation, LayerNorm, RmsNorm, Rotary, RotaryStyle, Session, Softmax,
};

/// Numbers without a pattern between -2 and 2.
fn noise(seed: u32, shape: &[usize], dtype: DType) -> Result<Tensor> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 22) as f32 - 2.0
    };
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| next()).collect();
    Tensor::from_vec(values, shape, &Device::Cpu)?.to_dtype(dtype)
}

/// The largest difference, relative to the larger of 1 and the value.
fn distance(a: &Tensor, b: &Tensor) -> Result<f32> {
    let (a, b) = (a.to_dtype(DType::F32)?, b.to_dtype(DType::F32)?);
    let scale = b.abs()?.maximum(&b.ones_like()?)?;
    ((a - b)?.abs()? / scale)?.flatten_all()?.max(0)?.to_scalar()
}

fn close(dtype: DType) -> f32 {
    if dtype == DType::F32 { 1e-5 } else { 2e-2 }
}

const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

#[test]
fn norms_are_those_of_candle() -> Result<()> {
    let session = Session::new(2)?;
    for dtype in DTYPES {
        let (x, residual) = (noise(1, &[2, 3, 96], dtype)?, noise(2, &[2, 3, 96], dtype)?);
        let (w, b) = (noise(3, &[96], dtype)?, noise(4, &[96], dtype)?);
        let norm = RmsNorm::new(&session, 96, dtype, 1e-5)?;
        assert!(norm.kernel().starts_with("cpu.native.rms_norm"));
        assert!(distance(&norm.forward(&x, &w)?, &candle_nn::ops::rms_norm(&x, &w, 1e-5)?)? < close(dtype));
        let (sum, out) = FusedAddRmsNorm::new(&session, 96, dtype, 1e-5)?.forward(&x, &residual, &w)?;
        assert!(distance(&sum, &(&x + &residual)?)? < close(dtype));
        assert!(distance(&out, &candle_nn::ops::rms_norm(&(&x + &residual)?, &w, 1e-5)?)? < close(dtype));
        assert_eq!((sum.dims(), out.dims()), (x.dims(), x.dims()));
        let norm = LayerNorm::new(&session, 96, dtype, 1e-5)?.forward(&x, Some(&w), Some(&b))?;
        assert!(distance(&norm, &candle_nn::ops::layer_norm(&x, &w, &b, 1e-5)?)? < close(dtype));
        let zero = b.zeros_like()?;
        let norm = LayerNorm::without_bias(&session, 96, dtype, 1e-5)?.forward(&x, Some(&w), None)?;
        assert!(distance(&norm, &candle_nn::ops::layer_norm(&x, &w, &zero, 1e-5)?)? < close(dtype));
        let norm = LayerNorm::without_parameters(&session, 96, dtype, 1e-5)?.forward(&x, None, None)?;
        assert!(distance(&norm, &candle_nn::ops::layer_norm(&x, &w.ones_like()?, &zero, 1e-5)?)? < close(dtype));
    }
    Ok(())
}

#[test]
fn activations_are_those_of_candle() -> Result<()> {
    let session = Session::new(1)?;
    for dtype in DTYPES {
        let packed = noise(5, &[4, 2 * 33], dtype)?;
        let (gate, up) = (packed.narrow(1, 0, 33)?, packed.narrow(1, 33, 33)?);
        for activation in [Activation::Silu, Activation::Gelu, Activation::GeluTanh] {
            let gate32 = gate.to_dtype(DType::F32)?;
            let through = match activation {
                Activation::Silu => candle_nn::ops::silu(&gate32)?,
                Activation::Gelu => gate32.gelu_erf()?,
                Activation::GeluTanh => gate32.gelu()?,
            };
            let wanted = (through * up.to_dtype(DType::F32)?)?;
            let whole = GatedActivation::packed(&session, activation, 33, dtype)?;
            assert!(distance(&whole.forward(&packed)?, &wanted)? < close(dtype), "{activation:?} {dtype:?}");
            // The halves of a packed row are strided rows.
            let apart = GatedActivation::separate(&session, activation, 33, dtype)?;
            assert!(
                distance(&apart.forward_separate(&gate, &up)?, &wanted)? < close(dtype),
                "{activation:?} {dtype:?}"
            );
            assert!(whole.forward_separate(&gate, &up).is_err() && apart.forward(&packed).is_err());
        }
    }
    Ok(())
}

#[test]
fn softmax_and_rotary_are_those_of_candle() -> Result<()> {
    let session = Session::new(1)?;
    for dtype in DTYPES {
        let x = noise(6, &[2, 5, 50], dtype)?;
        let softmax = Softmax::new(&session, 50, dtype)?;
        let wanted = candle_nn::ops::softmax(&x.to_dtype(DType::F32)?, D::Minus1)?;
        assert!(distance(&softmax.forward(&x)?, &wanted)? < close(dtype));
        let half = candle_nn::ops::softmax(&(x.to_dtype(DType::F32)? * 2.0)?, D::Minus1)?;
        assert!(distance(&softmax.temperature(0.5).forward(&x)?, &half)? < close(dtype));

        // candle turns [batch, heads, tokens, features]; one batch whose tokens begin at position 3.
        let heads = noise(7, &[6, 4, 16], dtype)?;
        let angles = (noise(8, &[9, 8], DType::F32)? * 0.7)?;
        let (cos, sin) = (angles.cos()?.to_dtype(dtype)?, angles.sin()?.to_dtype(dtype)?);
        let table = Tensor::cat(&[&cos, &sin], 1)?;
        let positions = Tensor::arange(3_i64, 9, &Device::Cpu)?;
        for style in [RotaryStyle::Neox, RotaryStyle::Interleaved] {
            let ours = Rotary::new(&session, 4, 16, dtype, style)?.forward(&heads, &table, &positions)?;
            let theirs = heads.transpose(0, 1)?.unsqueeze(0)?.contiguous()?;
            let (cos, sin) = (cos.narrow(0, 3, 6)?.contiguous()?, sin.narrow(0, 3, 6)?.contiguous()?);
            let theirs = match style {
                RotaryStyle::Neox => candle_nn::rotary_emb::rope(&theirs, &cos, &sin)?,
                RotaryStyle::Interleaved => candle_nn::rotary_emb::rope_i(&theirs, &cos, &sin)?,
            };
            assert!(distance(&ours, &theirs.squeeze(0)?.transpose(0, 1)?)? < close(dtype), "{style:?} {dtype:?}");
        }
    }
    Ok(())
}

#[test]
fn rows_may_be_strided_and_nothing_is_copied_wrong() -> Result<()> {
    let session = Session::new(1)?;
    let wide = noise(9, &[4, 3, 80], DType::F32)?;
    let w = noise(10, &[32], DType::F32)?;
    let norm = RmsNorm::new(&session, 32, DType::F32, 1e-6)?;
    // A slice of each row, and rows of one index of the middle dimension.
    for x in
        [wide.narrow(2, 17, 32)?, wide.narrow(1, 1, 1)?.narrow(2, 40, 32)?, wide.narrow(0, 2, 1)?.narrow(2, 0, 32)?]
    {
        let wanted = candle_nn::ops::rms_norm(&x.contiguous()?, &w, 1e-6)?;
        let found = norm.forward(&x, &w)?;
        assert_eq!(found.dims(), x.dims());
        assert!(distance(&found, &wanted)? < 1e-5);
    }
    let none = wide.narrow(0, 0, 0)?.narrow(2, 0, 32)?;
    assert_eq!(norm.forward(&none, &w)?.dims(), [0, 3, 32]);
    Ok(())
}

#[test]
fn what_was_not_prepared_for_is_an_error_that_says_so() -> Result<()> {
    let session = Session::new(1)?;
    let norm = RmsNorm::new(&session, 32, DType::F32, 1e-6)?;
    let w = noise(1, &[32], DType::F32)?;
    let said = |result: Result<Tensor>| result.unwrap_err().to_string();
    let x = noise(2, &[32, 4, 32], DType::F32)?;
    assert!(said(norm.forward(&x.transpose(0, 2)?, &w)).contains("call contiguous()"));
    assert!(said(norm.forward(&x.transpose(0, 1)?, &w)).contains("not rows of one stride"));
    assert!(said(norm.forward(&w.broadcast_as((4, 32))?, &w)).contains("not rows of one stride"));
    assert!(said(norm.forward(&noise(3, &[4, 31], DType::F32)?, &w)).contains("32"));
    assert!(said(norm.forward(&noise(3, &[4, 32], DType::BF16)?, &w)).contains("dtype"));
    assert!(said(norm.forward(&noise(3, &[4, 32], DType::F64)?, &w)).contains("none of f32, f16, bf16"));
    assert!(RmsNorm::new(&session, 32, DType::U8, 1e-6).unwrap_err().to_string().contains("dtype u8 is none of"));
    assert!(RmsNorm::new(&session, 0, DType::F32, 1e-6).is_err());
    let layer = LayerNorm::without_bias(&session, 32, DType::F32, 1e-5)?;
    assert!(said(layer.forward(&w, Some(&w), Some(&w))).contains("prepared for a weight alone"));
    let rotary = Rotary::new(&session, 1, 32, DType::F32, RotaryStyle::Neox)?;
    let (x, table) = (noise(4, &[2, 1, 32], DType::F32)?, noise(5, &[4, 32], DType::F32)?);
    let outside = Tensor::new(&[1_i64, 4], &Device::Cpu)?;
    assert!(said(rotary.forward(&x, &table, &outside)).contains('4'));
    assert!(said(rotary.forward(&x, &table, &Tensor::new(&[1_u32, 2], &Device::Cpu)?)).contains("i64"));
    Ok(())
}
