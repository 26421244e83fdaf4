// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The softmax kernels without a GPU, against their definitions in f64.
//
// Every entry that can take a row, in clusters of every size: values, gaps, in place or apart, results in both dtypes,
// temperatures, masked rows, NaN and infinities; and entries that share rows differently must agree in every bit.

#include "cuda.h"

#include "../../softmax/softmax.cu"

#include <algorithm>
#include <limits>
#include <random>
#include <type_traits>

using namespace opweave;

enum Variant { W1, W4, C1, C2, LOOP };
using Entry = void (*)(SoftmaxParams);
#define ENTRIES(D) {opweave_softmax_##D##_w1, opweave_softmax_##D##_w4, opweave_softmax_##D##_c1, opweave_softmax_##D##_c2, opweave_softmax_##D##_loop}
template <class T>
constexpr Entry entries[5] = ENTRIES(f32);
template <>
constexpr Entry entries<f16>[5] = ENTRIES(f16);
template <>
constexpr Entry entries<bf16>[5] = ENTRIES(bf16);
const char* const NAMES[] = {"w1", "w4", "c1", "c2", "loop"};

std::mt19937 random_bits(20261201);
double normal() { return std::normal_distribution<double>()(random_bits); }
long calls = 0, failures = 0;
double worst[2] = {};

// In blocks of x by y threads, `cluster` of them to a row.
struct Launch {
  Variant variant;
  unsigned x, y, cluster;
};

template <class T>
struct Rows {
  std::vector<T> memory;
  size_t shift;
  Rows(size_t elements, size_t shift) : memory(elements + 64), shift(shift) {}
  T* data() { return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(memory.data()) + 15) & ~uintptr_t{15}) + shift; }
};

enum Kind { PLAIN, SPREAD, MASKED, ODD, EQUAL, ALONE };

template <class T, class U>
struct Case {
  int64_t rows, width, stride;
  bool vector, logarithm, in_place;
  float temperature;
  Kind kind;
  Rows<T> input;

  Case(int64_t rows, int64_t width, bool vector, bool logarithm, Kind kind, float temperature)
      : rows(rows), width(width), stride(vector ? width + 16 : width + 3), vector(vector), logarithm(logarithm),
        in_place(std::is_same_v<T, U> && random_bits() % 2 == 0), temperature(temperature), kind(kind), input(rows * stride, !vector) {
    const double scales[] = {0.1, 10.0, 60.0, 100.0, 400.0, 3e4};
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t c = 0; c < stride; c++) {
        double v = normal() * 4;
        const double u = std::uniform_real_distribution<double>(-1, 1)(random_bits);
        if (kind == SPREAD) v = u * scales[r % 6];
        if (kind == MASKED && (r % 4 == 0 || (r % 4 == 1 && c % 3 != 0) || (r % 4 == 2 && c != width / 2))) v = -INFINITY;
        if (kind == ODD && r % 4 == 0 && c == width - 1) v = NAN;
        if (kind == ODD && r % 4 == 1 && c == width / 3) v = NAN;
        if (kind == ODD && r % 4 == 2 && c == width / 2) v = INFINITY;
        if (kind == EQUAL) v = std::array{1.0, 1e4, -1e4, 0.0, 300.0}[r % 5];
        if (kind == ALONE) v = c == width / 2 ? 50.0 : -20.0 * static_cast<double>(r) + u;
        input.data()[r * stride + c] = round_f64<T>(v);
      }
    }
  }

  std::vector<double> reference() {
    std::vector<double> want(rows * width);
    for (int64_t r = 0; r < rows; r++) {
      const T* row = input.data() + r * stride;
      double most = -INFINITY, rest = 0;
      for (int64_t c = 0; c < width; c++) most = std::fmax(most, to_f32(row[c]));
      bool left_out = false;
      for (int64_t c = 0; c < width; c++) {
        const double x = (to_f32(row[c]) - most) / temperature;
        if (x == 0 && !left_out) left_out = true;
        else rest += std::exp(x);
        want[r * width + c] = x;
      }
      for (int64_t c = 0; c < width; c++) {
        double& v = want[r * width + c];
        v = logarithm ? v - std::log1p(rest) : std::exp(v) / (left_out ? 1 + rest : rest);
      }
    }
    return want;
  }

  void run(const std::vector<Launch>& launches) {
    const std::vector<double> want = reference();
    std::vector<U> first;
    for (const Launch& l : launches) {
      calls++;
      Rows<T> in(rows * stride, input.shift);
      std::copy_n(input.data(), rows * stride, in.data());
      Rows<U> apart(rows * stride, !vector);
      for (U& v : apart.memory) v = round_f64<U>(7);
      U* out = apart.data();
      if constexpr (std::is_same_v<T, U>) out = in_place ? in.data() : out;
      SoftmaxParams p{};
      p.input = in.data(), p.out = out, p.rows = rows, p.width = width, p.input_stride = p.out_stride = stride;
      p.first = temperature < 0x1p-126f ? 0x1p40f : 1.0f;
      p.inverse = 1.0f / (temperature * p.first), p.scale = static_cast<float>(std::log2(std::exp(1.0)) / (double{temperature} * p.first));
      p.flags = (logarithm ? LOGARITHM : 0) | (std::is_same_v<U, f32> ? OUT_F32 : 0) | (vector ? SOFTMAX_VECTOR : 0) |
                (calls % 3 == 0 ? SOFTMAX_STREAM : 0);
      const unsigned sets = static_cast<unsigned>((rows + l.y - 1) / l.y);
      const unsigned grid = (calls % 2 == 0 ? sets : std::max(1u, sets / 2)) * l.cluster;
      emulation::launch({grid, 1, 1}, {l.x, l.y, 1}, [&] { entries<T>[l.variant](p); }, l.cluster);
      std::vector<U> bits;
      for (int64_t r = 0; r < rows; r++) {
        double level = 0;
        for (int64_t c = 0; c < width; c++) level += std::isfinite(want[r * width + c]) ? want[r * width + c] * want[r * width + c] : 0;
        level = std::sqrt(level / static_cast<double>(width));
        for (int64_t c = 0; c < stride; c++) {
          const double got = to_f32(out[r * stride + c]);
          if (c >= width) {
            const double before = in_place ? to_f32(input.data()[r * stride + c]) : 7;
            if (got != before && !std::isnan(before)) fail(l, "a gap", r, c, got, before);
            continue;
          }
          const double v = want[r * width + c], rounded = to_f32(round_f64<U>(v));
          // Of 16 bits the rounding and a little; of 32 what a sum's exponents lose, seen beside the row.
          const int digits = std::is_same_v<U, f16> ? 11 : 8, least = std::is_same_v<U, f16> ? -14 : -126;
          const double place = std::ldexp(1.0, std::max(v == 0 ? least : std::ilogb(v), least) - digits + 1);
          const double lost = 4 + std::sqrt(static_cast<double>(width)) / 8;
          const double room = std::is_same_v<U, f32> ? 0x1p-23 * (lost * level + (1 + lost) * std::fabs(v)) + 3e-45 : 0.52 * place + 3e-45;
          const bool fine = std::isnan(rounded) ? std::isnan(got)
                            : std::isinf(rounded) || std::isinf(got) ? got == rounded
                                                 : std::fabs(got - v) <= room;
          if (!fine) fail(l, "out", r, c, got, v);
          if (std::isfinite(v) && std::isfinite(got)) {
            double& most = worst[std::is_same_v<U, f32>];
            most = std::max(most, std::fabs(got - v) / room);
          }
          bits.push_back(std::isnan(got) ? round_f64<U>(NAN) : out[r * stride + c]);
        }
      }
      if (first.empty()) first = bits;
      if (std::memcmp(first.data(), bits.data(), bits.size() * sizeof(U)) != 0) fail(l, "another entry's bits", 0, 0, 0, 0);
    }
  }

  void fail(const Launch& l, const char* what, int64_t row, int64_t column, double got, double want) {
    if (failures++ > 20) return;
    std::printf("%zu to %zu bytes, %s (%u x %u, %u): %s at %ld, %ld is %.9g, wanted %.9g; %ld rows of %ld, kind %d, temperature %g%s%s\n",
                sizeof(T), sizeof(U), NAMES[l.variant], l.x, l.y, l.cluster, what, row, column, got, want, rows, width, kind,
                temperature, logarithm ? ", logarithm" : "", in_place ? ", in place" : "");
  }
};

