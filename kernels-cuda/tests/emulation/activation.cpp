// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The activation kernels without a GPU, against their definitions in f64.
//
// Every entry, halves packed and apart, both modes: both tails, huge and tiny numbers, NaN and infinities, gaps between rows,
// more blocks than tiles and fewer.

#include "cuda.h"

#include "../../activation/gelu_and_mul.cu"
#include "../../activation/gelu_tanh_and_mul.cu"
#include "../../activation/silu_and_mul.cu"

#include <limits>
#include <random>
#include <type_traits>

using namespace opweave;

enum Op { SILU, GELU, TANH };
enum Variant { V1, V2, ANY };
using Entry = void (*)(ActivationParams);
#define ENTRIES(S, D) {opweave_##S##_##D##_v1, opweave_##S##_##D##_v2, opweave_##S##_##D##_any}
#define OPERATIONS(D) {ENTRIES(silu_and_mul, D), ENTRIES(gelu_and_mul, D), ENTRIES(gelu_tanh_and_mul, D)}
template <class T>
constexpr Entry entries[3][3] = OPERATIONS(f32);
template <>
constexpr Entry entries<f16>[3][3] = OPERATIONS(f16);
template <>
constexpr Entry entries<bf16>[3][3] = OPERATIONS(bf16);

std::mt19937 random_bits(20261130);
double normal() { return std::normal_distribution<double>()(random_bits); }
long calls = 0, failures = 0;
double worst[3][3] = {};

double activation(Op op, double z) {
  switch (op) {
    case SILU: return z / (1.0 + std::exp(-z));
    case GELU: return z * 0.5 * std::erfc(-z * std::sqrt(0.5));
    default: return z / (1.0 + std::exp(-2.0 * std::sqrt(2.0 / std::acos(-1.0)) * (z + 0.044715 * z * z * z)));
  }
}

template <class T>
double place_of(double v) {  // what one in the last place is
  const int digits = std::is_same_v<T, f32> ? 24 : std::is_same_v<T, f16> ? 11 : 8;
  const int least = std::is_same_v<T, f16> ? -14 : -126;
  return std::ldexp(1.0, std::max(v == 0 ? least : std::ilogb(v), least) - digits + 1);
}

