// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Every kernel on several cores at once against its definition in f64: odd widths, tiles narrower than a row, strides, gaps that
// must stay, every mode. The numerics suites ask more of them, through the device; this says at once which kernel is wrong.

#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "ascendc/launch.h"
#include "kernel_operator.h"

#include "../../activation/silu_and_mul.cpp"
#include "../../normalization/fused_add_rms_norm.cpp"
#include "../../normalization/rms_norm.cpp"
#include "../../quantization/dynamic_quant.cpp"
#include "../../rotary/rotary_embedding.cpp"

namespace {

int failures = 0;
int cases = 0;
std::string now;

void expect(bool good, const std::string& what) {
  if (good || ++failures > 20) return;
  std::printf("FAILED %s: %s\n", now.c_str(), what.c_str());
}

template <typename F>
void on_cores(uint32_t blocks, F kernel) {
  ++cases;
  std::vector<std::thread> threads;
  std::vector<std::string> said(blocks);
  emulation::Launch launch;
  for (uint32_t block = 0; block < blocks; ++block)
    threads.emplace_back([&, block] { said[block] = emulation::run("kernel", block, blocks, nullptr, kernel, &launch); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& wrong : said) expect(wrong.empty(), wrong);
}

uint32_t state = 1;
double uniform() {
  state = state * 1664525u + 1013904223u;
  return static_cast<double>(state >> 8) / (1 << 23) - 1.0;
}

template <typename T>
double rounded(double value) {
  return static_cast<double>(static_cast<float>(T(static_cast<float>(value))));
}

// Rows with a gap behind each and one element before the first, so that nothing is aligned.
template <typename T>
struct Rows {
  int64_t width, stride;
  std::vector<T> data;
  Rows(int64_t rows, int64_t width, int64_t gap) : width(width), stride(width + gap), data(static_cast<size_t>(rows * stride + 1)) {
    for (T& each : data) each = T(static_cast<float>(uniform() * 3));
  }
  T* first() { return data.data() + 1; }
  double at(int64_t row, int64_t column) const { return static_cast<float>(data[static_cast<size_t>(1 + row * stride + column)]); }
  // Gaps as they were in `before`.
  void gaps(const Rows& before) const {
    for (size_t i = 0; i < data.size(); ++i) {
      const int64_t column = (static_cast<int64_t>(i) - 1) % stride;
      if (i == 0 || column >= width)
        expect(std::memcmp(&data[i], &before.data[i], sizeof(T)) == 0, "the gap at " + std::to_string(i) + " was written");
    }
  }
};

template <typename T>
uint8_t* address(T* pointer) {
  return reinterpret_cast<uint8_t*>(pointer);
}

template <typename T>
void close(double actual, double expected, double scale, const std::string& where) {
  const double eps = sizeof(T) == 4 ? 2e-6 : std::is_same_v<T, half> ? 1.0 / 512 : 1.0 / 64;
  // Places below the normal range.
  const double least = std::is_same_v<T, half> ? 6e-8 : std::is_same_v<T, bfloat16_t> ? 1e-40 : 3e-45;
  expect(std::fabs(actual - expected) <= eps * std::fabs(expected) + eps * scale + least || (actual != actual && expected != expected),
         where + ": " + std::to_string(actual) + ", wanted " + std::to_string(expected));
}

template <typename T, typename K>
void norm(K kernel, int64_t rows, int64_t width, uint32_t tile, float scale, uint32_t flags) {
  Rows<T> input(rows, width, 3), out(rows, width, 2);
  for (T& each : input.data) each = T(static_cast<float>(each) * scale);
  std::vector<T> weight(static_cast<size_t>(width));
  for (T& each : weight) each = T(static_cast<float>(1 + uniform() / 4));
  const Rows<T> before = out;
  const opweave::NormTiling tiling{rows, width, input.stride, 0, out.stride, tile, 0.0f, static_cast<float>(1.0 / width), flags};
  on_cores(3, [&] { kernel(address(input.first()), address(weight.data()), address(out.first()), tiling); });
  out.gaps(before);
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += input.at(row, i) * input.at(row, i);
    for (int64_t i = 0; i < width; ++i) {
      double y = input.at(row, i) / std::sqrt(sum / width);
      if ((flags & opweave::NORM_ROUND_NORMALISED) != 0) y = rounded<T>(y);
      if ((flags & opweave::NORM_WEIGHT_SAME) != 0) y *= static_cast<float>(weight[static_cast<size_t>(i)]);
      close<T>(out.at(row, i), y, 1, "row " + std::to_string(row) + " column " + std::to_string(i));
    }
  }
}

// Elements of every exponent and weights of every exponent: each result comes out, however small the normalised value is on the way.
template <typename T, typename K>
void steep(K kernel, int64_t width, uint32_t tile, uint32_t flags) {
  Rows<T> input(1, width, 0), out(1, width, 0);
  std::vector<T> weight(static_cast<size_t>(width));
  for (int64_t i = 0; i < width; ++i) {
    const float mantissa = static_cast<float>(1.5 + uniform() / 2);
    input.first()[i] = T(std::ldexp(i % 2 == 0 ? mantissa : -mantissa, static_cast<int>(i % 254) - 126));
    weight[static_cast<size_t>(i)] = T(std::ldexp(1.0f, static_cast<int>((i * 31 + 7) % 254) - 126));
  }
  const opweave::NormTiling tiling{1, width, width, 0, width, tile, 0.0f, static_cast<float>(1.0 / static_cast<double>(width)),
                                   opweave::NORM_WEIGHT_SAME | flags};
  on_cores(1, [&] { kernel(address(input.first()), address(weight.data()), address(out.first()), tiling); });
  double sum = 0;
  for (int64_t i = 0; i < width; ++i) sum += input.at(0, i) * input.at(0, i);
  for (int64_t i = 0; i < width; ++i) {
    const double factor = static_cast<float>(weight[static_cast<size_t>(i)]);
    double y = input.at(0, i) / std::sqrt(sum / static_cast<double>(width));
    // Rounded below the normal range, where the last place of the root decides about one place of the result and no more.
    const bool each = (flags & opweave::NORM_ROUND_NORMALISED) != 0;
    const double place = each ? std::ldexp(factor, -149) : 0;
    y = (each ? rounded<T>(y) : y) * factor;
    const double least = std::ldexp(1.0, -126);
    const double eps = sizeof(T) == 4 ? 1e-6 : 1.0 / 64;
    const double actual = out.at(0, i);
    const bool beyond = std::isinf(actual) && std::fabs(y) > 3.4e38;
    expect(beyond || std::fabs(actual - y) <= eps * (std::fabs(y) + least) + place,
           "column " + std::to_string(i) + ": " + std::to_string(actual) + ", wanted " + std::to_string(y));
  }
}

template <typename T, typename K>
void added(K kernel, int64_t rows, int64_t width, uint32_t tile, uint32_t flags) {
  Rows<T> input(rows, width, 3), residual(rows, width, 5);
  const Rows<T> x = input, r = residual;
  std::vector<float> weight(static_cast<size_t>(width), 0.75f);
  const opweave::NormTiling tiling{rows, width, input.stride, residual.stride, input.stride, tile, 0.5f,
                                   static_cast<float>(1.0 / width), flags | opweave::NORM_WEIGHT_F32};
  // In place of the input.
  on_cores(2, [&] {
    kernel(address(input.first()), address(residual.first()), address(weight.data()), address(input.first()), tiling);
  });
  input.gaps(x);
  residual.gaps(r);
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<double> sum(static_cast<size_t>(width));
    double squares = 0;
    for (int64_t i = 0; i < width; ++i) {
      double& each = sum[static_cast<size_t>(i)];
      each = static_cast<float>(x.at(row, i)) + static_cast<float>(r.at(row, i));
      expect(residual.at(row, i) == rounded<T>(each), "the sum in row " + std::to_string(row));
      if ((flags & opweave::NORM_ROUND_SUM) != 0) each = rounded<T>(each);
      squares += each * each;
    }
    for (int64_t i = 0; i < width; ++i)
      close<T>(input.at(row, i), sum[static_cast<size_t>(i)] / std::sqrt(squares / width + 0.5) * 0.75, 1,
               "row " + std::to_string(row) + " column " + std::to_string(i));
  }
}

