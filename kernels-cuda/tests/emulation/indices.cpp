// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The kernels that go by indices without a GPU, embedding and reshape_paged_cache, against their definitions: every entry,
// dtypes of indices, shards, layouts, formats and scales, gaps, shifted pointers; and faults, of which one of those that are there is
// reported, while all other rows are right.

#include "cuda.h"

#include "../../embedding/embedding.cu"
#include "../../kv_cache/reshape_paged_cache.cu"

#include <random>
#include <type_traits>

using namespace opweave;

std::mt19937 random_bits(20261203);
long calls = 0, failures = 0;
int64_t below(int64_t n) { return static_cast<int64_t>(random_bits() % static_cast<uint64_t>(n)); }

template <class T>
T* aligned(std::vector<T>& v, size_t shift) {
  return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(v.data()) + 15) & ~uintptr_t{15}) + shift;
}
template <class T>
std::vector<T> noise(size_t elements) {
  std::vector<T> v(elements + 64);
  for (T& x : v) {
    const uint32_t bits = static_cast<uint32_t>(random_bits());
    std::memcpy(&x, &bits, sizeof x);
  }
  return v;
}

void fail(const char* what, int64_t a, int64_t b) {
  if (failures++ < 20) std::printf("%s at %ld, %ld (call %ld)\n", what, a, b, calls);
}

// A list of indices in its dtype.
std::vector<uint8_t> list(const std::vector<int64_t>& values, bool of_8) {
  std::vector<uint8_t> bytes(values.size() * (of_8 ? 8 : 4));
  for (size_t i = 0; i < values.size(); i++) std::memcpy(&bytes[i * (of_8 ? 8 : 4)], &values[i], of_8 ? 8 : 4);
  return bytes;
}

// That a fault is there if any is wanted, with a row of those, and none else.
void faulted(const FaultBuffer& faults, const std::vector<int64_t>& wanted) {
  if (wanted.empty()) {
    if (faults.state != FAULT_EMPTY) fail("a fault that is none", static_cast<int64_t>(faults.row), 0);
    return;
  }
  bool known = false;
  for (int64_t row : wanted) known |= row == static_cast<int64_t>(faults.row);
  if (faults.state != FAULT_FULL || faults.code != uint64_t{77} << 32 || !known) fail("a fault is missing or another", static_cast<int64_t>(faults.row), wanted[0]);
}

template <class T>
using Gather = void (*)(EmbeddingParams);
template <class T>
constexpr Gather<T> gathers[3] = {opweave_embedding_f32_v1, opweave_embedding_f32_v4, opweave_embedding_f32_any};
template <>
constexpr Gather<f16> gathers<f16>[3] = {opweave_embedding_f16_v1, opweave_embedding_f16_v4, opweave_embedding_f16_any};
template <>
constexpr Gather<bf16> gathers<bf16>[3] = {opweave_embedding_bf16_v1, opweave_embedding_bf16_v4, opweave_embedding_bf16_any};

