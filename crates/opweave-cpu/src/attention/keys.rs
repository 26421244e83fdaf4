// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Where the keys and values of a sequence are.

use std::ops::Range;

use crate::indices::{Indices, inside};

/// Keys, or values, of all sequences.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// The first feature of the first head of the first token.
    pub data: *const u8,
    /// Elements from a page to the next; without pages, from a token to the next.
    pub page: isize,
    /// Elements from a token of a page to the next.
    pub token: isize,
    /// Elements from a head to the next.
    pub head: isize,
    /// f32 factors of what is stored; none for 1.
    pub scales: Option<*const f32>,
}

/// Which pages belong to which sequence.
#[derive(Clone, Copy, Debug)]
pub enum Table {
    /// A row of pages for each sequence, and its length.
    Blocks {
        /// The rows, `stride` apart.
        pages: Indices,
        /// Elements from a row to the next.
        stride: isize,
        /// Pages of a row.
        each: usize,
        /// Keys of each sequence.
        lens: Indices,
    },
    /// Ranges of one list of pages.
    Lists {
        /// Where each sequence begins.
        indptr: Indices,
        /// The list.
        pages: Indices,
        /// Keys in the last page of each.
        last: Indices,
    },
    /// Ranges of rows. Each row is a page.
    Rows {
        /// Where each sequence begins.
        indptr: Indices,
    },
}

/// The keys and values of a call.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Keys.
    pub k: Plane,
    /// Values.
    pub v: Plane,
    /// Tokens of a page; 1 for rows.
    pub page_size: usize,
    /// Pages, or rows.
    pub pages: usize,
    /// Which are whose.
    pub table: Table,
    /// Whether each head has scales of its own.
    pub scale_per_head: bool,
}

// SAFETY: inert data; whoever reads through it answers for races.
unsafe impl Send for Keys {}
// SAFETY: as for Send.
unsafe impl Sync for Keys {}

/// The keys of one sequence.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    /// How many.
    pub keys: usize,
    /// Its first place in the table.
    first: isize,
}

impl Sequence {
    /// A sequence without keys.
    pub const EMPTY: Sequence = Sequence { keys: 0, first: 0 };
}

/// Where a key and its value lie: elements from the first of each plane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// The key.
    pub k: isize,
    /// The value.
    pub v: isize,
}

/// Range `b` of offsets into `len` things, if it ascends and is inside.
///
/// # Safety
/// - `indptr` has more than `b + 1` elements, valid to read.
pub unsafe fn range(indptr: Indices, b: usize, len: usize) -> Option<Range<usize>> {
    // SAFETY: the caller's clause.
    let (first, end) = unsafe { (indptr.get(b), indptr.get(b + 1)) };
    (first >= 0 && first <= end && end as u64 <= len as u64).then_some(first as usize..end as usize)
}

impl Keys {
    /// Sequence `b`, or none where its table does not have what it says.
    ///
    /// # Safety
    /// - `b` is a sequence of the call, whose tables are valid to read.
    pub unsafe fn sequence(&self, b: usize) -> Option<Sequence> {
        // SAFETY: the caller's clause.
        unsafe {
            match self.table {
                Table::Blocks { stride, each, lens, .. } => {
                    let len = lens.get(b);
                    let most = each.saturating_mul(self.page_size);
                    (len >= 0 && len as u64 <= most as u64)
                        .then(|| Sequence { keys: len as usize, first: b as isize * stride })
                }
                Table::Lists { indptr, pages, last } => {
                    let range = range(indptr, b, pages.len)?;
                    let first = range.start as isize;
                    if range.is_empty() {
                        return Some(Sequence { keys: 0, first });
                    }
                    let last = last.get(b);
                    (last >= 1 && last as u64 <= self.page_size as u64)
                        .then(|| Sequence { keys: (range.len() - 1) * self.page_size + last as usize, first })
                }
                Table::Rows { indptr } => {
                    let range = range(indptr, b, self.pages)?;
                    Some(Sequence { keys: range.len(), first: range.start as isize })
                }
            }
        }
    }

    /// The page at place `at` of a sequence, if the cache has it.
    ///
    /// # Safety
    /// - The place is one of the sequence, whose tables are valid to read.
    #[inline(always)]
    unsafe fn page(&self, sequence: Sequence, at: usize) -> Option<usize> {
        let pages = match self.table {
            Table::Blocks { pages, .. } | Table::Lists { pages, .. } => pages,
            Table::Rows { .. } => return Some(sequence.first as usize + at),
        };
        // SAFETY: the caller's clause.
        let page = unsafe { pages.get((sequence.first + at as isize) as usize) };
        inside(page, self.pages).then_some(page as usize)
    }

    /// Calls `each` with the place of every key of `range`, in order; none where the cache does not have its page.
    ///
    /// # Safety
    /// - The range is one of the sequence's keys; its tables are valid to read.
    #[inline(always)]
    pub unsafe fn places(&self, sequence: Sequence, range: Range<usize>, mut each: impl FnMut(usize, Option<Place>)) {
        let mut key = range.start;
        while key < range.end {
            let (page, offset) =
                if self.page_size == 1 { (key, 0) } else { (key / self.page_size, key % self.page_size) };
            let run = (self.page_size - offset).min(range.end - key);
            // SAFETY: the caller's clauses: the page holds a key of the range.
            let page = unsafe { self.page(sequence, page) };
            let (base, offset) = (page.map(|page| page as isize), offset as isize);
            for n in 0..run {
                let at = offset + n as isize;
                let of = |plane: &Plane, page: isize| {
                    page.wrapping_mul(plane.page).wrapping_add(at.wrapping_mul(plane.token))
                };
                each(key + n, base.map(|page| Place { k: of(&self.k, page), v: of(&self.v, page) }));
            }
            key += run;
        }
    }

    /// Whether every page that holds a key of `range` is one of the cache.
    ///
    /// # Safety
    /// - As for [`Keys::places`].
    pub unsafe fn has_pages(&self, sequence: Sequence, range: Range<usize>) -> bool {
        if range.is_empty() {
            return true;
        }
        let mut pages = range.start / self.page_size..range.end.div_ceil(self.page_size);
        // SAFETY: the caller's clauses.
        pages.all(|page| unsafe { self.page(sequence, page) }.is_some())
    }

    /// The factors of what is stored of a head: of keys and of values.
    ///
    /// # Safety
    /// - Scales are those of the call, valid to read.
    pub unsafe fn scales(&self, head: usize) -> [f32; 2] {
        let at = if self.scale_per_head { head } else { 0 };
        // SAFETY: the caller's clause.
        [self.k.scales, self.v.scales].map(|scales| scales.map_or(1.0, |scales| unsafe { scales.add(at).read() }))
    }
}
