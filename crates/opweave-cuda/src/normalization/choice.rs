// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which entry of an image a call takes, and in which shape.
//!
//! The rules of `kernels-cuda/README.md`: a row stays in registers where it fits, lanes of a warp share a narrow row, and a width
//! that is no whole number of vectors goes through the loop. What depends on the number of rows is only how many threads share
//! a row that stays in registers, which changes no bit of the result.

use opweave_device::{DeviceError, LaunchError, StreamRef};
use opweave_device_cuda::{Grid, Launch};
use opweave_kernels_cuda::Team;
use opweave_tensor::DType;

use super::{Flags, NormParams};
use crate::native::LoadedImage;

/// One entry of an image.
#[derive(Clone, Debug)]
struct Entry {
    launch: Launch,
    team: Team,
    vectors_per_thread: u64,
    max_block: u64,
}

impl Entry {
    /// Vectors of a row that fit.
    fn capacity(&self) -> u64 {
        capacity_of(self.team, self.vectors_per_thread, self.max_block)
    }

    /// The block for a row of `vectors` vectors, which fit.
    #[inline]
    fn block(&self, vectors: u64) -> Block {
        block_of(self.team, self.vectors_per_thread, self.max_block, vectors)
    }
}

#[inline]
fn capacity_of(team: Team, per_thread: u64, max_block: u64) -> u64 {
    per_thread * if team == Team::Lanes { WARP } else { max_block }
}

#[inline]
fn block_of(team: Team, per_thread: u64, max_block: u64, vectors: u64) -> Block {
    match team {
        Team::Lanes => {
            let lanes = vectors.max(1).next_power_of_two();
            let x = if per_thread == 1 { lanes.min(WARP) } else { WARP };
            Block { x, y: max_block / x }
        }
        Team::Block => Block { x: vectors.div_ceil(per_thread).next_multiple_of(WARP), y: 1 },
    }
}

/// The entries of a kernel for one dtype, found and ready.
#[derive(Clone, Debug)]
pub(crate) struct Kernels {
    /// Those that keep a row in registers.
    registers: Vec<Entry>,
    any: Entry,
    /// Elements in 16 bytes.
    elements: u64,
    bytes: u64,
    multiprocessors: u64,
    cache: u64,
}

/// The block: threads along a row, and rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Block {
    x: u64,
    y: u64,
}

/// Lanes of a warp.
const WARP: u64 = 32;

impl Kernels {
    /// Finds the entries for `dtype`.
    pub(crate) fn find(image: &LoadedImage<'_>, dtype: DType) -> Result<Self, DeviceError> {
        let mut registers = Vec::new();
        let mut any = None;
        for variant in &image.description.variants {
            let symbol = image.description.symbol(dtype.name(), &variant.suffix);
            let entry = Entry {
                launch: Launch::new(image.module.function(&symbol)?, image.dependent),
                team: variant.team,
                vectors_per_thread: variant.vectors_per_thread as u64,
                max_block: variant.max_block as u64,
            };
            if variant.vectors_per_thread == 0 { any = Some(entry) } else { registers.push(entry) }
        }
        let what = || format!("the description of {} has no variant for any width", image.description.stem);
        let any = any.ok_or_else(|| DeviceError::State { device: image.context.device(), what: what() })?;
        let bytes = (dtype.bits() / 8) as u64;
        let info = image.context.info();
        Ok(Kernels {
            registers,
            any,
            elements: 16 / bytes,
            bytes,
            multiprocessors: u64::from(info.multiprocessors.unwrap_or(1)),
            cache: image.context.level_two_cache().unwrap_or(u64::MAX),
        })
    }

