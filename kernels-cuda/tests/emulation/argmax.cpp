// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The kernel of argmax without a GPU, against a search one by one: every alignment, widths around vectors, clusters, ties, NaN,
// infinities and zeros of both signs, in both orders.

#include "cuda.h"

#include "../../sampling/argmax.cu"

#include <random>
#include <type_traits>

using namespace opweave;

using Entry = void (*)(ArgmaxParams);
template <class T>
constexpr Entry entry = opweave_argmax_f32_row;
template <>
constexpr Entry entry<f16> = opweave_argmax_f16_row;
template <>
constexpr Entry entry<bf16> = opweave_argmax_bf16_row;

std::mt19937 random_bits(20261202);
long calls = 0, failures = 0;

template <class T>
void run(int64_t rows, unsigned width, unsigned gap, unsigned shift, unsigned threads, unsigned cluster, bool nan_first, int kind) {
  calls++;
  const int64_t stride = width + gap;
  std::vector<T> memory(rows * stride + 64);
  T* const logits = reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(memory.data()) + 15) & ~uintptr_t{15}) + shift;
  for (int64_t i = 0; i < rows * stride; i++) {
    const int64_t column = i % stride;
    double v = std::normal_distribution<double>()(random_bits) * 3 - 40;
    if (kind == 1) v = static_cast<double>(random_bits() % 4);                               // ties
    if (kind == 2) v = std::array{NAN, -INFINITY, 1.0f, -0.0f, 0.0f, INFINITY}[random_bits() % 6];
    if (kind == 3) v = random_bits() % 2 == 0 ? NAN : -INFINITY;
    if (kind == 4) v = NAN;
    if (kind == 5) v = random_bits() % 2 == 0 ? -0.0 : 0.0;
    if (kind == 6) v = static_cast<double>(column) - 5000;                                    // the last
    if (kind == 7) v = random_bits() % (2 * width) == 0 ? NAN : -1.0;
    if (column >= width) v = random_bits() % 2 == 0 ? NAN : 1e4;                              // never looked at
    logits[i] = round_f64<T>(v);
  }
  const bool wide = calls % 2 == 0;
  std::vector<int64_t> out(rows + 1, -7);
  ArgmaxParams p{};
  p.logits = logits, p.out = out.data(), p.rows = rows, p.stride = stride, p.width = width;
  p.flags = (nan_first ? NAN_FIRST : 0) | (wide ? INDEX_64 : 0);
  const auto sets = static_cast<unsigned>(calls % 3 == 0 ? std::max<int64_t>(1, rows / 2) : rows);
  emulation::launch({sets * cluster, 1, 1}, {threads, 1, 1}, [&] { entry<T>(p); }, cluster);
  for (int64_t r = 0; r < rows; r++) {
    int64_t want = 0;
    for (int64_t c = 1; c < width; c++) {
      const float v = to_f32(logits[r * stride + c]), most = to_f32(logits[r * stride + want]);
      const bool above = nan_first ? v > most || (std::isnan(v) && !std::isnan(most)) : v > most || (std::isnan(most) && !std::isnan(v));
      if (above) want = c;
    }
    const int64_t got = wide ? out[r] : reinterpret_cast<uint32_t*>(out.data())[r];
    if (got != want && failures++ < 20) {
      std::printf("%zu bytes, row %ld of %ld x %u, shift %u, gap %u, %u x %u threads, kind %d, nan %s: %ld, wanted %ld\n", sizeof(T), r, rows,
                  width, shift, gap, cluster, threads, kind, nan_first ? "first" : "last", got, want);
    }
  }
  if (out[rows] != -7) failures++, std::printf("written beyond the rows\n");
}

template <class T>
void all_of() {
  for (int kind = 0; kind < 8; kind++) {
    for (bool nan_first : {false, true}) {
      for (unsigned width : {1u, 2u, 3u, 7u, 8u, 9u, 31u, 65u, 300u, 2100u}) {
        const unsigned shift = random_bits() % 8;
        run<T>(5, width, random_bits() % 9, shift, 64, 1, nan_first, kind);
        run<T>(3, width, 8, 0, 32, 1, nan_first, kind);
      }
      run<T>(3, 4099, 1, random_bits() % 8, 64, 2, nan_first, kind);
      run<T>(2, 5000, 0, random_bits() % 8, 32, 4, nan_first, kind);
    }
    run<T>(2, 9001, 2, 3, 64, 16, kind % 2 == 0, kind);
  }
}

int main() {
  all_of<f32>(), all_of<f16>(), all_of<bf16>();
  std::printf("%ld calls, %ld failures\n", calls, failures);
  return failures == 0 && calls > 500 ? 0 : 1;
}