template <typename T, typename K>
void silu(K kernel, int64_t rows, int64_t width, uint32_t tile, float scale) {
  Rows<T> gate(rows, width, 1), up(rows, width, 4), out(rows, width, 3);
  for (T& each : gate.data) each = T(static_cast<float>(each) * scale);
  const Rows<T> before = out;
  const opweave::ActivationTiling tiling{rows, width, gate.stride, up.stride, out.stride, tile, 0};
  on_cores(4, [&] { kernel(address(gate.first()), address(up.first()), address(out.first()), tiling); });
  out.gaps(before);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < width; ++i) {
      const double x = gate.at(row, i);
      close<T>(out.at(row, i), x / (1 + std::exp(-x)) * up.at(row, i), 0, "row " + std::to_string(row));
    }
}

template <typename T, typename K>
void quantise(K kernel, int64_t rows, int64_t width, uint32_t tile, float scale, uint32_t flags) {
  Rows<T> input(rows, width, 3);
  for (T& each : input.data) each = T(static_cast<float>(each) * scale);
  // Numbers next to ties: halves of the scale of a row whose largest is 127 times as much.
  const float unit = static_cast<float>(T(scale * 1.0078125f));
  for (int64_t i = 0; i < width; ++i) {
    const float tie = static_cast<float>(i % 127) + 0.5f, product = unit * tie;
    input.first()[i] = T(i % 3 == 0 ? product : std::nextafter(product, i % 3 == 1 ? 0.0f : 2 * product));
  }
  input.first()[width - 1] = T(unit * 127);
  std::vector<int8_t> out(static_cast<size_t>(rows * width));
  std::vector<float> scales(static_cast<size_t>(rows));
  const opweave::QuantTiling tiling{rows, width, input.stride, width, tile, 0.0f, flags, 0};
  on_cores(3, [&] { kernel(address(input.first()), address(out.data()), address(scales.data()), tiling); });
  for (int64_t row = 0; row < rows; ++row) {
    float largest = 0;
    for (int64_t i = 0; i < width; ++i) largest = std::fmax(largest, std::fabs(static_cast<float>(input.at(row, i))));
    float wanted = largest / 127.0f;
    if (wanted == 0.0f) wanted = largest == 0.0f ? 1.0f : std::nextafter(0.0f, 1.0f);
    expect(scales[static_cast<size_t>(row)] == wanted, "the scale of row " + std::to_string(row));
    for (int64_t i = 0; i < width; ++i) {
      const float code = std::nearbyint(static_cast<float>(input.at(row, i)) / wanted);
      const int actual = out[static_cast<size_t>(row * width + i)];
      expect(actual == std::fmin(std::fmax(code, -127.0f), 127.0f),
             "code " + std::to_string(actual) + " in row " + std::to_string(row) + " column " + std::to_string(i) + ", wanted " + std::to_string(code));
    }
  }
}

