// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The cache of keys and values: rows into pages.
//!
//! Work is cut by page and not by row, so that two rows of one slot are the same task's, in order: nothing is torn, and the
//! last one stays.

mod store;

use half::{bf16, f16};
use opweave_device::cpu::Parallel;
use opweave_tensor::DType;

use crate::indices::{Indices, inside};
use crate::memory::exceeds_caches;
use crate::rows::tasks_for;
use crate::simd::{Isa, Simd, SimdOp};
use store::{Codes, Copied, Memo, Store};

/// Rows of one tensor and the pages that they go to.
#[derive(Clone, Copy, Debug)]
pub struct Paged {
    /// The first feature of the first head of row 0.
    pub source: *const u8,
    /// Elements from a row to the next.
    pub token_stride: isize,
    /// Elements from a head to the next.
    pub head_stride: isize,
    /// Features of a head.
    pub width: usize,
    /// The first element of page 0.
    pub pages: *mut u8,
    /// Elements from a page to the next.
    pub page_stride: isize,
    /// f32 scales that values are divided by; none for 1.
    pub scales: Option<*const f32>,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct ScatterCall {
    /// Where each row goes; rows whose slot the pages do not have are left out.
    pub slots: Indices,
    /// Keys and values.
    pub tensors: [Paged; 2],
    /// Heads of a row.
    pub heads: usize,
    /// Tokens of a page.
    pub page_size: usize,
    /// Pages.
    pub pages: usize,
    /// Whether the heads of a page lie outside its tokens.
    pub heads_outside: bool,
    /// dtype of the rows.
    pub dtype: DType,
    /// Whether the pages hold f8e4m3 rather than the dtype of the rows.
    pub codes: bool,
    /// Whether each head has a scale of its own.
    pub scale_per_head: bool,
}

// SAFETY: inert data; `scatter` answers for what is done through it.
unsafe impl Sync for ScatterCall {}

/// Computes `call`.
///
/// # Safety
/// - All that [`ScatterCall`] describes lies in memory that is valid to read, and to write where pages are, aligned to its
///   elements; the dtype is f32, f16 or bf16.
/// - No two pages overlap, nor any page and what is only read.
/// - Nobody else accesses them until this returns.
pub unsafe fn scatter(isa: Isa, pool: &dyn Parallel, call: &ScatterCall) {
    // SAFETY: the caller's clauses; each arm names the dtypes that the call states.
    unsafe {
        match (call.dtype, call.codes) {
            (DType::F32, false) => with(isa, pool, call, Copied::<f32>::new(call)),
            (DType::F16 | DType::BF16, false) => with(isa, pool, call, Copied::<f16>::new(call)),
            (DType::F32, true) => with(isa, pool, call, Codes::<f32>::new(call)),
            (DType::F16, true) => with(isa, pool, call, Codes::<f16>::new(call)),
            (DType::BF16, true) => with(isa, pool, call, Codes::<bf16>::new(call)),
            (other, _) => unreachable!("the contract admits f32, f16 and bf16, not {other}"),
        }
    }
}

/// # Safety
/// - As for [`scatter`], of which `store` is the way of one row.
unsafe fn with<K: Store>(isa: Isa, pool: &dyn Parallel, call: &ScatterCall, store: K) {
    let width: usize = call.tensors.iter().map(|t| t.width).sum();
    let bytes = call.heads * width * (size_of::<K::From>() + size_of::<K::To>());
    let tasks = tasks_for(call.slots.len, bytes, pool.threads());
    let stream = exceeds_caches(call.slots.len, call.heads * width * size_of::<K::To>());
    let part = |task| Part { call, store, task, tasks, stream };
    match tasks {
        0 => {}
        1 => isa.run(part(0)),
        _ => pool.run(tasks, &|task| isa.run(part(task))),
    }
}

/// The pages of one task.
struct Part<'a, K> {
    call: &'a ScatterCall,
    store: K,
    task: usize,
    tasks: usize,
    stream: bool,
}

impl<K: Store> SimdOp for Part<'_, K> {
    type Output = ();

    #[inline(always)]
    fn eval<S: Simd>(self, s: S) {
        let &ScatterCall { slots, page_size, pages, .. } = self.call;
        let capacity = pages * page_size;
        // Most page sizes are powers of two, and a division costs as much as a line of a row.
        let shift = page_size.is_power_of_two().then(|| page_size.trailing_zeros());
        let mut memos = [Memo::new(), Memo::new()];
        for row in 0..slots.len {
            // SAFETY: the clauses of `scatter`; this is a row of the call.
            let slot = unsafe { slots.get(row) };
            if !inside(slot, capacity) {
                continue;
            }
            let slot = slot as usize;
            let page = shift.map_or_else(|| slot / page_size, |shift| slot >> shift);
            if self.tasks > 1 && page % self.tasks != self.task {
                continue;
            }
            for (tensor, memo) in self.call.tensors.iter().zip(&mut memos) {
                // SAFETY: the clauses of `scatter`: the page exists, and is this task's alone.
                unsafe { self.row(s, tensor, row, page, slot - page * page_size, memo) };
            }
        }
        if self.stream {
            s.fence();
        }
    }
}

impl<K: Store> Part<'_, K> {
    /// Stores one row of one tensor.
    ///
    /// # Safety
    /// - The row, the page and the offset in it exist, and nobody else accesses that slot.
    #[inline(always)]
    unsafe fn row<S: Simd>(&self, s: S, tensor: &Paged, row: usize, page: usize, offset: usize, memo: &mut Memo) {
        let (heads, width) = (self.call.heads, tensor.width);
        // SAFETY: the caller's clause: all that follows is within the row and the page.
        unsafe {
            let from = tensor.source.cast::<K::From>().offset(row as isize * tensor.token_stride);
            let page = tensor.pages.cast::<K::To>().offset(page as isize * tensor.page_stride);
            let packed = tensor.head_stride == width as isize || heads == 1;
            if self.store.is_uniform() && packed && !self.call.heads_outside {
                return self.store.store(
                    s,
                    tensor,
                    0,
                    from,
                    page.add(offset * heads * width),
                    heads * width,
                    self.stream,
                    memo,
                );
            }
            let (place, step) = if self.call.heads_outside {
                (offset * width, self.call.page_size * width)
            } else {
                (offset * heads * width, width)
            };
            for head in 0..heads {
                let from = from.offset(head as isize * tensor.head_stride);
                self.store.store(s, tensor, head, from, page.add(place + head * step), width, self.stream, memo);
            }
        }
    }
}
