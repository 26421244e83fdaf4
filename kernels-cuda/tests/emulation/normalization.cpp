// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The normalization kernels without a GPU, against their definitions in f64.
//
// For each operation, dtype and width, every entry that can take the row, in several blocks and grids: values, the gaps between
// rows, in place or apart, rows that f32 cannot do; and entries that keep rows in registers must agree in every bit.
// Timing, memory order between threads and what the hardware approximates are not seen here.

#include "cuda.h"

#include "../../normalization/fused_add_rms_norm.cu"
#include "../../normalization/l2_norm.cu"
#include "../../normalization/layer_norm.cu"
#include "../../normalization/rms_norm.cu"
#include "../../normalization/rms_norm_gated.cu"

#include "tensor.h"

#include <limits>
#include <string>
#include <type_traits>

using namespace opweave;

enum Op { RMS, L2, ADD, GATED, LAYER };
enum Variant { W1, W2, W4, V1, V2, V4, LOOP };
using Entry = void (*)(NormParams);
#define ENTRIES(S, D)                                                                                         \
  {opweave_##S##_##D##_w1, opweave_##S##_##D##_w2, opweave_##S##_##D##_w4,  opweave_##S##_##D##_v1, \
   opweave_##S##_##D##_v2, opweave_##S##_##D##_v4, opweave_##S##_##D##_loop}
#define OPERATIONS(D) \
  {ENTRIES(rms_norm, D), ENTRIES(l2_norm, D), ENTRIES(fused_add_rms_norm, D), ENTRIES(rms_norm_gated, D), ENTRIES(layer_norm, D)}
template <class T>
constexpr Entry entries[5][7] = OPERATIONS(f32);
template <>
constexpr Entry entries<f16>[5][7] = OPERATIONS(f16);
template <>
constexpr Entry entries<bf16>[5][7] = OPERATIONS(bf16);
const char* const OPS[] = {"rms_norm", "l2_norm", "fused_add_rms_norm", "rms_norm_gated", "layer_norm"};
const char* const VARIANTS[] = {"w1", "w2", "w4", "v1", "v2", "v4", "loop"};

struct Launch {
  Variant variant;
  unsigned x, y;
};

template <class T>
struct Case {
  Op op;
  int64_t rows, width, groups, stride;
  uint32_t flags;
  float epsilon;
  bool vector, in_place;
  Tensor<T> input, gate, residual, weight, bias;
  Tensor<float> weight_f32, bias_f32;

  Case(Op op, int64_t rows, int64_t width, int64_t groups, bool vector)
      : op(op), rows(rows), width(width), groups(groups), stride(vector ? all() + 16 : all() + 3), vector(vector),
        input(rows * stride, !vector), gate(rows * stride, !vector), residual(rows * stride, !vector), weight(all(), !vector),
        bias(all(), !vector), weight_f32(all(), 0), bias_f32(all(), 0) {
    input.fill(1), gate.fill(3), residual.fill(1), weight.fill(1), bias.fill(1), weight_f32.fill(1), bias_f32.fill(1);
    const auto bits = random_bits();
    const auto bit = [&](int n) { return (bits >> n & 1) != 0; };
    flags = vector ? VECTOR : 0;
    const uint32_t weights[] = {0, WEIGHT_SAME, WEIGHT_F32}, biases[] = {0, BIAS_SAME, BIAS_F32};
    if (op != L2) flags |= weights[bits % 3];
    if (op == LAYER) flags |= biases[bits / 3 % 3];
    if (op != L2 && op != LAYER && bit(8)) flags |= ROUND_NORMALISED;
    if ((op == RMS || op == ADD) && bit(9) && bits % 3 != 0) flags |= WEIGHT_PLUS_ONE;
    if (op == ADD && bit(10)) flags |= ROUND_SUM;
    if (op == L2 && bit(10)) flags |= MAX_NORM_EPS;
    if (op == GATED && bit(10)) flags |= GATE_SIGMOID;
    if (op == GATED && bit(11)) flags |= GATE_THEN_NORM;
    if (bit(12)) flags |= PARAMETERS_READY;
    if (bit(13)) flags |= STREAM;
    in_place = bit(14);
    epsilon = bit(15) ? 1e-6f : 0.0f;
  }

  int64_t all() const { return width * groups; }

  // Rows that f32 cannot do, or only just.
  void make_odd() {
    const double largest = std::is_same_v<T, f16> ? 6e4 : 1e38, least = std::is_same_v<T, f16> ? 6e-8 : 1e-38;
    const int first = static_cast<int>(random_bits() % 8);
    for (int64_t r = 0; r < rows; r++) {
      T* row = input.data() + r * stride;
      const auto each = [&](auto f) {
        for (int64_t i = 0; i < all(); i++) row[i] = round_f64<T>(f(i));
      };
      switch ((first + r) % 8) {
        case 0: each([&](int64_t) { return normal() > 0 ? largest : -largest / 2; }); break;
        case 1: each([&](int64_t) { return normal() * 4 * least; }); break;
        case 2: each([](int64_t) { return 0.0; }); break;
        case 3: row[all() / 2] = round_f64<T>(std::numeric_limits<double>::quiet_NaN()); break;
        case 4: row[all() / 3] = round_f64<T>(std::numeric_limits<double>::infinity()); break;
        case 5: each([](int64_t i) { return NARROW<T> ? 3.0 : 10000.0 + static_cast<double>(i % 4); }); break;
        case 6: each([&](int64_t i) { return i < all() / 2 ? 1000.0 : normal(); }); break;
        default: break;
      }
    }
  }

  double rounded(double v) const { return to_f32(round_f64<T>(v)); }
  double gate_of(int64_t at) {
    const double z = to_f32(gate.data()[at]);
    return (flags & GATE_SIGMOID ? 1.0 : z) / (1.0 + std::exp(-z));
  }

  // The definition. `sums` is what a fused addition leaves in the residual.
  void reference(std::vector<double>& out, std::vector<double>& sums) {
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t c0 = 0; c0 < all(); c0 += width) {
        std::vector<double> v(width);
        double mean = 0, square = 0;
        for (int64_t i = 0; i < width; i++) {
          const int64_t at = r * stride + c0 + i;
          v[i] = to_f32(input.data()[at]);
          if (op == ADD) {
            v[i] += to_f32(residual.data()[at]);
            sums[r * all() + c0 + i] = rounded(v[i]);
            if (flags & ROUND_SUM) v[i] = rounded(v[i]);
          }
          if (flags & GATE_THEN_NORM) v[i] *= gate_of(at);
          if (op == LAYER) mean += v[i];
        }
        mean /= static_cast<double>(width);
        for (double x : v) square += (x - mean) * (x - mean);
        const double eps = epsilon, root = std::sqrt(square);
        const double divisor = op != L2               ? std::sqrt(square / static_cast<double>(width) + eps)
                               : flags & MAX_NORM_EPS ? (root < eps ? eps : root)
                                                      : std::sqrt(square + eps);
        for (int64_t i = 0; i < width; i++) {
          const int64_t c = c0 + i;
          double y = (v[i] - mean) / divisor;
          if (flags & ROUND_NORMALISED) y = rounded(y);
          const double plus = flags & WEIGHT_PLUS_ONE ? 1.0 : 0.0;
          if (flags & WEIGHT_SAME) y *= plus + to_f32(weight.data()[c]);
          if (flags & WEIGHT_F32) y *= plus + weight_f32.data()[c];
          if (flags & BIAS_SAME) y += to_f32(bias.data()[c]);
          if (flags & BIAS_F32) y += bias_f32.data()[c];
          if (op == GATED && !(flags & GATE_THEN_NORM)) {
            if (flags & ROUND_NORMALISED) y = rounded(y);
            y *= gate_of(r * stride + c);
          }
          out[r * all() + c] = rounded(y);
        }
      }
    }
  }

  bool close(double got, double want) const {
    if (std::isnan(want)) return std::isnan(got);
    if (std::isinf(want)) return got == want;
    // An ulp after one rounding, four after three; a few of f32's own. Small numbers, and sums with a bias, by their size.
    const double ulp = !NARROW<T> ? 7e-7 : std::is_same_v<T, bf16> ? 0x1p-7 : 0x1p-10;
    const double times = NARROW<T> ? (flags & ROUND_NORMALISED ? 4.0 : 1.01) : 1.0;
    double room = std::is_same_v<T, f16> ? 2.4e-7 : 1e-37;
    if (op == LAYER) room += NARROW<T> ? 4e-6 : 1.3e-5;
    return std::fabs(got - want) <= std::fabs(want) * (ulp * times + (op == LAYER ? 1e-5 : 0.0)) + room;
  }

  void fail(const Launch& l, const char* what, int64_t row, int64_t column, double got, double want) {
    if (failures++ > 20) return;
    std::printf("%s %d bits %s (%u x %u): %s at %ld, %ld is %g, wanted %g; %ld rows of %ld x %ld, flags %x, epsilon %g%s\n",
                OPS[op], static_cast<int>(sizeof(T) * 8), VARIANTS[l.variant], l.x, l.y, what, row, column, got, want, rows,
                groups, width, flags, epsilon, in_place ? ", in place" : "");
  }

  void compare(const Launch& l, const char* what, T* got, const std::vector<double>& want, T* before) {
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t c = 0; c < stride; c++) {
        T& v = got[r * stride + c];
        if (c < all() && !close(to_f32(v), want[r * all() + c])) return fail(l, what, r, c, to_f32(v), want[r * all() + c]);
        if (c >= all() && std::memcmp(&v, &before[r * stride + c], sizeof v) != 0) return fail(l, "a gap", r, c, to_f32(v), 0);
      }
    }
  }

  void run(const std::vector<Launch>& launches) {
    std::vector<double> want(rows * all()), sums(rows * all());
    reference(want, sums);
    std::vector<T> first;
    for (const Launch& l : launches) {
      calls++;
      Tensor<T> in = input.copy(), res = residual.copy(), apart(rows * stride, !vector);
      apart.fill(7);
      Tensor<T> untouched = apart.copy();
      T* const out = in_place ? in.data() : apart.data();
      NormParams p{};
      p.input = in.data(), p.gate = gate.data(), p.residual = res.data(), p.out = out;
      p.weight = flags & WEIGHT_F32 ? static_cast<void*>(weight_f32.data()) : weight.data();
      p.bias = flags & BIAS_F32 ? static_cast<void*>(bias_f32.data()) : bias.data();
      p.rows = rows, p.width = width, p.groups = groups;
      p.input_stride = p.gate_stride = p.residual_stride = p.out_stride = stride;
      p.epsilon = epsilon, p.inverse_width = 1.0f / static_cast<float>(width), p.flags = flags;
      const auto teams = static_cast<unsigned>((rows * groups + l.y - 1) / l.y);
      const unsigned grid = calls % 2 == 0 ? teams : std::max(1u, teams / 2);
      emulation::launch({grid, 1, 1}, {l.x, l.y, 1}, [&] { entries<T>[op][l.variant](p); });
      compare(l, "out", out, want, in_place ? input.data() : untouched.data());
      if (op == ADD) compare(l, "residual", res.data(), sums, residual.data());
      std::vector<T> bits;
      for (int64_t r = 0; r < rows; r++) bits.insert(bits.end(), out + r * stride, out + r * stride + all());
      // A GPU knows one NaN, a processor many.
      for (T& v : bits) {
        if (std::isnan(to_f32(v))) v = round_f64<T>(std::numeric_limits<double>::quiet_NaN());
      }
      if (l.variant == LOOP) continue;
      if (first.empty()) first = bits;
      if (std::memcmp(first.data(), bits.data(), bits.size() * sizeof(T)) != 0) fail(l, "another entry's bits", 0, 0, 0, 0);
    }
  }
};