// A row with a NaN, between others on one core: it alone has no scale.
template <typename T, typename K>
void spoiled(K kernel, int64_t width, uint32_t tile) {
  Rows<T> input(3, width, 0);
  for (T& each : input.data) each = T(2.0f);
  input.first()[width + width / 2] = T(std::nanf(""));
  std::vector<int8_t> out(static_cast<size_t>(3 * width), 9);
  std::vector<float> scales(3);
  const opweave::QuantTiling tiling{3, width, input.stride, width, tile, 0.0f, 0, 0};
  on_cores(1, [&] { kernel(address(input.first()), address(out.data()), address(scales.data()), tiling); });
  expect(scales[1] != scales[1] && scales[0] == 2.0f / 127 && scales[2] == scales[0], "the scales around a NaN");
  for (size_t i = 0; i < out.size(); ++i)
    expect(out[i] == (static_cast<int64_t>(i) / width == 1 ? 0 : 127), "code " + std::to_string(i) + " around a NaN");
}

template <typename T, typename K>
void turn(K kernel, int64_t tokens, uint32_t blocks, uint32_t heads, uint32_t width, uint32_t rotary, uint32_t pairs, uint32_t step,
          uint32_t flags) {
  const int64_t positions = 7;
  Rows<T> q(tokens * heads, width, 3);
  Rows<float> cache(positions, rotary, 1);
  const Rows<T> before = q;
  std::vector<int64_t> at(static_cast<size_t>(tokens));
  for (size_t i = 0; i < at.size(); ++i) at[i] = std::array<int64_t, 5>{0, 6, 7, -1, 3}[i % 5];
  int64_t fault[3] = {0, 0, 0};
  const opweave::RotaryTiling tiling{tokens, positions, cache.stride, heads * q.stride, q.stride, 0, 0, heads, 0, rotary, pairs, step, 0, 9,
                                     flags | opweave::ROTARY_CACHE_F32};
  on_cores(blocks, [&] { kernel(address(at.data()), address(q.first()), nullptr, address(cache.first()), address(fault), tiling); });
  expect(fault[0] == 2 && fault[1] == (int64_t{9} << 32) && fault[2] == 2, "the fault");
  const bool neighbours = (flags & opweave::ROTARY_INTERLEAVED) != 0, each = (flags & opweave::ROTARY_ROUND_PRODUCTS) != 0;
  const auto step_of = [&](double value) { return each ? rounded<T>(value) : value; };
  for (int64_t row = 0; row < tokens * heads; ++row) {
    const int64_t position = at[static_cast<size_t>(row / heads)];
    const bool inside = position >= 0 && position < positions;
    std::vector<double> wanted(width);
    for (uint32_t i = 0; i < width; ++i) wanted[i] = before.at(row, i);
    for (uint32_t p = 0; inside && p < rotary / 2; ++p) {
      const uint32_t i = neighbours ? 2 * p : p, j = neighbours ? 2 * p + 1 : p + rotary / 2;
      const double a = before.at(row, i), b = before.at(row, j);
      const double c = step_of(cache.at(position, p)), s = step_of(cache.at(position, p + rotary / 2));
      wanted[i] = step_of(a * c) - step_of(b * s);
      wanted[j] = step_of(b * c) + step_of(a * s);
    }
    for (uint32_t i = 0; i < width; ++i)
      close<T>(q.at(row, i), wanted[i], inside && i < rotary ? 1 : 0, "row " + std::to_string(row) + " feature " + std::to_string(i));
  }
  q.gaps(before);
}

