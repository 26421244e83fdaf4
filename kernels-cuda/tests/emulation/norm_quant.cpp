// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Normalization with quantization without a GPU.
//
// mode=composed is the kernel of the norm and then plain f32 divisions, bit for bit. mode=f32 is that in f32; in 16 bits its
// codes and scales are held against f64.

#include "cuda.h"

#include "../../normalization/fused_add_rms_norm.cu"
#include "../../normalization/fused_add_rms_norm_dynamic_quant.cu"
#include "../../normalization/rms_norm.cu"
#include "../../normalization/rms_norm_dynamic_quant.cu"
#include "tensor.h"

#include <limits>
#include <type_traits>

using namespace opweave;

enum Variant { W4, V1, V2, LOOP };
const char* const VARIANTS[] = {"w4", "v1", "v2", "loop"};
using Entry = void (*)(NormQuantParams);
using NormEntry = void (*)(NormParams);
#define QUANTIZED(S, D) {opweave_##S##_##D##_w4, opweave_##S##_##D##_v1, opweave_##S##_##D##_v2, opweave_##S##_##D##_loop}
template <class T>
constexpr Entry entries[2][4] = {QUANTIZED(rms_norm_dynamic_quant, f32), QUANTIZED(fused_add_rms_norm_dynamic_quant, f32)};
template <>
constexpr Entry entries<f16>[2][4] = {QUANTIZED(rms_norm_dynamic_quant, f16), QUANTIZED(fused_add_rms_norm_dynamic_quant, f16)};
template <>
constexpr Entry entries<bf16>[2][4] = {QUANTIZED(rms_norm_dynamic_quant, bf16), QUANTIZED(fused_add_rms_norm_dynamic_quant, bf16)};
template <class T>
constexpr NormEntry norms[2][4] = {QUANTIZED(rms_norm, f32), QUANTIZED(fused_add_rms_norm, f32)};
template <>
constexpr NormEntry norms<f16>[2][4] = {QUANTIZED(rms_norm, f16), QUANTIZED(fused_add_rms_norm, f16)};
template <>
constexpr NormEntry norms<bf16>[2][4] = {QUANTIZED(rms_norm, bf16), QUANTIZED(fused_add_rms_norm, bf16)};

uint8_t code(uint32_t flags, float q) {
  if (flags & CODES_F8E4M3) return code_of<f8e4m3>(q).bits;
  if (flags & CODES_F8E5M2) return code_of<f8e5m2>(q).bits;
  const float lowest = flags & LOWEST_128 ? -128 : -127;
  return code_of<i8>(q < lowest ? lowest : q).bits;
}
double number(uint32_t flags, uint8_t c) {
  return flags & CODES_F8E4M3 ? to_f32(f8e4m3{c}) : flags & CODES_F8E5M2 ? to_f32(f8e5m2{c}) : to_f32(i8{c});
}

template <class T>
struct Case {
  bool add;
  int64_t rows, width, stride;
  bool vector;
  Tensor<T> input, residual, weight;
  Tensor<float> weight_f32;
  uint32_t flags, code_flags;
  float epsilon, floor;

  Case(bool add, int64_t rows, int64_t width, bool vector)
      : add(add), rows(rows), width(width), stride(width + (vector ? 16 : 3)), vector(vector), input(rows * stride, !vector),
        residual(rows * stride, !vector), weight(width, !vector), weight_f32(width, 0) {
    input.fill(1), residual.fill(1), weight.fill(1), weight_f32.fill(1);
    const uint32_t bits = random_bits();
    const uint32_t weights[] = {0, WEIGHT_SAME, WEIGHT_F32}, formats[] = {0, CODES_F8E4M3, CODES_F8E5M2};
    flags = (vector ? VECTOR : 0u) | weights[bits % 3];
    if (bits & 16) flags |= ROUND_NORMALISED;
    if (add && bits & 32) flags |= ROUND_SUM;
    if (bits & 64) flags |= PARAMETERS_READY;
    if (bits & 128) flags |= STREAM;
    if (bits & 256) flags |= QUANTISE_UNROUNDED;
    code_flags = formats[bits / 512 % 3] | (bits & 2048 ? LOWEST_128 : 0u) | (bits & 4096 ? SCALE_POWER_OF_TWO : 0u);
    epsilon = bits & 8192 ? 1e-6f : 0.0f;
    floor = bits & 16384 ? 1e-3f : 0.0f;
  }

