// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// reshape_paged_cache: cache[slot / page_size, slot % page_size] = row for each token's row of keys and of values
//
// A block takes a token: threads along x its features, along y its heads. Rows are read while the slot is still on its way, so
// that there is one latency and not two; of tokens without a slot they are then thrown away.

#include <opweave/code.cuh>
#include <opweave/index.cuh>
#include <opweave/launch.cuh>
#include <opweave/memory.cuh>
#include <opweave/paged_cache_params.cuh>

namespace opweave {

// Where a token's row goes: in pages, and tokens of the page.
struct Slot {
  bool held;
  int64_t page;
  int64_t offset;
};

// N elements as they are.
template <class T, int N>
__device__ __forceinline__ void put(T* to, const Pack<T, N>& from, float, bool) {
  from.store_to(to, false);
}
// As codes of the quotient.
template <class T, int N>
__device__ __forceinline__ void put(f8e4m3* to, const Pack<T, N>& from, float scale, bool scaled) {
  float v[N];
  from.unpack(v);
#pragma unroll
  for (int e = 0; e < N; e++) v[e] = scaled ? __fdiv_rn(v[e], scale) : v[e];
  if constexpr (N == 1) {
    ptx::store_1(&to->bits, code_of<f8e4m3>(v[0]).bits);
  } else if constexpr (N == 4) {
    ptx::store_4(reinterpret_cast<uint32_t*>(to), codes_of<f8e4m3>(v[0], v[1], v[2], v[3]));
  } else {
    ptx::store_8(reinterpret_cast<uint2*>(to),
                 uint2{codes_of<f8e4m3>(v[0], v[1], v[2], v[3]), codes_of<f8e4m3>(v[4], v[5], v[6], v[7])});
  }
}

template <class T>
__device__ __forceinline__ const T* row_of(const PagedSide& side, int64_t token, uint32_t head) {
  return static_cast<const T*>(side.rows) + (token * side.row_stride + head * side.head_stride);
}

template <class C>
__device__ __forceinline__ C* place_of(const PagedCacheParams& p, const PagedSide& side, const Slot& slot, uint32_t head) {
  const bool heads_first = p.flags & HEADS_FIRST;
  const int64_t row = heads_first ? int64_t{head} * p.page_size + slot.offset : slot.offset * p.heads + head;
  return static_cast<C*>(side.cache) + (slot.page * side.page_stride + row * side.width);
}

__device__ __forceinline__ float scale_of(const PagedCacheParams& p, const PagedSide& side, uint32_t head) {
  return side.scale == nullptr ? 1.0f : load_element(side.scale + (p.flags & SCALE_OF_HEAD ? head : 0));
}

template <class T, class C, int N>
__device__ __forceinline__ void store_tokens(const PagedCacheParams& p) {
  launch_dependents();
  wait_for_predecessors();
  const uint32_t keys = p.keys.width / N, values = p.values.width / N, most = keys > values ? keys : values;
  const bool scaled = p.keys.scale != nullptr;
  for (int64_t token = blockIdx.x; token < p.tokens; token += gridDim.x) {
    const int64_t at = load_index(p.slots, static_cast<uint64_t>(token), p.flags & SLOT_64, false);
    const bool held = at >= 0 && at < p.capacity;
    Slot slot{held, 0, 0};
    if (held) {
      slot.page = static_cast<int64_t>(divide(static_cast<uint64_t>(at), p.page_size));
      slot.offset = at - slot.page * p.page_size;
    } else if (at != -1 && threadIdx.x == 0 && threadIdx.y == 0) {
      raise_fault(p.faults, p.operation, 0, static_cast<uint64_t>(token));
    }
    for (uint32_t head = threadIdx.y; head < p.heads; head += blockDim.y) {
      const T* const key = row_of<T>(p.keys, token, head);
      const T* const value = row_of<T>(p.values, token, head);
      float key_scale = 1.0f, value_scale = 1.0f;
      if (!__is_same(T, C) && scaled) key_scale = scale_of(p, p.keys, head), value_scale = scale_of(p, p.values, head);
      for (uint32_t i = threadIdx.x; i < most; i += blockDim.x) {
        Pack<T, N> k = Pack<T, N>::zero(), v = Pack<T, N>::zero();
        if (i < keys) k = Pack<T, N>::once(key + int64_t{i} * N);
        if (i < values) v = Pack<T, N>::once(value + int64_t{i} * N);
        if (slot.held) {
          if (i < keys) put<T, N>(place_of<C>(p, p.keys, slot, head) + int64_t{i} * N, k, key_scale, scaled);
          if (i < values) put<T, N>(place_of<C>(p, p.values, slot, head) + int64_t{i} * N, v, value_scale, scaled);
        }
      }
    }
  }
}

}  // namespace opweave

#define OPWEAVE_PAGED_ENTRY(DTYPE, SUFFIX, CACHE, N)                                                       \
  extern "C" __global__ void __launch_bounds__(256)                                                      \
      opweave_reshape_paged_cache_##DTYPE##_##SUFFIX(const __grid_constant__ opweave::PagedCacheParams p) { \
    opweave::store_tokens<opweave::DTYPE, opweave::CACHE, N>(p);                                         \
  }
#define OPWEAVE_PAGED_ENTRIES(DTYPE)                                                  \
  OPWEAVE_PAGED_ENTRY(DTYPE, v, DTYPE, opweave::VECTOR_OF<opweave::DTYPE>)            \
  OPWEAVE_PAGED_ENTRY(DTYPE, any, DTYPE, 1)                                           \
  OPWEAVE_PAGED_ENTRY(DTYPE, v_f8e4m3, f8e4m3, opweave::VECTOR_OF<opweave::DTYPE>)    \
  OPWEAVE_PAGED_ENTRY(DTYPE, any_f8e4m3, f8e4m3, 1)

OPWEAVE_PAGED_ENTRIES(f32)
OPWEAVE_PAGED_ENTRIES(f16)
OPWEAVE_PAGED_ENTRIES(bf16)
