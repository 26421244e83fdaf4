// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The quantization kernels without a GPU: codes and scales are exact, so every bit is compared with plain f32 divisions.

#include "cuda.h"

#include "../../quantization/dynamic_quant.cu"
#include "../../quantization/quantize_per_tensor.cu"
#include "tensor.h"

#include <limits>

using namespace opweave;

using Entry = void (*)(QuantParams);
enum Variant { W1, W4, V1, V2, V4, LOOP, T1, T4 };
const char* const VARIANTS[] = {"w1", "w4", "v1", "v2", "v4", "loop", "t1", "t4"};
#define ENTRIES(D)                                                                                             \
  {opweave_dynamic_quant_##D##_w1, opweave_dynamic_quant_##D##_w4, opweave_dynamic_quant_##D##_v1,           \
   opweave_dynamic_quant_##D##_v2, opweave_dynamic_quant_##D##_v4, opweave_dynamic_quant_##D##_loop,         \
   opweave_quantize_per_tensor_##D##_t1, opweave_quantize_per_tensor_##D##_t4}
template <class T>
constexpr Entry entries[8] = ENTRIES(f32);
template <>
constexpr Entry entries<f16>[8] = ENTRIES(f16);
template <>
constexpr Entry entries<bf16>[8] = ENTRIES(bf16);

const uint32_t FORMATS[] = {0, CODES_F8E4M3, CODES_F8E5M2};

// One code by the definition: a quotient rounded to f32, then to the code.
uint8_t code(uint32_t flags, float v, float scale, const int32_t* zero_point) {
  float q = v / scale;
  if (flags & CODES_F8E4M3) return code_of<f8e4m3>(q).bits;
  if (flags & CODES_F8E5M2) return code_of<f8e5m2>(q).bits;
  if (zero_point != nullptr) q = std::nearbyint(q) + static_cast<float>(*zero_point);
  const float lowest = flags & LOWEST_128 ? -128 : -127;
  return code_of<i8>(q < lowest ? lowest : q).bits;
}

// Quotients by products against quotients by division, in their codes: next to ties above all.
void check_quotients() {
  for (int i = 0; i < 3000000; i++) {
    calls++;
    const uint32_t flags = FORMATS[i % 3];
    // Every scale that there is, subnormal ones and powers of two too.
    uint32_t bits = 1 + random_bits() % (INFINITE - 1);
    if (i % 11 == 0) bits = random_bits() % (1u << 24) + 1;
    if (i % 13 == 0) bits &= INFINITE, bits |= bits == 0;
    const float scale = __uint_as_float(bits), largest = largest_code(flags);
    float ratio = static_cast<float>(random_bits()) * 0x1p-32f * largest;
    if (i % 2 == 0) {
      // A number between two codes of the kind that is wanted, or near it.
      ratio = flags == 0 ? std::floor(ratio) + 0.5f : __uint_as_float((__float_as_uint(ratio) & ~0x7ffffu) | 0x80000u);
    }
    if (i % 7 == 0) ratio *= 0x1p-20f;
    float v = ratio * scale;
    for (int step = static_cast<int>(random_bits() % 5) - 2; step != 0; step += step < 0 ? 1 : -1) {
      v = std::nextafterf(v, step < 0 ? 0 : std::numeric_limits<float>::infinity());
    }
    if (i % 4 == 0) v = -v;
    if (i % 101 == 0) v = -0.0f;
    if (!(std::fabs(v) <= std::numeric_limits<float>::max())) continue;
    float q[1] = {v};
    Quotients{scale}(q);
    const uint8_t want = code(flags, v, scale, nullptr), got = code(flags, q[0], 1, nullptr);
    if (want != got && failures++ < 20) std::printf("%a / %a is %a, not %a; flags %x\n", v, scale, q[0], v / scale, flags);
  }
}

template <class T>
struct Case {
  int64_t rows, width, stride;
  bool vector, fixed;
  Tensor<T> input;
  uint32_t flags, quant_flags;
  float floor = 0, scale = 0;
  int32_t zero_point = 0;
  bool has_zero_point = false;

  Case(int64_t rows, int64_t width, bool vector, bool fixed, bool gaps = true)
      : rows(rows), width(width), stride(width + (gaps ? vector ? 16 : 3 : 0)), vector(vector), fixed(fixed),
        input(rows * stride, !vector) {
    input.fill(2);
    const uint32_t bits = random_bits();
    flags = FORMATS[bits % 3] | (bits & 16 ? LOWEST_128 : 0u) | (!fixed && bits & 32 ? SCALE_POWER_OF_TWO : 0u);
    quant_flags = (vector ? QUANT_VECTOR : 0u) | (bits & 64 ? QUANT_STREAM : 0u);
    if (bits & 128) floor = 0.01f;
    if (!fixed) return;
    const float scales[] = {0.01f, 1, 1e-44f, 3e38f, 0, -1, std::numeric_limits<float>::infinity()};
    scale = scales[bits / 256 % 7];
    has_zero_point = flags % 4 == 0 && bits & 4096;
    zero_point = static_cast<int>(bits / 8192 % 262) - 131;
  }

  void make_odd() {
    const double largest = std::is_same_v<T, f16> ? 6e4 : 3e38, least = std::is_same_v<T, f16> ? 6e-8 : 1e-44;
    const int first = static_cast<int>(random_bits() % 8);
    for (int64_t r = 0; r < rows; r++) {
      T* row = input.data() + r * stride;
      const auto each = [&](auto f) {
        for (int64_t i = 0; i < width; i++) row[i] = round_f64<T>(f(i));
      };
      switch ((first + r) % 8) {
        case 0: each([&](int64_t) { return normal() > 0 ? largest : -largest / 3; }); break;
        case 1: each([&](int64_t) { return normal() * 4 * least; }); break;
        case 2: each([](int64_t i) { return i % 2 == 0 ? 0.0 : -0.0; }); break;
        case 3: row[width / 2] = round_f64<T>(-std::numeric_limits<double>::quiet_NaN()); break;
        case 4: row[width / 3] = round_f64<T>(-std::numeric_limits<double>::infinity()); break;
        case 5: each([](int64_t i) { return static_cast<double>(i % 255) - 127.0; }); break;
        case 6: each([&](int64_t i) { return i == width - 1 ? largest : normal(); }); break;
        default: break;
      }
    }
  }

  // The scale of a row, in the way of the contract.
  float scale_of(const T* row) const {
    float most = 0;
    for (int64_t i = 0; i < width; i++) {
      const float v = std::fabs(to_f32(row[i]));
      if (!(v <= std::numeric_limits<float>::max())) return std::numeric_limits<float>::quiet_NaN();
      most = std::max(most, v);
    }
    float scale = most / largest_code(flags);
    if (floor > 0) scale = std::max(scale, floor);
    else if (most == 0) scale = 1;
    else scale = std::max(scale, 0x1p-149f);
    if (flags & SCALE_POWER_OF_TWO) {
      double power = 0x1p-127;
      while (power < static_cast<double>(scale)) power *= 2;
      scale = static_cast<float>(power);
    }
    return scale;
  }

  void fail(Variant variant, unsigned x, unsigned y, const char* what, int64_t row, int64_t column, double got, double want) {
    if (failures++ > 20) return;
    std::printf("%d bits %s (%u x %u): %s at %ld, %ld is %g, wanted %g; %ld rows of %ld, flags %x %x, floor %g, scale %g, zero %d\n",
                static_cast<int>(sizeof(T) * 8), VARIANTS[variant], x, y, what, row, column, got, want, rows, width, flags,
                quant_flags, floor, scale, has_zero_point ? zero_point : 0);
  }

  void run(Variant variant, unsigned x, unsigned y) {
    calls++;
    const int64_t out_stride = stride + (rows == 1 ? 0 : 8);
    std::vector<uint8_t> memory(rows * out_stride + 64, 0xa5), before = memory;
    uint8_t* out = memory.data() + (16 - reinterpret_cast<uintptr_t>(memory.data()) % 16) % 16 + (vector ? 0 : 1);
    std::vector<float> scales(rows + 1, 7.0f);
    FaultBuffer faults{};
    QuantParams p{};
    p.input = input.data(), p.out = out, p.faults = random_bits() % 4 == 0 ? nullptr : &faults;
    p.zero_point = has_zero_point ? &zero_point : nullptr;
    p.rows = rows, p.width = width, p.input_stride = stride, p.out_stride = out_stride;
    p.code = {fixed ? static_cast<void*>(&scale) : scales.data(), floor, flags};
    p.operation = 77, p.flags = quant_flags;
    auto grid = static_cast<unsigned>((rows + y - 1) / y);
    if (fixed) {
      const int64_t elements = vector ? VECTOR_OF<T> : 1, tile = x * (variant == T4 ? 4 : 1);
      grid = static_cast<unsigned>(rows * (((width + elements - 1) / elements + tile - 1) / tile));
    } else if (calls % 2 == 0) {
      grid = std::max(1u, grid / 2);
    }
    emulation::launch({grid, 1, 1}, {x, y, 1}, [&] { entries<T>[variant](p); });
    const bool bad_scale = fixed && !(scale > 0 && scale <= std::numeric_limits<float>::max());
    const bool bad_zero_point = has_zero_point && (zero_point < -128 || zero_point > 127);
    const bool bad = bad_scale || bad_zero_point;
    const bool raised = faults.state == FAULT_FULL;
    if (raised != (bad && p.faults != nullptr)) fail(variant, x, y, "a fault", 0, 0, raised, bad);
    if (raised && faults.code != (77ull << 32 | (bad_scale ? 0 : 1))) fail(variant, x, y, "the fault", 0, 0, 0, 0);
    for (int64_t r = 0; r < rows; r++) {
      const T* row = input.data() + r * stride;
      float s = bad ? std::numeric_limits<float>::quiet_NaN() : scale;
      if (!fixed) {
        s = scale_of(row);
        if (flags & SCALE_POWER_OF_TWO) {
          const uint8_t got = reinterpret_cast<uint8_t*>(scales.data())[r];
          const double value = got == 255 ? NAN : std::ldexp(1.0, got - 127);
          if (std::isnan(s) ? got != 255 : value != static_cast<double>(s)) fail(variant, x, y, "scale", r, 0, value, s);
        } else if (std::isnan(s) ? !std::isnan(scales[r]) : scales[r] != s) {
          fail(variant, x, y, "scale", r, 0, scales[r], s);
        }
      }
      for (int64_t c = 0; c < out_stride; c++) {
        const uint8_t got = out[r * out_stride + c];
        const uint8_t want = c < width ? code(flags, to_f32(row[c]), s, has_zero_point ? &zero_point : nullptr) : 0xa5;
        if (got != want) {
          fail(variant, x, y, c < width ? "a code" : "a gap", r, c, got, want);
          break;
        }
      }
    }
    if (!fixed && !(flags & SCALE_POWER_OF_TWO) && scales[rows] != 7.0f) fail(variant, x, y, "behind the scales", 0, 0, 0, 0);
  }
};

template <class T>
void all() {
  for (int round = 0; round < 3; round++) {
    for (bool odd : {false, true}) {
      for (unsigned vectors : {1u, 3u, 20u, 32u, 33u, 128u, 200u, 500u}) {
        Case<T> one(odd ? 9 : 5, int64_t{vectors} * VECTOR_OF<T>, true, false);
        if (odd) one.make_odd();
        const unsigned lanes = std::bit_ceil(std::min(vectors, 32u));
        if (vectors <= 32) one.run(W1, lanes, (round % 2 == 0 ? 32 : 96) / lanes);
        if (vectors <= 128) one.run(W4, 32, 3);
        one.run(V1, warps(vectors) + 32 * (round % 2), 1);
        one.run(V2, warps((vectors + 1) / 2), 1), one.run(V4, warps((vectors + 3) / 4), 1), one.run(LOOP, 64, 1);
        Case<T> fixed(odd ? 9 : 5, int64_t{vectors} * VECTOR_OF<T>, true, true);
        if (odd) fixed.make_odd();
        fixed.run(T1, 64, 1), fixed.run(T4, 32, 1);
      }
      for (int64_t width : {1, 3, 100, 769, 1025}) {
        Case<T> one(odd ? 9 : 4, width, false, false), fixed(odd ? 9 : 4, width, false, true), flat(1, width, true, true, false);
        if (odd) one.make_odd(), fixed.make_odd(), flat.make_odd();
        one.run(LOOP, 32, 1), one.run(LOOP, 256, 1);
        fixed.run(T1, 64, 1), fixed.run(T4, 32, 1), flat.run(T1, 32, 1), flat.run(T4, 64, 1);
      }
    }
  }
}

int main() {
  check_quotients();
  all<f32>(), all<f16>(), all<bf16>();
  std::printf("quantization: %ld calls, %ld failures\n", calls, failures);
  return failures == 0 && calls > 3001000 ? 0 : 1;
}