template <class T, class U>
void all_of() {
  for (bool logarithm : {false, true}) {
    for (Kind kind : {PLAIN, SPREAD, MASKED, ODD, EQUAL, ALONE}) {
      const float temperature = kind == PLAIN ? std::array{1.0f, 0.13f, 1.7f, 70.0f, 1e-30f}[random_bits() % 5] : 1.0f;
      for (unsigned vectors : {1u, 3u, 32u, 33u, 128u, 129u, 500u}) {
        if (vectors > 33 && (kind == SPREAD || kind == EQUAL)) continue;
        Case<T, U> one(vectors > 33 ? 3 : 7, int64_t{vectors} * VECTOR_OF<T>, true, logarithm, kind, temperature);
        const unsigned chunks = (vectors + CHUNK - 1) / CHUNK;
        std::vector<Launch> launches = {{LOOP, 64, 1, 1}, {LOOP, 160, 1, 1}};
        if (vectors <= 32) launches.push_back({W1, 32, 4, 1});
        if (vectors <= 128) launches.push_back({W4, 32, 3, 1});
        for (unsigned cluster : {1u, 2u, 4u}) {
          if (cluster > 1 && kind != PLAIN && kind != ODD) continue;
          const auto block = [&](unsigned each) { return (chunks + cluster * each - 1) / (cluster * each) * 32; };
          if (vectors > 32 && cluster <= std::bit_ceil(chunks)) {
            launches.insert(launches.end(), {{C1, block(1), 1, cluster}, {C2, block(2), 1, cluster}});
          }
        }
        one.run(launches);
      }
      for (int64_t width : {1, 2, 7, 129, 1000}) {
        Case<T, U>(7, width, false, logarithm, kind, temperature).run({{LOOP, 32, 1, 1}, {LOOP, 96, 1, 1}});
      }
    }
    if (std::is_same_v<T, bf16>) {
      // Ten chunks in every number of blocks.
      Case<T, U>(2, 1200 * VECTOR_OF<T>, true, logarithm, PLAIN, 1.0f)
          .run({{C1, 320, 1, 1}, {C1, 160, 1, 2}, {C1, 96, 1, 4}, {C1, 64, 1, 8}, {C1, 32, 1, 16}, {C2, 96, 1, 2}, {LOOP, 512, 1, 1}});
    }
    // A temperature whose reciprocal is infinite.
    Case<T, U>(4, 97, false, logarithm, PLAIN, 1e-42f).run({{LOOP, 64, 1, 1}});
  }
}

int main() {
  all_of<f32, f32>(), all_of<f16, f16>(), all_of<f16, f32>(), all_of<bf16, bf16>(), all_of<bf16, f32>();
  std::printf("furthest, of the room of 16 and 32 bits: %.3f, %.3f\n", worst[0], worst[1]);
  std::printf("%ld calls, %ld failures\n", calls, failures);
  return failures == 0 && calls > 800 ? 0 : 1;
}
