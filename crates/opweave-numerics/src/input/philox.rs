// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Philox 4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
//! 1, 2, 3" (SC 2011).
//!
//! A block of four words is a pure function of a counter and a key. So element 10^9 of a stream costs what element 0
//! costs, rows can be drawn on their own and on several threads, and no stream knows about another.

/// Rounds of the named variant.
const ROUNDS: usize = 10;
/// Multipliers of the two halves, from the paper.
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// Key increments per round: the golden ratio and sqrt(3) - 1.
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

/// The block of `counter` under `key`.
pub const fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    let mut round = 0;
    while round < ROUNDS {
        let left = MULTIPLIERS[0] as u64 * counter[0] as u64;
        let right = MULTIPLIERS[1] as u64 * counter[2] as u64;
        counter = [
            (right >> 32) as u32 ^ counter[1] ^ key[0],
            right as u32,
            (left >> 32) as u32 ^ counter[3] ^ key[1],
            left as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        round += 1;
    }
    counter
}

/// One named stream under one seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream {
    key: [u32; 2],
    id: [u32; 2],
}

impl Stream {
    /// The stream `name` under `seed`. The name is hashed (64-bit FNV-1a) into the counter's upper half, the seed is the
    /// key, so streams of one seed never share a counter unless the hashes of their names collide.
    pub fn named(seed: u64, name: &str) -> Stream {
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        Stream { key: [seed as u32, (seed >> 32) as u32], id: [hash as u32, (hash >> 32) as u32] }
    }

    /// Block `index` of the stream.
    pub const fn block(self, index: u64) -> [u32; 4] {
        philox([index as u32, (index >> 32) as u32, self.id[0], self.id[1]], self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_the_published_generator() {
        let all = u32::MAX;
        // Zeros, ones, and the digits of pi: the three vectors that the authors publish for this variant.
        let answers = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([all; 4], [all; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, expected) in answers {
            assert_eq!(philox(counter, key), expected);
        }
    }

    #[test]
    fn streams_and_seeds_differ() {
        let block = Stream::named(5309, "input").block(7);
        assert_eq!(block, Stream::named(5309, "input").block(7));
        for other in
            [Stream::named(5309, "weight"), Stream::named(5310, "input"), Stream::named(1 << 32 | 5309, "input")]
        {
            assert_ne!(block, other.block(7));
        }
        assert_ne!(block, Stream::named(5309, "input").block(7 + (1 << 32)));
    }
}
