// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Kernels that take rows, a team of threads to each: which entry of an image a call takes, and in which shape.
//!
//! The rules of `kernels-cuda/README.md`: a row stays in registers where it fits, lanes of a warp share a narrow row, and a width
//! that is no whole number of vectors goes through the loop. What depends on the number of rows is only how many threads share
//! a row that stays in registers, which changes no bit of the result.

use opweave_contract::Operator;
use opweave_device::{DeviceError, LaunchError, StreamRef};
use opweave_device_cuda::{Grid, Launch};
use opweave_kernels_cuda::Team;
use opweave_tensor::DType;

use crate::native::LoadedImage;

/// A call's parameters, but for what depends on the entry.
pub(crate) trait RowCall: Copy {
    /// Rows, or groups of rows, each of which a team takes.
    fn rows(&self) -> u64;
    /// Columns of each.
    fn width(&self) -> u64;
    /// Bytes of an element that is written, where one of `bytes` is read.
    fn written(&self, bytes: u64) -> u64 {
        bytes
    }
    /// Whether accesses to whole vectors are possible, of `elements` elements that are read.
    fn is_vector(&self, elements: u64) -> bool;
    /// Says which accesses are taken: to whole vectors, past the cache, and to parameters before the launch before has finished.
    fn settle(&mut self, vector: bool, stream: bool, ready: bool);
}

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
    /// Whether parameters may be read before the launch before has finished.
    ready: bool,
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
            let entry = Entry {
                launch: image.launch(dtype, &variant.suffix)?,
                team: variant.team,
                vectors_per_thread: variant.vectors_per_thread as u64,
                max_block: variant.max_block as u64,
            };
            if variant.vectors_per_thread == 0 { any = Some(entry) } else { registers.push(entry) }
        }
        let what = || format!("the description of {} has no variant for any width", image.description.stem);
        let any = any.ok_or_else(|| DeviceError::State { device: image.context.device(), what: what() })?;
        let bytes = (dtype.bits() / 8) as u64;
        Ok(Kernels {
            registers,
            any,
            elements: 16 / bytes,
            bytes,
            multiprocessors: image.multiprocessors(),
            cache: image.cache(),
            ready: false,
        })
    }

    /// The same for `problem`, with those of its tensors that parameters are.
    pub(crate) fn parameters<O: Operator>(self, problem: &O::Problem, names: &[&str]) -> Self {
        Kernels { ready: are_constant::<O>(problem, names), ..self }
    }

    /// Launches a call.
    ///
    /// # Safety
    /// - `C` is the twin of the parameters of the image's entries.
    /// - What they point to is valid for what the kernel does, until the work has finished.
    #[inline]
    pub(crate) unsafe fn launch<C: RowCall>(&self, mut call: C, stream: StreamRef<'_>) -> Result<(), LaunchError> {
        let (rows, width) = (call.rows(), call.width());
        if rows == 0 || width == 0 {
            return Ok(());
        }
        let vector = call.is_vector(self.elements);
        let past_the_cache = rows.saturating_mul(width * call.written(self.bytes)) > self.cache;
        call.settle(vector, past_the_cache, self.ready);
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

    /// How far an entry is from what suits: lanes of a warp for rows that a warp can hold; else as many threads for a row as
    /// there are places for, since more threads finish a row sooner, and fewer leave room for more rows.
    #[inline]
    fn distance(&self, entry: &Entry, vectors: u64, rows: u64) -> u64 {
        let narrow = vectors <= WARP || (rows >= 4 * self.multiprocessors && vectors <= WARP * LANES_HOLD);
        let threads = if narrow { WARP } else { (self.multiprocessors * PLACES / rows).clamp(LEAST_BLOCK, PLACES) };
        let wanted = vectors.div_ceil(threads).next_power_of_two().min(4);
        let team = if narrow { Team::Lanes } else { Team::Block };
        8 * u64::from(entry.team != team) + entry.vectors_per_thread.abs_diff(wanted)
    }
}

/// Whether the problem promises that those of the tensors `names` that it has are constant.
fn are_constant<O: Operator>(problem: &O::Problem, names: &[&str]) -> bool {
    let specs = O::describe(problem);
    let tensor = |name: &&str| O::signature().tensor(name).and_then(|index| specs.tensor(index));
    names.iter().all(|name| tensor(name).is_some_and(|spec| !spec.present || spec.promise.constant))
}

/// Vectors or elements of a row that a thread of the loop goes through, at least.
const UNITS_OF_A_LOOP: u64 = 4;
/// Vectors that a lane may hold.
const LANES_HOLD: u64 = 4;
/// Threads of a multiprocessor that are busy with loads, about.
const PLACES: u64 = 1024;
/// The fewest threads that share a row of many.
const LEAST_BLOCK: u64 = 128;

#[cfg(test)]
mod tests {
    use opweave_contract::ops::normalization::{LayerNorm, RmsNorm};
    use opweave_kernels_cuda::Variant;

    use super::*;

    /// Of every variant that a description of these families has: blocks are whole warps, within their bound, and cover the row.
    #[test]
    fn blocks_are_whole_warps_and_cover_the_row() {
        let descriptions = opweave_kernels_cuda::descriptions().expect("a test of that crate holds that all parse");
        let stems = descriptions
            .iter()
            .filter(|description| description.family == "normalization" || description.stem == "dynamic_quant");
        let kept = |variant: &&Variant| variant.vectors_per_thread > 0;
        let variants: Vec<&Variant> = stems.flat_map(|description| &description.variants).filter(kept).collect();
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

    #[test]
    fn parameters_are_ready_where_all_that_there_are_are_promised_to_be_constant() {
        let layer = |facts: &[&str]| {
            let facts: Vec<&str> = ["hidden_size=64", "dtype=bf16"].iter().chain(facts).copied().collect();
            are_constant::<LayerNorm>(&LayerNorm::problem_from(&facts).expect("legal facts"), &["weight", "bias"])
        };
        assert!(!layer(&[]));
        assert!(!layer(&["weight.constant=true"]));
        assert!(layer(&["weight.constant=true", "bias.constant=true"]));
        assert!(layer(&["weight.constant=true", "bias_dtype=none"]));
        let rms = RmsNorm::problem_from(&["hidden_size=64", "dtype=bf16", "input.constant=true"]).expect("legal facts");
        assert!(!are_constant::<RmsNorm>(&rms, &["weight"]));
    }
}
