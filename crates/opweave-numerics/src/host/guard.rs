// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Guard bands: the bytes of an image that belong to no element.

use super::{GAP_BAND, GUARD, HostTensor};

impl HostTensor {
    /// The byte offset in the image of the first byte outside every element that no longer carries its pattern, or `None`
    /// when the guard bands and gaps are intact. Offsets are relative to the first element, so negative ones lie before.
    pub fn broken_guard(&self) -> Option<isize> {
        let image = self.image();
        self.gaps().into_iter().flat_map(|(from, to)| from..to).find_map(|at| {
            let intact = image[at] == guard_byte(at);
            (!intact).then_some(at as isize - self.origin as isize)
        })
    }

    /// Byte ranges of the image that mean something: elements, and the bytes beside them that carry the guard pattern.
    /// Everything, except where a view is spread over a span so large that it is left sparse.
    pub fn ranges(&self) -> Vec<(usize, usize)> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        let mut parts = self.segments();
        parts.extend(self.gaps());
        parts.sort_unstable();
        for (from, to) in parts {
            match ranges.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => ranges.push((from, to)),
            }
        }
        ranges
    }

    /// The first byte in which two images of one layout differ, relative to the first element; `None` when they agree in
    /// every bit. Images of different size differ at their start.
    pub fn first_difference(&self, other: &HostTensor) -> Option<isize> {
        if self.length != other.length {
            return Some(0);
        }
        let (a, b) = (self.image(), other.image());
        let differing = |(from, to): (usize, usize)| {
            if a[from..to] == b[from..to] { None } else { (from..to).find(|&at| a[at] != b[at]) }
        };
        self.ranges().into_iter().find_map(differing).map(|at| at as isize - self.origin as isize)
    }

    pub(super) fn lay_guards(&mut self) {
        for (from, to) in self.gaps() {
            for (at, byte) in self.image_mut()[from..to].iter_mut().enumerate() {
                *byte = guard_byte(from + at);
            }
        }
    }

    /// Byte ranges of the image that belong to no element, long ones reduced to their two ends.
    fn gaps(&self) -> Vec<(usize, usize)> {
        let mut gaps = Vec::new();
        if self.sampled.is_some() {
            // Between sampled rows lie other rows; what guards are left stand at both ends.
            let end = self.length - GUARD;
            return vec![(self.origin - GUARD, self.origin), (end, self.length)];
        }
        let mut covered = 0;
        let mut push = |from: usize, to: usize| {
            if to > from && to - from <= 2 * GAP_BAND {
                gaps.push((from, to));
            } else if to > from {
                gaps.push((from, from + GAP_BAND));
                gaps.push((to - GAP_BAND, to));
            }
        };
        for (from, to) in self.segments() {
            push(covered, from.max(covered));
            covered = covered.max(to);
        }
        push(covered, self.length);
        gaps
    }

    /// Byte ranges that hold elements, sorted.
    fn segments(&self) -> Vec<(usize, usize)> {
        let size = self.layout.dtype.bits() / 8;
        let (rows, width) = (self.layout.rows(), self.layout.width());
        if rows == 0 {
            return Vec::new();
        }
        if self.is_contiguous() && self.sampled.is_none() {
            return vec![(self.origin, self.origin + rows * width * size)];
        }
        let step = self.last_step();
        let mut segments = Vec::with_capacity(rows);
        for row in self.live_rows() {
            let start = self.row_start(row);
            if step == size as isize {
                segments.push((start, start + width * size));
            } else {
                segments
                    .extend((0..width).map(|i| start.wrapping_add_signed(step * i as isize)).map(|at| (at, at + size)));
            }
        }
        segments.sort_unstable();
        segments
    }
}

/// The guard pattern: depends on the position, so that shifted or repeated copies of it do not pass.
fn guard_byte(at: usize) -> u8 {
    (at as u8).wrapping_mul(167).wrapping_add((at >> 8) as u8).wrapping_mul(29) ^ 0x5a
}
