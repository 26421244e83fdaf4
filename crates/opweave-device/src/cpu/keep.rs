// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Keeping memory that was freed.

/// From now on this process keeps the memory that it frees for what it allocates next, instead of returning large blocks to the
/// system; up to 2 GiB at the end of the heap, and all that lies between blocks in use.
///
/// For a program that allocates and frees large blocks again and again, as measuring does: the system clears every page that is
/// touched first, which in a virtual machine whose host takes back free pages runs at a small part of the rate of memory. Call it
/// before there are other threads. It has an effect with the C library of GNU, where it cannot be undone, and none elsewhere.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: both parameters exist and admit these values; they decide where later blocks come from and nothing of those there are.
    unsafe {
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
    }
}
