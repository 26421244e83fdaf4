// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What the kernel of embedding is told about one call.
//
// Passed by value as the kernel's only parameter. The host side defines a twin of it (`#[repr(C)]`, fields in this order, no
// padding); the size is asserted on both sides and stated in every description.

#pragma once

#include <opweave/fault.cuh>

namespace opweave {

// Strides are in elements, from one row to the next; columns are contiguous. Pointers need the alignment of one element, of 16 bytes
// for the entries that are not `any`.
struct EmbeddingParams {
  const void* ids;       // [tokens] of 4 or 8 bytes
  const void* table;     // [end - begin, width] of T
  void* out;             // [tokens, width] of T; overlaps nothing
  FaultBuffer* faults;   // or null
  int64_t tokens;        // 0 writes nothing
  int64_t table_stride;
  int64_t out_stride;
  int64_t vocabulary;    // ids that exist
  int64_t begin;         // the first id of the table
  int64_t end;           // one past its last
  uint32_t width;        // whole vectors for the entries that are not `any`
  uint32_t tiles;        // that a row is cut into: ceil(width / (elements of an access * accesses of a thread * threads))
  uint32_t operation;    // its code in a fault
  uint32_t flags;        // EmbeddingFlag
};
static_assert(sizeof(EmbeddingParams) == 96, "the twin on the host side has this size");

enum EmbeddingFlag : uint32_t {
  ID_64 = 1u << 0,             // ids have 8 bytes
  ID_UNSIGNED = 1u << 1,       // ids of 4 bytes have no sign
  EMBEDDING_STREAM = 1u << 2,  // the output is larger than the L2 cache: write it past what is there
};

}  // namespace opweave