template <class T>
void embed(int variant, int64_t tokens, int64_t width, unsigned threads, int ids_are) {
  calls++;
  const bool any = variant == 2, of_8 = ids_are == 1, without_sign = ids_are == 2;
  const int64_t vocabulary = 40, begin = below(2) * below(30), end = begin + below(41 - begin);
  const int64_t gap = any ? 3 : 16, stride = width + gap;
  std::vector<T> table = noise<T>(vocabulary * stride), out = noise<T>(tokens * stride);
  const std::vector<T> before = out;
  T *const rows = aligned(table, any), *const to = aligned(out, any);
  std::vector<int64_t> ids(tokens), wrong;
  for (int64_t t = 0; t < tokens; t++) {
    ids[t] = below(vocabulary);
    const int64_t outside[] = {40, -1, int64_t{1} << 32, INT64_MIN, INT64_MAX, (int64_t{1} << 32) + 3};
    if (calls % 2 == 0 && below(4) == 0) ids[t] = of_8 ? outside[below(6)] : without_sign ? int64_t{0xfffffff0} : outside[below(2)];
    if (ids[t] < 0 || ids[t] >= vocabulary) wrong.push_back(t);
  }
  const std::vector<uint8_t> bytes = list(ids, of_8);
  FaultBuffer faults{};
  EmbeddingParams p{};
  p.ids = bytes.data(), p.table = rows, p.out = to, p.faults = calls % 5 == 0 ? nullptr : &faults;
  p.tokens = tokens, p.table_stride = p.out_stride = stride, p.vocabulary = vocabulary, p.begin = begin, p.end = end;
  p.width = static_cast<uint32_t>(width), p.operation = 77;
  const int64_t tile = int64_t{threads} * (any ? 4 : VECTOR_OF<T> * (variant == 0 ? 1 : 4));
  p.tiles = static_cast<uint32_t>((width + tile - 1) / tile);
  p.flags = (of_8 ? ID_64 : 0) | (without_sign ? ID_UNSIGNED : 0) | (calls % 3 == 0 ? EMBEDDING_STREAM : 0);
  const auto all = static_cast<unsigned>(tokens * p.tiles);
  emulation::launch({calls % 4 == 0 ? std::max(1u, all / 2) : all, 1, 1}, {threads, 1, 1}, [&] { gathers<T>[variant](p); });
  const T* const old = to - out.data() + before.data();
  for (int64_t t = 0; t < tokens; t++) {
    for (int64_t c = 0; c < stride; c++) {
      T want{};
      if (c >= width) want = old[t * stride + c];
      else if (ids[t] >= begin && ids[t] < end) want = rows[(ids[t] - begin) * stride + c];
      if (std::memcmp(&want, &to[t * stride + c], sizeof want) != 0) fail("embedding", t, c);
    }
  }
  if (p.faults != nullptr) faulted(faults, wrong);
}

using Store = void (*)(PagedCacheParams);
#define STORES(D) {opweave_reshape_paged_cache_##D##_v, opweave_reshape_paged_cache_##D##_any, opweave_reshape_paged_cache_##D##_v_f8e4m3, opweave_reshape_paged_cache_##D##_any_f8e4m3}
template <class T>
constexpr Store stores[4] = STORES(f32);
template <>
constexpr Store stores<f16>[4] = STORES(f16);
template <>
constexpr Store stores<bf16>[4] = STORES(bf16);

