// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The rotary kernels without a GPU, against their definitions in f64: both styles, partly turned heads, strides, positions outside
// the cache, heads that f32 cannot normalise.

#include "cuda.h"

#include "../../rotary/fused_qk_norm_rope.cu"
#include "../../rotary/rotary_embedding.cu"
#include "tensor.h"

#include <limits>
#include <type_traits>

using namespace opweave;

enum Variant { H1, H2, WHOLE, PART, ANY };
const char* const VARIANTS[] = {"h1", "h2", "whole", "part", "any"};
using Entry = void (*)(RotaryParams);
#define ENTRIES(D)                                                                                             \
  {opweave_rotary_embedding_##D##_h1, opweave_rotary_embedding_##D##_h2, opweave_fused_qk_norm_rope_##D##_whole, \
   opweave_fused_qk_norm_rope_##D##_part, opweave_fused_qk_norm_rope_##D##_any}
template <class T>
constexpr Entry entries[5] = ENTRIES(f32);
template <>
constexpr Entry entries<f16>[5] = ENTRIES(f16);
template <>
constexpr Entry entries<bf16>[5] = ENTRIES(bf16);

template <class T>
struct Case {
  bool norm;
  int64_t tokens, max_position, cache_stride;
  unsigned heads[2], width, rotary_dim;
  int64_t head_stride[2], token_stride[2], size[2];
  bool vector;
  Tensor<T> q, k, cache, q_weight, k_weight;
  Tensor<float> cache_f32, q_weight_f32, k_weight_f32;
  std::vector<int64_t> positions;
  uint32_t flags;
  float epsilon;

  static int64_t space(int64_t tokens, unsigned heads, unsigned width) { return tokens * heads * (width + 16) + 256; }

  Case(bool norm, int64_t tokens, unsigned q_heads, unsigned k_heads, unsigned width, unsigned rotary_dim, bool vector)
      : norm(norm), tokens(tokens), max_position(50), cache_stride(rotary_dim + (vector ? 8 : 1)), heads{q_heads, k_heads},
        width(width), rotary_dim(rotary_dim), vector(vector), q(space(tokens, q_heads + 1, width), !vector),
        k(space(tokens, k_heads + 1, width), !vector), cache(max_position * cache_stride, !vector), q_weight(width, !vector),
        k_weight(width, !vector), cache_f32(max_position * cache_stride, !vector), q_weight_f32(width, 0), k_weight_f32(width, 0) {
    q.fill(1), k.fill(2), cache.fill(0.7), cache_f32.fill(0.7), q_weight.fill(1), k_weight.fill(1);
    q_weight_f32.fill(1), k_weight_f32.fill(1);
    const uint32_t bits = random_bits(), weights[] = {0, HEAD_WEIGHT_SAME, HEAD_WEIGHT_F32};
    flags = (vector ? ROTARY_VECTOR : 0u) | (bits & 1 ? INTERLEAVED : 0u) | (bits & 2 ? CACHE_F32 : 0u) | (bits & 4 ? POSITIONS_I32 : 0u);
    if (!norm && bits & 8) flags |= ROUND_PRODUCTS;
    if (norm && bits & 8) flags |= ROUND_HEAD;
    if (norm) flags |= weights[bits / 16 % 3];
    epsilon = bits & 512 ? 1e-6f : 0.0f;
    const int64_t gap = vector ? 8 : 1;
    for (int t = 0; t < 2; t++) {
      // Heads within tokens, or tokens within heads.
      const bool outside = !norm && bits & 1024;
      head_stride[t] = outside ? tokens * (width + gap) : norm ? width : width + gap;
      token_stride[t] = outside ? width + gap : heads[t] * head_stride[t] + gap;
      size[t] = outside ? heads[t] * head_stride[t] : tokens * token_stride[t];
    }
    for (int64_t i = 0; i < tokens; i++) positions.push_back(random_bits() % 50);
    if (bits & 2048 && tokens > 2) positions[1] = flags & POSITIONS_I32 ? -1 : int64_t{1} << 32, positions[tokens - 1] = 50;
  }

  void make_odd() {
    const double largest = std::is_same_v<T, f16> ? 6e4 : 1e38, least = std::is_same_v<T, f16> ? 6e-8 : 1e-38;
    for (int64_t t = 0; t < tokens; t++) {
      for (unsigned h = 0; h < heads[0]; h++) {
        T* x = q.data() + t * token_stride[0] + h * head_stride[0];
        const auto each = [&](auto f) {
          for (unsigned i = 0; i < width; i++) x[i] = round_f64<T>(f());
        };
        switch ((t + h) % 6) {
          case 0: each([&] { return normal() > 0 ? largest / 8 : -largest / 9; }); break;
          case 1: each([&] { return normal() * 4 * least; }); break;
          case 2: each([] { return 0.0; }); break;
          case 3: x[width / 2] = round_f64<T>(std::numeric_limits<double>::quiet_NaN()); break;
          case 4: x[width / 3] = round_f64<T>(-std::numeric_limits<double>::infinity()); break;
          default: break;
        }
      }
    }
  }

  static double rounded(double v) { return to_f32(round_f64<T>(v)); }
  double angle(int64_t position, int64_t i) {
    const int64_t at = position * cache_stride + i;
    return flags & CACHE_F32 ? cache_f32.data()[at] : to_f32(cache.data()[at]);
  }
  double weight_at(int which, unsigned i) {
    if (flags & HEAD_WEIGHT_SAME) return to_f32((which == 0 ? q_weight : k_weight).data()[i]);
    if (flags & HEAD_WEIGHT_F32) return (which == 0 ? q_weight_f32 : k_weight_f32).data()[i];
    return 1;
  }

  // One head, with the sizes of what was added up.
  void reference(int which, int64_t position, const T* x, std::vector<double>& out, std::vector<double>& size) {
    std::vector<double> v(width);
    double square = 0;
    for (unsigned i = 0; i < width; i++) v[i] = to_f32(x[i]), square += v[i] * v[i];
    const double divisor = std::sqrt(square / width + static_cast<double>(epsilon));
    for (unsigned i = 0; norm && i < width; i++) {
      v[i] = v[i] / divisor * weight_at(which, i);
      if (flags & ROUND_HEAD) v[i] = rounded(v[i]);
    }
    out = v;
    for (unsigned i = 0; i < width; i++) size[i] = std::fabs(v[i]);
    const auto step = [&](double y) { return flags & ROUND_PRODUCTS ? rounded(y) : y; };
    for (unsigned pair = 0; pair < rotary_dim / 2; pair++) {
      const unsigned i = flags & INTERLEAVED ? 2 * pair : pair, j = flags & INTERLEAVED ? 2 * pair + 1 : pair + rotary_dim / 2;
      const double c = step(angle(position, pair)), s = step(angle(position, rotary_dim / 2 + pair));
      out[i] = step(v[i] * c) - step(v[j] * s), out[j] = step(v[j] * c) + step(v[i] * s);
      size[i] = std::fabs(v[i] * c) + std::fabs(v[j] * s), size[j] = std::fabs(v[j] * c) + std::fabs(v[i] * s);
    }
    for (double& y : out) y = rounded(y);
  }

  void fail(Variant variant, unsigned x, unsigned y, unsigned parts, const char* what, int64_t token, int64_t at, double got, double want) {
    if (failures++ > 20) return;
    std::printf("%d bits %s (%u x %u, %u parts): %s of token %ld at %ld is %g, wanted %g; heads %u + %u of %u, turned %u, flags %x, epsilon %g\n",
                static_cast<int>(sizeof(T) * 8), VARIANTS[variant], x, y, parts, what, token, at, got, want, heads[0], heads[1], width,
                rotary_dim, flags, epsilon);
  }

  void run(Variant variant, unsigned x, unsigned y, unsigned parts) {
    calls++;
    Tensor<T> qs = q.copy(), ks = k.copy();
    std::vector<int32_t> short_positions(positions.begin(), positions.end());
    FaultBuffer faults{};
    RotaryParams p{};
    p.positions = flags & POSITIONS_I32 ? static_cast<void*>(short_positions.data()) : positions.data();
    p.q = qs.data(), p.k = ks.data();
    p.cache = flags & CACHE_F32 ? static_cast<void*>(cache_f32.data()) : cache.data();
    p.q_weight = flags & HEAD_WEIGHT_F32 ? static_cast<void*>(q_weight_f32.data()) : q_weight.data();
    p.k_weight = flags & HEAD_WEIGHT_F32 ? static_cast<void*>(k_weight_f32.data()) : k_weight.data();
    p.faults = &faults, p.tokens = tokens, p.max_position = max_position, p.cache_stride = cache_stride;
    p.q_token_stride = token_stride[0], p.q_head_stride = head_stride[0];
    p.k_token_stride = token_stride[1], p.k_head_stride = head_stride[1];
    p.q_heads = heads[0], p.k_heads = heads[1], p.head_dim = width, p.rotary_dim = rotary_dim;
    p.parts = parts, p.operation = 5, p.epsilon = epsilon, p.inverse_width = 1.0f / static_cast<float>(width), p.flags = flags;
    const auto all = static_cast<unsigned>(tokens), grid = parts * (calls % 2 == 0 ? all : std::max(1u, all / 2));
    emulation::launch({grid, 1, 1}, {x, y, 1}, [&] { entries<T>[variant](p); });
    bool outside = false;
    for (int64_t position : positions) outside |= position < 0 || position >= max_position;
    if ((faults.state == FAULT_FULL) != outside) fail(variant, x, y, parts, "the fault", 0, 0, static_cast<double>(faults.state), outside);
    if (outside && (positions[faults.row] >= 0 && positions[faults.row] < max_position)) fail(variant, x, y, parts, "the faulty token", 0, 0, 0, 0);
    long compared = 0, exact = 0;
    for (int which = 0; which < 2; which++) {
      T *before = (which == 0 ? q : k).data(), *after = (which == 0 ? qs : ks).data();
      std::vector<bool> seen(size[which]);
      for (int64_t t = 0; t < tokens; t++) {
        if (positions[t] < 0 || positions[t] >= max_position) continue;
        for (unsigned h = 0; h < heads[which]; h++) {
          const int64_t at = t * token_stride[which] + h * head_stride[which];
          std::vector<double> want(width), sizes(width);
          reference(which, positions[t], before + at, want, sizes);
          for (unsigned i = 0; i < (norm ? width : rotary_dim); i++) {
            seen[at + i] = true;
            const double got = to_f32(after[at + i]), w = want[i];
            const double ulp = !NARROW<T> ? 2e-7 : std::is_same_v<T, bf16> ? 0x1p-7 : 0x1p-10;
            const double room = std::fabs(w) * ulp * 1.01 + sizes[i] * (flags & ROUND_HEAD && NARROW<T> ? ulp * 1.1 : 6e-7) +
                                (std::is_same_v<T, f16> ? 2.4e-7 : 1e-37);
            const bool good = std::isnan(w) ? std::isnan(got) : std::isinf(w) ? got == w : std::fabs(got - w) <= room;
            compared++, exact += good && (std::isnan(w) || got == w);
            // A sum of products of f32 may be infinite where that of f64 is not.
            if (!good && !(sizes[i] > 3e38)) return fail(variant, x, y, parts, which == 0 ? "q" : "k", t, at + i, got, w);
          }
        }
      }
      for (int64_t i = 0; i < size[which]; i++) {
        if (!seen[i] && std::memcmp(before + i, after + i, sizeof(T)) != 0) {
          return fail(variant, x, y, parts, "what stays", -1, i, to_f32(after[i]), to_f32(before[i]));
        }
      }
    }
    // What is rounded elsewhere than the mode says is near, but not often the same.
    if (NARROW<T> && compared > 300 && exact < compared * 0.98) {
      fail(variant, x, y, parts, "the share that is exact", 0, 0, static_cast<double>(exact), static_cast<double>(compared));
    }
  }
};

template <class T>
void all() {
  constexpr unsigned N = VECTOR_OF<T>;
  for (int round = 0; round < 12; round++) {
    const bool odd = round % 3 == 2;
    for (const auto& [units, rest] : {std::pair{8u, 0u}, {4u, 8u}, {6u, 0u}, {1u, 3u}, {16u, 0u}}) {
      const unsigned rotary_dim = 2 * units * N, width = rotary_dim + rest * N;
      Case<T> one(false, 5, 5, round % 4 == 1 ? 0 : 2, width, rotary_dim, true), both(true, 5, 4, 3, width, rotary_dim, true);
      if (odd) one.make_odd(), both.make_odd();
      one.run(H1, units, 32, 1), one.run(H2, units, 32, 1), one.run(H1, 32, 2, 2), one.run(H2, 1, 32, 3);
      const unsigned lanes = std::bit_ceil(std::max(units, (rest + 1) / 2));
      both.run(PART, lanes, 64 / lanes, 1), both.run(PART, 32, 2, 2), both.run(ANY, 32, 2, 1);
      if (rest == 0) both.run(WHOLE, std::bit_ceil(units), 64 / std::bit_ceil(units), 1), both.run(WHOLE, 32, 1, 3);
    }
    for (const auto& [rotary_dim, width] : {std::pair{2u, 2u}, {2u, 3u}, {10u, 17u}, {64u, 80u}, {6u, 700u}}) {
      Case<T> one(false, 4, 3, 1, width, rotary_dim, false), both(true, 4, 3, 2, width, rotary_dim, false);
      if (odd) one.make_odd(), both.make_odd();
      one.run(H1, 8, 4, 1), one.run(H2, 32, 1, 2), both.run(ANY, 32, 2, 1), both.run(ANY, 32, 1, 2);
    }
  }
}

int main() {
  all<f32>(), all<f16>(), all<bf16>();
  std::printf("rotary: %ld calls, %ld failures\n", calls, failures);
  return failures == 0 && calls > 1000 ? 0 : 1;
}
