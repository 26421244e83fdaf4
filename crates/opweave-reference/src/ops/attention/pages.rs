// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Keys and values of a sequence, wherever they are.

use std::borrow::Cow;

use opweave_contract::ops::attention::PageTable;
use opweave_contract::ops::kv_cache::{CacheFormat, CacheLayout};

use crate::{Arguments, ReferenceError};

/// A cache in pages, or rows as a cache of one page.
pub(super) struct Cache<'a> {
    k: Cow<'a, [f64]>,
    v: Cow<'a, [f64]>,
    heads: usize,
    widths: [usize; 2],
    page_size: usize,
    layout: CacheLayout,
}

/// What says how a cache lies.
pub(super) struct Shape {
    /// Heads of keys.
    pub(super) heads: usize,
    /// Features of keys and of values.
    pub(super) widths: [usize; 2],
    /// Tokens of a page.
    pub(super) page_size: usize,
    /// The order of tokens and heads in a page.
    pub(super) layout: CacheLayout,
}

impl<'a> Cache<'a> {
    /// Reads `k_cache` and `v_cache`, codes as the values that they stand for.
    pub(super) fn paged(shape: Shape, format: CacheFormat, arguments: &'a Arguments) -> Result<Self, ReferenceError> {
        let Shape { heads, widths, page_size, layout } = shape;
        let scales = format.scales(heads);
        let mut tensors = Vec::new();
        for (name, scale, width) in [("k_cache", "k_scale", widths[0]), ("v_cache", "v_scale", widths[1])] {
            let scale = arguments.optional(scale, scales)?;
            let mut values = data_of(arguments, name);
            if let Some(scale) = scale {
                for (row, values) in values.to_mut().chunks_mut(width).enumerate() {
                    let head = match layout {
                        CacheLayout::Nhd => row % heads,
                        CacheLayout::Hnd => row / page_size % heads,
                    };
                    values.iter_mut().for_each(|v| *v *= scale[if scales == 1 { 0 } else { head }]);
                }
            }
            tensors.push(values);
        }
        let v = tensors.pop().unwrap_or_default();
        let k = tensors.pop().unwrap_or_default();
        Ok(Cache { k, v, heads, widths, page_size, layout })
    }

    /// Reads `k` and `v`: each row is a page of its own.
    pub(super) fn ragged(heads: usize, widths: [usize; 2], arguments: &'a Arguments) -> Self {
        let [k, v] = ["k", "v"].map(|name| data_of(arguments, name));
        Cache { k, v, heads, widths, page_size: 1, layout: CacheLayout::Nhd }
    }

    /// Pages, or rows.
    pub(super) fn pages(&self) -> usize {
        self.k.len() / (self.heads * self.widths[0] * self.page_size)
    }

    /// Key and value of a head at a place.
    pub(super) fn at(&self, (page, offset): (usize, usize), head: usize) -> (&[f64], &[f64]) {
        let place = match self.layout {
            CacheLayout::Nhd => (page * self.page_size + offset) * self.heads + head,
            CacheLayout::Hnd => (page * self.heads + head) * self.page_size + offset,
        };
        let [k, v] = self.widths.map(|width| place * width..(place + 1) * width);
        (&self.k[k], &self.v[v])
    }
}

/// The numbers of a tensor; the check of a call says that it is there.
fn data_of<'a>(arguments: &'a Arguments, name: &str) -> Cow<'a, [f64]> {
    arguments.get(name).map_or_else(Cow::default, |values| Cow::Borrowed(&*values.data))
}

/// The keys of one sequence.
#[derive(Clone, Debug)]
pub struct Listed {
    /// How many.
    pub keys: usize,
    /// Its pages.
    pub pages: Vec<f64>,
}

/// The keys of each sequence; none for one whose length its table does not have.
pub(super) fn listed(
    table: PageTable,
    page_size: usize,
    sequences: usize,
    arguments: &Arguments,
) -> Result<Vec<Option<Listed>>, ReferenceError> {
    let mut all = Vec::new();
    match table {
        PageTable::BlockTables => {
            let lengths = arguments.exactly("seq_lens", sequences)?;
            let tables = arguments.get("block_tables").map_or(&[][..], |t| &t.data);
            let pages = tables.len() / sequences.max(1);
            for (b, &length) in lengths.iter().enumerate() {
                let legal = (0.0..=(pages * page_size) as f64).contains(&length);
                all.push(
                    legal.then(|| Listed { keys: length as usize, pages: tables[b * pages..(b + 1) * pages].to_vec() }),
                );
            }
        }
        PageTable::Indptr => {
            let indptr = arguments.exactly("kv_indptr", sequences + 1)?;
            let last = arguments.exactly("last_page_len", sequences)?;
            let indices = arguments.get("kv_indices").map_or(&[][..], |t| &t.data);
            for (b, &last) in last.iter().enumerate() {
                let Some((first, end)) = range(indptr, b, indices.len()) else {
                    all.push(None);
                    continue;
                };
                let pages = indices[first..end].to_vec();
                let legal = pages.is_empty() || (1.0..=page_size as f64).contains(&last);
                let keys = if pages.is_empty() { 0 } else { (pages.len() - 1) * page_size + last.max(0.0) as usize };
                all.push(legal.then_some(Listed { keys, pages }));
            }
        }
    }
    Ok(all)
}

/// Range `b` of a table of offsets into `len` things, if it ascends and is inside.
pub(super) fn range(indptr: &[f64], b: usize, len: usize) -> Option<(usize, usize)> {
    let (first, end) = (indptr[b], indptr[b + 1]);
    (0.0 <= first && first <= end && end <= len as f64).then_some((first as usize, end as usize))
}

impl Listed {
    /// Where key `at` lies in a cache of `pages` pages; `None` where that page does not exist.
    pub fn place(&self, at: usize, page_size: usize, pages: usize) -> Option<(usize, usize)> {
        let page = self.pages[at / page_size];
        (0.0..pages as f64).contains(&page).then_some((page as usize, at % page_size))
    }
}