  void make_odd() {
    const double largest = std::is_same_v<T, f16> ? 6e4 : 1e38, least = std::is_same_v<T, f16> ? 6e-8 : 1e-38;
    const int first = static_cast<int>(random_bits() % 6);
    for (int64_t r = 0; r < rows; r++) {
      T *row = input.data() + r * stride, *other = residual.data() + r * stride;
      const auto each = [&](auto f) {
        for (int64_t i = 0; i < width; i++) row[i] = round_f64<T>(f()), other[i] = round_f64<T>(0.0);
      };
      switch ((first + r) % 6) {
        case 0: each([&] { return normal() > 0 ? largest : -largest / 2; }); break;
        case 1: each([&] { return normal() * 4 * least; }); break;
        case 2: each([] { return 0.0; }); break;
        case 3: row[width / 2] = round_f64<T>(std::numeric_limits<double>::quiet_NaN()); break;
        case 4: row[width / 3] = round_f64<T>(-std::numeric_limits<double>::infinity()); break;
        default: break;
      }
    }
  }

  bool composed() const { return !(flags & QUANTISE_UNROUNDED) || !NARROW<T>; }

  NormParams norm_params(Tensor<T>& in, Tensor<T>& res, void* out, int64_t out_stride) {
    NormParams p{};
    p.input = in.data(), p.residual = res.data(), p.out = out;
    p.weight = flags & WEIGHT_F32 ? static_cast<void*>(weight_f32.data()) : weight.data();
    p.rows = rows, p.width = width, p.groups = 1;
    p.input_stride = p.residual_stride = stride, p.out_stride = out_stride;
    p.epsilon = epsilon, p.inverse_width = 1.0f / static_cast<float>(width), p.flags = flags;
    return p;
  }

  void fail(Variant variant, unsigned x, const char* what, int64_t row, int64_t column, double got, double want) {
    if (failures++ > 20) return;
    std::printf("%d bits%s %s (%u): %s at %ld, %ld is %g, wanted %g; %ld rows of %ld, flags %x %x, epsilon %g, floor %g\n",
                static_cast<int>(sizeof(T) * 8), add ? " add" : "", VARIANTS[variant], x, what, row, column, got, want, rows,
                width, flags, code_flags, epsilon, floor);
  }

  // The norm of one row in f64, with the roundings before the last.
  std::vector<double> reference(int64_t r) {
    const auto rounded = [](double v) { return static_cast<double>(to_f32(round_f64<T>(v))); };
    std::vector<double> y(width);
    double square = 0;
    for (int64_t i = 0; i < width; i++) {
      y[i] = to_f32(input.data()[r * stride + i]);
      if (add) y[i] += to_f32(residual.data()[r * stride + i]);
      if (flags & ROUND_SUM) y[i] = rounded(y[i]);
      square += y[i] * y[i];
    }
    const double divisor = std::sqrt(square / static_cast<double>(width) + static_cast<double>(epsilon));
    for (int64_t i = 0; i < width; i++) {
      y[i] /= divisor;
      if (flags & ROUND_NORMALISED) y[i] = rounded(y[i]);
      if (flags & WEIGHT_SAME) y[i] *= to_f32(weight.data()[i]);
      if (flags & WEIGHT_F32) y[i] *= weight_f32.data()[i];
    }
    return y;
  }