    /// Launches a call.
    ///
    /// # Safety
    /// - What the parameters point to is valid for what the kernel does, until the work has finished.
    #[inline]
    pub(crate) unsafe fn launch(&self, mut call: NormParams, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        // Sizes of views, which are never negative.
        let (rows, width) = (call.rows.unsigned_abs() * call.groups.unsigned_abs(), call.width.unsigned_abs());
        if rows == 0 || width == 0 {
            return Ok(());
        }
        let vector = call.is_vector(self.elements as i64);
        let stream_out = rows.saturating_mul(width * self.bytes) > self.cache;
        call.flags |= (Flags::VECTOR.when(vector) | Flags::STREAM.when(stream_out)).0;
        let (entry, block) = self.choose(width, rows, vector);
        let blocks = rows.div_ceil(block.y).min(i32::MAX as u64);
        let grid = Grid { blocks: blocks as u32, block: [block.x as u32, block.y as u32], shared_memory: 0 };
        // SAFETY: the parameters are the twin of the kernel's; the caller's clause for what they point to.
        unsafe { entry.launch.run(grid, &call, stream) }
    }

    /// The entry and its block for `rows` rows or groups of `width` columns.
    #[inline]
    fn choose(&self, width: u64, rows: u64, vector: bool) -> (&Entry, Block) {
        let vectors = width / self.elements;
        if vector {
            let fitting = self.registers.iter().filter(|entry| vectors <= entry.capacity());
            if let Some(entry) = fitting.min_by_key(|entry| self.distance(entry, vectors, rows)) {
                return (entry, entry.block(vectors));
            }
        }
        let units = if vector { vectors } else { width };
        let x = units.div_ceil(UNITS_OF_A_LOOP).next_multiple_of(WARP).clamp(WARP, self.any.max_block);
        (&self.any, Block { x, y: 1 })
    }

    /// How far an entry is from what suits: lanes of a warp for rows that a warp can hold, and as many vectors in each thread as
    /// hide the memory's latency where there are rows enough for every multiprocessor; with few rows, one, since more threads
    /// finish a row sooner.
    #[inline]
    fn distance(&self, entry: &Entry, vectors: u64, rows: u64) -> u64 {
        let many = rows >= 4 * self.multiprocessors;
        let narrow = vectors <= WARP || (many && vectors <= WARP * LANES_HOLD);
        let wanted = match (narrow, many) {
            (true, _) => vectors.div_ceil(WARP).next_power_of_two(),
            (false, true) => (vectors / BLOCK_OF_MANY).next_power_of_two().clamp(1, 4),
            (false, false) => 1,
        };
        let team = if narrow { Team::Lanes } else { Team::Block };
        8 * u64::from(entry.team != team) + entry.vectors_per_thread.abs_diff(wanted)
    }
}

/// Vectors or elements of a row that a thread of the loop goes through, at least.
const UNITS_OF_A_LOOP: u64 = 4;
/// Vectors that a lane may hold.
const LANES_HOLD: u64 = 4;
/// Threads of a block where there are many rows.
const BLOCK_OF_MANY: u64 = 256;

#[cfg(test)]
mod tests {
    use opweave_kernels_cuda::Variant;

    use super::*;

    /// Of every variant that a description of the family has: blocks are whole warps, within their bound, and cover the row.
    #[test]
    fn blocks_are_whole_warps_and_cover_the_row() {
        let descriptions = opweave_kernels_cuda::descriptions().expect("a test of that crate holds that all parse");
        let family = descriptions.iter().filter(|description| description.family == "normalization");
        let kept = |variant: &&Variant| variant.vectors_per_thread > 0;
        let variants: Vec<&Variant> = family.flat_map(|description| &description.variants).filter(kept).collect();
        assert!(!variants.is_empty());
        for Variant { team, vectors_per_thread, max_block, .. } in variants {
            let (per_thread, max_block) = (*vectors_per_thread as u64, *max_block as u64);
            for vectors in 1..=capacity_of(*team, per_thread, max_block) {
                let Block { x, y } = block_of(*team, per_thread, max_block, vectors);
                assert!(
                    (x * y).is_multiple_of(WARP) && x * y <= max_block,
                    "{team:?} {per_thread} {vectors}: {x} x {y}"
                );
                assert!(x * per_thread >= vectors, "{team:?} {per_thread} {vectors}: {x} x {y}");
                assert!(y == 1 || (*team == Team::Lanes && x.is_power_of_two() && x <= WARP));
            }
        }
    }
}
