// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What the kernel of reshape_paged_cache is told about one call.
//
// Passed by value as the kernel's only parameter. The host side defines a twin of it (`#[repr(C)]`, fields in this order, no
// padding); the size is asserted on both sides and stated in every description.

#pragma once

#include <opweave/fault.cuh>

namespace opweave {

// Keys or values. Strides are in elements. Pointers need the alignment of one element, for the entries of vectors that of one
// access: 16 bytes of T, and as many codes as that has elements.
struct PagedSide {
  const void* rows;      // [tokens and more, heads, width] of T
  const float* scale;    // one, or one for each head (flag SCALE_OF_HEAD), or null for 1
  void* cache;           // pages of [page_size, heads, width] of T or codes, or [heads, page_size, width] (flag HEADS_FIRST)
  int64_t row_stride;
  int64_t head_stride;
  int64_t page_stride;
  uint32_t width;        // whole accesses for the entries of vectors
  uint32_t reserved;     // 0
};

struct PagedCacheParams {
  const void* slots;     // [tokens] of 4 or 8 bytes
  PagedSide keys;
  PagedSide values;
  FaultBuffer* faults;   // or null
  int64_t tokens;        // 0 writes nothing
  int64_t capacity;      // slots of the cache
  uint32_t heads;
  uint32_t page_size;
  uint32_t operation;    // its code in a fault
  uint32_t flags;        // PagedFlag
};
static_assert(sizeof(PagedCacheParams) == 160, "the twin on the host side has this size");

enum PagedFlag : uint32_t {
  SLOT_64 = 1u << 0,         // slots have 8 bytes
  HEADS_FIRST = 1u << 1,     // layout=hnd
  SCALE_OF_HEAD = 1u << 2,   // cache_format=f8e4m3_per_head
};

}  // namespace opweave