template <class T>
void run(Op op, Variant variant, int64_t rows, int64_t width, unsigned threads, bool packed, bool round, int kind) {
  calls++;
  const int64_t stride = packed ? 2 * width + 16 : width + 8, out_stride = width + 24;
  std::vector<T> memory(rows * stride * 2 + 64), result(rows * out_stride + 64, T{});
  const auto aligned = [](std::vector<T>& v, size_t shift) {
    return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(v.data()) + 15) & ~uintptr_t{15}) + shift;
  };
  const size_t shift = variant == ANY ? 1 : 0;
  T* const gate = aligned(memory, shift);
  T* const up = packed ? gate + width : gate + rows * stride;
  T* const out = aligned(result, shift);
  const double big = std::is_same_v<T, f16> ? 6e4 : 3e38, small = std::is_same_v<T, f16> ? 1.3e-4 : 3e-38;
  for (int64_t r = 0; r < rows; r++) {
    const double scales[] = {1.0, 6.0, 14.0, 30.0, 120.0, 3000.0};
    for (int64_t c = 0; c < width; c++) {
      double z = normal() * 2, y = normal() * 2;
      const double u = std::uniform_real_distribution<double>(-1, 1)(random_bits);
      if (kind == 1) z = u * scales[r % 6];
      if (kind == 2) z = u * big;
      // Halves of numbers below twice the least normal one would be ties that only a thousandth of a place decides.
      if (kind == 3) z = std::is_same_v<T, f32> ? u * 1e-36 : small * (u + (u < 0 ? -1 : 1));
      if (kind == 4 && c % 5 == 0) z = std::array{NAN, INFINITY, -INFINITY, 0.0f, -0.0f}[c / 5 % 5];
      if (kind == 4 && c % 7 == 0) y = std::array{NAN, INFINITY, -INFINITY, 0.0f, -0.0f}[c / 7 % 5];
      if (kind == 5) z = -std::fabs(u) * 110, y = u * big;
      gate[r * stride + c] = round_f64<T>(z);
      up[r * stride + c] = round_f64<T>(y);
    }
  }
  ActivationParams p{};
  p.gate = gate, p.up = up, p.out = out, p.rows = rows, p.width = width;
  p.gate_stride = p.up_stride = stride, p.out_stride = out_stride;
  const int64_t tile = int64_t{threads} * (variant == V1 ? VECTOR_OF<T> : variant == V2 ? 2 * VECTOR_OF<T> : 4);
  p.tiles = static_cast<uint32_t>((width + tile - 1) / tile);
  p.flags = (round ? ROUND_ACTIVATION : 0) | (calls % 3 == 0 ? STREAM_OUT : 0);
  const auto all = static_cast<unsigned>(rows * p.tiles);
  emulation::launch({calls % 4 == 0 ? std::max(1u, all / 2) : all, 1, 1}, {threads, 1, 1}, [&] { entries<T>[op][variant](p); });
  for (int64_t r = 0; r < rows; r++) {
    for (int64_t c = 0; c < out_stride; c++) {
      const double got = to_f32(out[r * out_stride + c]);
      if (c >= width) {
        if (r + 1 < rows && got != 0) failures++, std::printf("a gap was written\n");
        continue;
      }
      const double z = to_f32(gate[r * stride + c]), y = to_f32(up[r * stride + c]);
      const bool rounds = round && !std::is_same_v<T, f32>;
      const double a = activation(op, z), v = (rounds ? to_f32(round_f64<T>(a)) : a) * y;
      const double want = to_f32(round_f64<T>(v));
      // f32: four units; 16 bits: the rounding and a hundredth, or a place of the activation on either side of a tie.
      // Below the range of f32: what the contract allows; of 16 bits what the activation alone loses.
      const double lost = 2.8e-45 * std::max(1.0, std::fabs(y)) * (std::is_same_v<T, f32> ? 1.0 : std::max(1.0, std::fabs(z)));
      const double unit = std::is_same_v<T, f32> ? std::fabs(v) * 0x1p-23 : place_of<T>(v);
      const double units = std::is_same_v<T, f32> ? 4.1 : rounds ? 2.01 : 0.51;
      const bool fine = std::isnan(want) ? std::isnan(got)
                        : std::isinf(want) || std::isinf(got)
                            ? got == want || std::fabs(std::fabs(v) / std::numeric_limits<float>::max() - 1) < 1e-6
                            : std::fabs(got - v) <= units * unit + lost;
      if (std::isfinite(v) && std::isfinite(got) && v != 0 && !rounds) {
        double& most = worst[op][sizeof(T) / 2];
        most = std::max(most, (std::fabs(got - v) - lost) / unit);
      }
      if (!fine && failures++ < 20) {
        std::printf("op %d of %zu bytes, entry %d, kind %d: gate %.9g, up %.9g: %.9g, wanted %.9g\n", op, sizeof(T), variant, kind, z, y,
                    got, v);
      }
    }
  }
}

template <class T>
void all_of() {
  for (Op op : {SILU, GELU, TANH}) {
    for (int kind = 0; kind < 6; kind++) {
      for (int form = 0; form < 4; form++) {
        for (int64_t vectors : {1, 5, 130}) {
          run<T>(op, V1, 6, vectors * VECTOR_OF<T>, 64, form & 1, form & 2, kind);
          run<T>(op, V2, 7, vectors * VECTOR_OF<T>, 32, form & 1, form & 2, kind);
        }
        for (int64_t width : {1, 7, 129, 1000}) run<T>(op, ANY, 6, width, 96, form & 1, form & 2, kind);
      }
    }
  }
}

int main() {
  all_of<f32>(), all_of<f16>(), all_of<bf16>();
  for (const auto& of : worst) std::printf("furthest, in places of 16 bits and units of f32: %.3f, %.3f\n", of[1], of[2]);
  std::printf("%ld calls, %ld failures\n", calls, failures);
  return failures == 0 && calls > 500 ? 0 : 1;
}