template <class T>
void all_of(Op op) {
  for (unsigned vectors : {1u, 3u, 16u, 20u, 32u, 33u, 64u, 128u, 200u, 500u}) {
    for (bool odd : {false, true}) {
      Case<T> one(op, odd ? 9 : 5, int64_t{vectors} * VECTOR_OF<T>, op == GATED ? 1 + random_bits() % 3 : 1, true);
      if (odd) one.make_odd();
      std::vector<Launch> launches;
      const unsigned lanes = std::bit_ceil(std::min(vectors, 32u));
      if (vectors <= 32) launches.insert(launches.end(), {{W1, lanes, 32 / lanes}, {W1, lanes, 96 / lanes}});
      if (vectors <= 64) launches.push_back({W2, 32, 3});
      if (vectors <= 128) launches.push_back({W4, 32, 2});
      launches.insert(launches.end(), {{V1, warps(vectors), 1}, {V1, warps(vectors) + 64, 1}, {V2, warps((vectors + 1) / 2), 1}});
      launches.insert(launches.end(), {{V4, warps((vectors + 3) / 4), 1}, {LOOP, 64, 1}});
      one.run(launches);
    }
  }
  for (int64_t width : {1, 3, 7, 100, 769, 1025}) {
    for (bool odd : {false, true}) {
      Case<T> one(op, odd ? 9 : 4, width, op == GATED ? 2 : 1, false);
      if (odd) one.make_odd();
      one.run({{LOOP, 32, 1}, {LOOP, 256, 1}});
    }
  }
}

int main() {
  for (Op op : {RMS, L2, ADD, GATED, LAYER}) {
    all_of<f32>(op), all_of<f16>(op), all_of<bf16>(op);
  }
  std::printf("%ld calls, %ld failures\n", calls, failures);
  return failures == 0 && calls > 1000 ? 0 : 1;
}