// C: what the cache holds.
template <class T, class C>
void store(bool any, int scales, int64_t heads, int64_t wide_keys, int64_t wide_values, unsigned x, unsigned y) {
  calls++;
  const bool codes = !std::is_same_v<T, C>, of_8 = calls % 2 == 0, heads_first = calls % 3 == 0;
  const int64_t pages = 3, page_size = 4, tokens = 9, capacity = pages * page_size;
  struct Side {
    int64_t width, head_stride, row_stride, page_stride;
    std::vector<T> rows;
    std::vector<C> cache, before;
    std::vector<float> scale;
  } sides[2];
  FaultBuffer faults{};
  PagedCacheParams p{};
  for (int s = 0; s < 2; s++) {
    Side& side = sides[s];
    side.width = s == 0 ? wide_keys : wide_values;
    side.head_stride = side.width + (any ? 1 : 8);
    side.row_stride = heads * side.head_stride + (any ? 3 : 16);
    side.page_stride = page_size * heads * side.width + (any ? 5 : 32);
    side.rows.resize(tokens * side.row_stride + 64);
    for (T& v : side.rows) {
      v = round_f64<T>(std::normal_distribution<double>()(random_bits) * std::array{1.0, 100.0, 1e-3, 1000.0}[below(4)]);
      // Over the scale halfway between two codes; times its reciprocal some are not.
      if (below(4) == 0) v = round_f64<T>(1.75 * (1.0 + static_cast<double>(2 * below(8) + 1) / 16.0));
    }
    side.cache = noise<C>(pages * side.page_stride);
    side.before = side.cache;
    side.scale = {0.5f, 1.75f, -0.7f, 0.0f, NAN, 2.0f};
    PagedSide& told = s == 0 ? p.keys : p.values;
    told.rows = aligned(side.rows, any), told.scale = scales > 0 ? side.scale.data() : nullptr, told.cache = aligned(side.cache, any);
    told.row_stride = side.row_stride, told.head_stride = side.head_stride, told.page_stride = side.page_stride;
    told.width = static_cast<uint32_t>(side.width);
  }
  std::vector<int64_t> slots(tokens), free(capacity), wrong;
  for (int64_t i = 0; i < capacity; i++) free[i] = i;
  std::shuffle(free.begin(), free.end(), random_bits);
  for (int64_t t = 0; t < tokens; t++) {
    const int64_t outside[] = {-1, capacity, -2, int64_t{1} << 32, INT64_MIN};
    slots[t] = calls % 4 < 2 && below(3) == 0 ? outside[below(of_8 ? 5 : 3)] : free[t];
    if (slots[t] != -1 && (slots[t] < 0 || slots[t] >= capacity)) wrong.push_back(t);
  }
  const std::vector<uint8_t> bytes = list(slots, of_8);
  p.slots = bytes.data(), p.faults = &faults, p.tokens = tokens, p.capacity = capacity;
  p.heads = static_cast<uint32_t>(heads), p.page_size = page_size, p.operation = 77;
  p.flags = (of_8 ? SLOT_64 : 0) | (heads_first ? HEADS_FIRST : 0) | (scales == 2 ? SCALE_OF_HEAD : 0);
  emulation::launch({calls % 5 == 0 ? 4u : static_cast<unsigned>(tokens), 1, 1}, {x, y, 1}, [&] { stores<T>[(codes ? 2 : 0) + any](p); });
  for (int s = 0; s < 2; s++) {
    Side& side = sides[s];
    C* const cache = aligned(side.cache, any);
    std::vector<C> want = side.before;
    C* const to = want.data() + (cache - side.cache.data());
    const T* const rows = aligned(side.rows, any);
    for (int64_t t = 0; t < tokens; t++) {
      if (slots[t] < 0 || slots[t] >= capacity) continue;
      for (int64_t h = 0; h < heads; h++) {
        const int64_t page = slots[t] / page_size, offset = slots[t] % page_size;
        const int64_t row = heads_first ? h * page_size + offset : offset * heads + h;
        for (int64_t i = 0; i < side.width; i++) {
          const T v = rows[t * side.row_stride + h * side.head_stride + i];
          C& place = to[page * side.page_stride + row * side.width + i];
          if constexpr (std::is_same_v<T, C>) place = v;
          else place = code_of<f8e4m3>(scales > 0 ? to_f32(v) / side.scale[scales == 2 ? h : 0] : to_f32(v));
        }
      }
    }
    for (size_t i = 0; i < want.size(); i++) {
      if (std::memcmp(&want[i], &side.cache[i], sizeof(C)) != 0) fail("cache", s, static_cast<int64_t>(i));
    }
  }
  faulted(faults, wrong);
}

template <class T>
void all_of() {
  for (int ids_are : {0, 1, 2}) {
    for (int again = 0; again < 4; again++) {
      for (int64_t vectors : {1, 3, 40, 130}) {
        embed<T>(0, 9, vectors * VECTOR_OF<T>, 64, ids_are);
        embed<T>(1, 9, vectors * VECTOR_OF<T>, 32, ids_are);
      }
      for (int64_t width : {1, 7, 129, 1000}) embed<T>(2, 9, width, 96, ids_are);
    }
  }
  constexpr int64_t N = VECTOR_OF<T>;
  for (int again = 0; again < 12; again++) {
    for (int scales : {0, 1, 2}) {
      store<T, f8e4m3>(false, scales, 5, 4 * N, 3 * N, 4, 8);
      store<T, f8e4m3>(true, scales, 3, 20, 7, 32, 2);
      store<T, f8e4m3>(true, scales, 6, 1, 1, 1, 32);
    }
    store<T, T>(false, 0, 8, 16 * N, 16 * N, 16, 4);
    store<T, T>(false, 0, 3, N, 40 * N, 32, 3);
    store<T, T>(true, 0, 3, 20, 33, 32, 3);
  }
}

int main() {
  all_of<f32>(), all_of<f16>(), all_of<bf16>();
  std::printf("%ld calls, %ld failures\n", calls, failures);
  return failures == 0 && calls > 800 ? 0 : 1;
}