  void run(Variant variant, unsigned x, unsigned y) {
    calls++;
    const auto teams = static_cast<unsigned>((rows + y - 1) / y), grid = calls % 2 == 0 ? teams : std::max(1u, teams / 2);
    Tensor<T> in = input.copy(), res = residual.copy(), norm_in = input.copy(), norm_res = residual.copy();
    Tensor<T> norm(rows * stride, !vector);
    const NormParams plain = norm_params(norm_in, norm_res, norm.data(), stride);
    emulation::launch({grid, 1, 1}, {x, y, 1}, [&] { norms<T>[add][variant](plain); });

    const int64_t out_stride = width + 24;
    std::vector<uint8_t> memory(rows * out_stride + 64, 0xa5);
    uint8_t* out = memory.data() + (16 - reinterpret_cast<uintptr_t>(memory.data()) % 16) % 16 + (vector ? 0 : 1);
    std::vector<float> scales(rows, 7.0f);
    NormQuantParams p{norm_params(in, res, out, out_stride), {scales.data(), floor, code_flags}};
    emulation::launch({grid, 1, 1}, {x, y, 1}, [&] { entries<T>[add][variant](p); });

    if (add && std::memcmp(res.data(), norm_res.data(), rows * stride * sizeof(T)) != 0) {
      // A GPU knows one NaN.
      for (int64_t i = 0; i < rows * stride; i++) {
        const float a = to_f32(res.data()[i]), b = to_f32(norm_res.data()[i]);
        if (!(a == b || (std::isnan(a) && std::isnan(b)))) return fail(variant, x, "residual", i / stride, i % stride, a, b);
      }
    }
    for (int64_t r = 0; r < rows; r++) {
      std::vector<float> v(width);
      const std::vector<double> exact = reference(r);
      uint32_t most = 0;
      for (int64_t i = 0; i < width; i++) {
        v[i] = composed() ? to_f32(norm.data()[r * stride + i]) : static_cast<float>(exact[i]);
        most = std::max(most, __float_as_uint(v[i]) & MAGNITUDE);
      }
      const float want = row_scale(p.code, most);
      const uint8_t byte = reinterpret_cast<uint8_t*>(scales.data())[r];
      const bool power = code_flags & SCALE_POWER_OF_TWO;
      const float got = !power ? scales[r] : byte == 255 ? NAN : std::ldexp(1.0f, byte - 127);
      const bool near = composed() ? got == want : std::fabs(got - want) <= (power ? want : 1e-5f * want);
      if (std::isnan(want) ? !std::isnan(got) : !near) return fail(variant, x, "scale", r, 0, got, want);
      for (int64_t c = 0; c < out_stride; c++) {
        const uint8_t have = out[r * out_stride + c];
        const uint8_t wanted = c < width ? code(code_flags, v[c] / got) : 0xa5;
        if (have == wanted) continue;
        // The neighbour, where f32 was not enough to tell.
        const double a = number(code_flags, have), b = number(code_flags, wanted);
        const double step = code_flags & CODES_F8E4M3 ? 0.13 : 0.26, room = code_flags % 4 == 0 ? 1 : std::fabs(b) * step + 2e-3;
        if (c < width && !composed() && std::fabs(a - b) <= room && near_tie(a, b, static_cast<double>(v[c] / got))) continue;
        return fail(variant, x, c < width ? "a code" : "a gap", r, c, have, wanted);
      }
    }
  }

  // Whether a quotient lies in the middle between two neighbours.
  static bool near_tie(double a, double b, double q) { return std::fabs(std::fabs(q - a) - std::fabs(q - b)) <= 2e-5 * std::fabs(q); }
};

template <class T>
void all() {
  for (int round = 0; round < 6; round++) {
    for (bool add : {false, true}) {
      for (unsigned vectors : {1u, 20u, 33u, 128u, 300u}) {
        Case<T> one(add, 7, int64_t{vectors} * VECTOR_OF<T>, true);
        if (round % 2 == 1) one.make_odd();
        if (vectors <= 128) one.run(W4, 32, 2);
        one.run(V1, warps(vectors), 1), one.run(V2, warps((vectors + 1) / 2) + 32, 1), one.run(LOOP, 64, 1);
      }
      for (int64_t width : {1, 7, 769}) {
        Case<T> one(add, 5, width, false);
        if (round % 2 == 1) one.make_odd();
        one.run(LOOP, 64, 1);
      }
    }
  }
}

int main() {
  all<f32>(), all<f16>(), all<bf16>();
  std::printf("norm and quantization: %ld calls, %ld failures\n", calls, failures);
  return failures == 0 && calls > 700 ? 0 : 1;
}