template <typename T, typename N, typename A, typename S, typename Q, typename R>
void all(const char* dtype, N norm_kernel, A added_kernel, S silu_kernel, Q quant_kernel, R rotary_kernel) {
  for (const int64_t width : {1, 3, 37, 64, 65, 200, 333}) {
    for (const uint32_t tile : {64u, 384u}) {
      now = std::string(dtype) + " width " + std::to_string(width) + " tile " + std::to_string(tile);
      for (const uint32_t flags : {0u, 1u, 1u | opweave::NORM_ROUND_NORMALISED}) norm<T>(norm_kernel, 4, width, tile, 1, flags);
      if (!std::is_same_v<T, half>) {
        norm<T>(norm_kernel, 2, width, tile, 1e-30f, 0);
        norm<T>(norm_kernel, 2, width, tile, 1e37f, 0);
        steep<T>(norm_kernel, width == 333 ? 1009 : width, tile, 0);
        if (sizeof(T) == 4) steep<T>(norm_kernel, width == 333 ? 1009 : width, tile, opweave::NORM_ROUND_NORMALISED);
      }
      for (const uint32_t flags : {0u, 0u | opweave::NORM_ROUND_SUM}) added<T>(added_kernel, 3, width, tile, flags);
      for (const float scale : {1.0f, 8.0f, 30.0f}) silu<T>(silu_kernel, 3, width, tile, scale);
      for (const float scale : {1.0f, 0.01f, 300.0f}) quantise<T>(quant_kernel, 4, width, tile, scale, 0);
      spoiled<T>(quant_kernel, width, tile);
      if (!std::is_same_v<T, half>) {
        quantise<T>(quant_kernel, 4, width, tile, 1e-38f, 0);
        quantise<T>(quant_kernel, 4, width, tile, 1e36f, 0);
      }
    }
  }
  for (const uint32_t style : {0u, 0u | opweave::ROTARY_INTERLEAVED})
    for (const uint32_t products : {0u, 0u | opweave::ROTARY_ROUND_PRODUCTS})
      for (const auto& [width, rotary, pairs, step] :
           {std::array<uint32_t, 4>{24, 18, 9, 3}, {20, 20, 10, 2}, {160, 130, 65, 5}, {40, 34, 8, 1}, {2, 2, 1, 5}}) {
        now = std::string(dtype) + " rotary " + std::to_string(rotary) + " style " + std::to_string(style | products);
        turn<T>(rotary_kernel, 5, 2, 5, width, rotary, pairs, step, style | products);
      }
  // More tokens than positions are read at a time.
  now = std::string(dtype) + " rotary of many tokens";
  turn<T>(rotary_kernel, 1100, 1, 1, 6, 4, 2, 1, 0);
  turn<T>(rotary_kernel, 1300, 2, 1, 6, 4, 2, 1, 0);
}

}  // namespace

int main() {
  all<float>("f32", opweave_rms_norm_f32, opweave_fused_add_rms_norm_f32, opweave_silu_and_mul_f32, opweave_dynamic_quant_f32,
             opweave_rotary_embedding_f32);
  all<half>("f16", opweave_rms_norm_f16, opweave_fused_add_rms_norm_f16, opweave_silu_and_mul_f16, opweave_dynamic_quant_f16,
            opweave_rotary_embedding_f16);
  all<bfloat16_t>("bf16", opweave_rms_norm_bf16, opweave_fused_add_rms_norm_bf16, opweave_silu_and_mul_bf16,
                  opweave_dynamic_quant_bf16, opweave_rotary_embedding_bf16);
  // Quotients by integers against the processor's division, which is exact.
  now = "quotient";
  for (uint32_t i = 0; i < 2000000; ++i) {
    state = state * 1664525u + 1013904223u;
    const float value = opweave::float_of((i < 100000 ? i : state) & 0x7fffffff);
    if (value < INFINITY) expect(opweave::exact_quotient(value, 127) == value / 127.0f, std::to_string(value));
  }
  if (failures == 0) std::printf("%d calls of kernels, as defined\n", cases);
  return failures == 0 ? 0 : 1;
}
