// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The instruction sets of this host, as values.

#[cfg(target_arch = "x86_64")]
use super::{Avx2, Avx512};
use super::{Portable, Simd, SimdOp};

/// An instruction set that this host has.
#[derive(Clone, Copy, Debug)]
pub enum Isa {
    /// Plain Rust.
    Portable(Portable),
    /// AVX2, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// AVX-512 F, BW, DQ, VL and VNNI.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Isa {
    /// Plain Rust: always there.
    pub const PORTABLE: Isa = Isa::Portable(Portable);

    /// AVX2 with FMA and F16C, if this host has them.
    pub fn avx2() -> Option<Isa> {
        #[cfg(target_arch = "x86_64")]
        return Avx2::detect().map(Isa::Avx2);
        #[cfg(not(target_arch = "x86_64"))]
        return None;
    }

    /// AVX-512 F, BW, DQ, VL and VNNI, if this host has them.
    pub fn avx512() -> Option<Isa> {
        #[cfg(target_arch = "x86_64")]
        return Avx512::detect().map(Isa::Avx512);
        #[cfg(not(target_arch = "x86_64"))]
        return None;
    }

    /// Every instruction set of this host, the best last. Tests run all of them.
    pub fn available() -> Vec<Isa> {
        [Some(Isa::PORTABLE), Isa::avx2(), Isa::avx512()].into_iter().flatten().collect()
    }

    /// The best instruction set of this host.
    pub fn best() -> Isa {
        Isa::avx512().or_else(Isa::avx2).unwrap_or(Isa::PORTABLE)
    }

    /// As it appears in the names of kernels.
    pub const fn name(self) -> &'static str {
        match self {
            Isa::Portable(_) => Portable::NAME,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => Avx2::NAME,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(_) => Avx512::NAME,
        }
    }

    /// Runs `op` compiled for this instruction set.
    #[inline]
    pub fn run<O: SimdOp>(self, op: O) -> O::Output {
        match self {
            Isa::Portable(s) => s.run(op),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(s) => s.run(op),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(s) => s.run(op),
        }
    }
}

/// What [`Simd::follows_pages`] answers here: so it was measured on a processor of Intel's. Others were not asked, or do not.
#[cfg(target_arch = "x86_64")]
pub(super) fn follows_pages() -> bool {
    let vendor = std::arch::x86_64::__cpuid(0);
    [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
}

/// Taken when the processor does not describe its caches: a common size of a server's share per socket.
const USUAL_LAST_LEVEL: usize = 32 << 20;

/// Bytes of the largest cache that the processor reports. An output larger than this would only push everything else out,
/// so kernels write it past the caches. Asked once; the instruction is slow under virtualisation.
pub fn last_level_cache() -> usize {
    static BYTES: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *BYTES.get_or_init(|| query_last_level_cache().unwrap_or(USUAL_LAST_LEVEL))
}

#[cfg(target_arch = "x86_64")]
fn query_last_level_cache() -> Option<usize> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    // The same layout under two numbers: AMD's deterministic cache parameters, then Intel's. A processor that lacks the
    // leaf answers with type 0, no cache.
    let extended = __cpuid(0x8000_0000).eax;
    let leaf = if extended >= 0x8000_001d && __cpuid_count(0x8000_001d, 0).eax & 0x1f != 0 { 0x8000_001d } else { 4 };
    if leaf == 4 && __cpuid(0).eax < 4 {
        return None;
    }
    (0..8)
        .map(|index| __cpuid_count(leaf, index))
        .take_while(|cache| cache.eax & 0x1f != 0)
        .map(|cache| {
            let field = |register: u32, shift: u32, width: u32| ((register >> shift) & ((1 << width) - 1)) as usize + 1;
            let (line, partitions, ways) =
                (field(cache.ebx, 0, 12), field(cache.ebx, 12, 10), field(cache.ebx, 22, 10));
            line * partitions * ways * (cache.ecx as usize + 1)
        })
        .max()
}

#[cfg(not(target_arch = "x86_64"))]
fn query_last_level_cache() -> Option<usize> {
    None
}
