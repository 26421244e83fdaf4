// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which entry of an image a call takes, and in which shape. What depends on the number of tokens changes no bit of the result.

use opweave_device::{DeviceError, LaunchError, StreamRef};
use opweave_device_cuda::{Grid, Launch};
use opweave_kernels_cuda::Variant;
use opweave_tensor::DType;

use super::shape::{Shape, WARP, along};
use super::{Flags, RotaryParams};
use crate::native::LoadedImage;

/// An entry, and its blocks for few and for many tokens.
#[derive(Clone, Debug)]
struct Way {
    few: (Launch, Shape),
    many: (Launch, Shape),
}

/// The entries of a kernel for one problem.
#[derive(Clone, Debug)]
pub(crate) struct Kernels {
    /// With accesses to whole vectors, where the problem's sizes allow them.
    vector: Option<Way>,
    any: Way,
    /// Elements in 16 bytes.
    elements: u64,
    /// Units of a head, and heads of a token, multiplied.
    units: u64,
    multiprocessors: u64,
}

/// The sizes of a problem.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) dtype: DType,
    /// Queries and keys.
    pub(crate) heads: usize,
    pub(crate) head_dim: usize,
    pub(crate) rotary_dim: usize,
}

impl Sizes {
    fn elements(self) -> u64 {
        (128 / self.dtype.bits()) as u64
    }

    /// Units of a head in vectors, if half of what is turned is whole vectors.
    fn units(self) -> Option<u64> {
        let pairs = self.rotary_dim as u64 / 2;
        pairs.is_multiple_of(self.elements()).then(|| pairs / self.elements())
    }
}

/// Threads of a multiprocessor that are busy with loads, about.
const PLACES: u64 = 1024;

impl Kernels {
    /// Finds the entries of `rotary_embedding`.
    pub(crate) fn turning(image: &LoadedImage<'_>, sizes: Sizes) -> Result<Self, DeviceError> {
        let heads = sizes.heads as u64;
        let (one, two) = (variant(image, "h1")?, variant(image, "h2")?);
        let way = |units: u64| -> Result<Way, DeviceError> {
            let (few, many) = (one.max_block as u64, two.max_block as u64);
            Ok(Way {
                few: (image.launch(sizes.dtype, &one.suffix)?, Shape::spread(along(units, few), heads, few)),
                many: (image.launch(sizes.dtype, &two.suffix)?, Shape::whole(along(units, many), heads, 2, many)),
            })
        };
        let pairs = sizes.rotary_dim as u64 / 2;
        let vector = sizes.units().map(way).transpose()?;
        Ok(Kernels::new(image, sizes, vector, way(pairs)?))
    }

    /// Finds the entries of `fused_qk_norm_rope`.
    pub(crate) fn normalising(image: &LoadedImage<'_>, sizes: Sizes) -> Result<Self, DeviceError> {
        let heads = sizes.heads as u64;
        let way = |suffix: &str, lanes: u64, each: u64| -> Result<Way, DeviceError> {
            let variant = variant(image, suffix)?;
            let (launch, block) = (image.launch(sizes.dtype, suffix)?, variant.max_block as u64);
            let few = (launch.clone(), Shape::spread(lanes, heads, block));
            Ok(Way { few, many: (launch, Shape::whole(lanes, heads, each, block)) })
        };
        let vector = match held(sizes) {
            Some((lanes, 0)) => Some(way("whole", lanes, 2)?),
            Some((lanes, _)) => Some(way("part", lanes, 2)?),
            None => None,
        };
        Ok(Kernels::new(image, sizes, vector, way("any", WARP, 1)?))
    }

    fn new(image: &LoadedImage<'_>, sizes: Sizes, vector: Option<Way>, any: Way) -> Self {
        let (elements, multiprocessors) = (sizes.elements(), image.multiprocessors());
        let units = (sizes.rotary_dim as u64 / 2).div_ceil(elements) * sizes.heads as u64;
        Kernels { vector, any, elements, units, multiprocessors }
    }

    /// Launches a call.
    ///
    /// # Safety
    /// - What the parameters point to is valid for what the kernel does, until the work has finished.
    #[inline]
    pub(crate) unsafe fn launch(&self, mut call: RotaryParams, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        // A size of a view, which is never negative.
        let tokens = call.tokens.unsigned_abs();
        if tokens == 0 {
            return Ok(());
        }
        let way = match &self.vector {
            Some(way) if call.is_vector(self.elements) => {
                call.flags |= Flags::VECTOR.0;
                way
            }
            _ => &self.any,
        };
        // Several heads to a thread where there is more to do than there are threads.
        let many = tokens.saturating_mul(self.units) > 2 * self.multiprocessors * PLACES;
        let (launch, shape) = if many { &way.many } else { &way.few };
        call.parts = shape.parts as u32;
        let grid =
            Grid { blocks: blocks(tokens, shape.parts), block: [shape.x as u32, shape.y as u32], shared_memory: 0 };
        // SAFETY: the parameters are the twin of the kernel's; the caller's clause for what they point to.
        unsafe { launch.run(grid, &call, stream) }
    }
}

/// Blocks for all parts of `tokens` tokens, or, where a grid has no room for them, of as many at a time as it has.
#[inline]
fn blocks(tokens: u64, parts: u64) -> u32 {
    const MOST: u64 = i32::MAX as u64;
    // At most 2^17 parts, one for each head.
    (tokens.min(MOST / parts) * parts) as u32
}

/// Lanes that hold a head of these sizes, one unit and at most two vectors that are not turned in each, and the number of such
/// vectors; none if a warp does not.
fn held(sizes: Sizes) -> Option<(u64, u64)> {
    let units = sizes.units()?;
    let vectors = sizes.head_dim as u64;
    let rest = (vectors.is_multiple_of(sizes.elements()).then(|| vectors / sizes.elements())?) - 2 * units;
    let lanes = units.max(rest.div_ceil(2)).next_power_of_two();
    (lanes <= WARP).then_some((lanes, rest))
}

fn variant<'a>(image: &'a LoadedImage<'_>, suffix: &str) -> Result<&'a Variant, DeviceError> {
    let found = image.description.variants.iter().find(|variant| variant.suffix == suffix);
    found.ok_or_else(|| DeviceError::State {
        device: image.context.device(),
        what: format!("the description of {} has no variant {suffix}", image.description.stem),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(dtype: DType, head_dim: usize, rotary_dim: usize) -> Sizes {
        Sizes { dtype, heads: 40, head_dim, rotary_dim }
    }

    #[test]
    fn heads_that_lanes_hold() {
        assert_eq!(held(sizes(DType::BF16, 128, 128)), Some((8, 0)));
        assert_eq!(held(sizes(DType::F32, 128, 128)), Some((16, 0)));
        assert_eq!(held(sizes(DType::BF16, 256, 64)), Some((16, 24)));
        assert_eq!(held(sizes(DType::F16, 96, 96)), Some((8, 0)));
        // Half of what is turned, or a head, is no whole number of vectors.
        assert_eq!(held(sizes(DType::BF16, 80, 40)), None);
        assert_eq!(held(sizes(DType::BF16, 68, 32)), None);
        // More than a warp holds.
        assert_eq!(held(sizes(DType::F32, 512, 512)), None);
        assert_eq!(held(sizes(DType::BF16, 1024, 16)), None);
    }

    #[test]
    fn a_grid_has_all_parts_of_each_of_its_tokens() {
        assert_eq!(blocks(3, 2), 6);
        assert_eq!(blocks(1 << 40, 3), i32::MAX as u32 / 3 * 3);
    }
}
