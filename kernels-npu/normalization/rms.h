// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Root-mean-square normalisation of rows, of an input or of its sum with a residual.
//
// A core takes whole rows. A row of up to `tile` elements is read once: while it is normalised the next is on its way. A wider row is
// read once for its sum and once more for its result, a tile at a time. The order of a sum depends on width and tile alone.

#pragma once

#include "opweave/norm_tiling.h"
#include "opweave/root.h"

namespace opweave {

// Rows are divided by more than the reciprocal of this where small elements need care.
constexpr float MAY_UNDERFLOW = 9.765625e-4f;
// Half of the way from the least normal numbers to one: 2^63.
constexpr float HALF_UP = 9.223372e18f;

template <typename T, bool added>
class Rms {
 public:
  __aicore__ inline Rms(GM_ADDR input, GM_ADDR residual, GM_ADDR weight, GM_ADDR out, const NormTiling& tiling,
                        AscendC::TPipe& pipe)
      : tiling_(tiling) {
    const auto extent = [&](int64_t stride) { return static_cast<uint64_t>((tiling.rows - 1) * stride + tiling.width); };
    input_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(input), extent(tiling.input_stride));
    out_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(out), extent(tiling.out_stride));
    pipe.InitBuffer(inputs_, 2, tiling.tile * sizeof(T));
    pipe.InitBuffer(outs_, 2, tiling.tile * sizeof(T));
    if constexpr (added) {
      residual_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(residual), extent(tiling.residual_stride));
      pipe.InitBuffer(residuals_, 2, tiling.tile * sizeof(T));
      pipe.InitBuffer(sums_, 2, tiling.tile * sizeof(T));
    }
    if (is(NORM_WEIGHT_SAME)) {
      weight_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(weight), tiling.width);
      pipe.InitBuffer(weights_, 1, tiling.tile * sizeof(T));
    } else if (is(NORM_WEIGHT_F32)) {
      weight_f32_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(weight), tiling.width);
      pipe.InitBuffer(weights_, 1, tiling.tile * sizeof(float));
    }
    pipe.InitBuffer(values_buffer_, tiling.tile * sizeof(float));
    pipe.InitBuffer(scratch_buffer_, tiling.tile * sizeof(float));
    pipe.InitBuffer(small_buffer_, tiling.tile * sizeof(float));
    // A result for each 64 elements, and two blocks for single numbers.
    pipe.InitBuffer(partial_buffer_, padded<float>((tiling.tile + 63) / 64) * sizeof(float));
    pipe.InitBuffer(lanes_buffer_, 64);
    values_ = values_buffer_.template Get<float>();
    scratch_ = scratch_buffer_.template Get<float>();
    small_ = small_buffer_.template Get<float>();
    partial_ = partial_buffer_.template Get<float>();
    lanes_ = lanes_buffer_.template Get<float>();
  }

  __aicore__ inline void process() {
    const Share rows = share_of(tiling_.rows);
    if (rows.first == rows.end) return;
    if (tiling_.width > tiling_.tile) {
      for (int64_t row = rows.first; row < rows.end; ++row) wide_row(row);
      return;
    }
    const uint32_t width = static_cast<uint32_t>(tiling_.width);
    fetch_weight(0, width);
    fetch(rows.first, 0);
    for (int64_t row = rows.first; row < rows.end; ++row) {
      if (row + 1 < rows.end) fetch(row + 1, 0);
      take(row, 0, true);
      finish(row, 0, width, norm_of(row));
    }
    release_weight();
  }

 private:
  // A row times `first`, a power of two, and then `second` is the normalised row: the first product is exact.
  struct Norm {
    float first;
    float second;
  };

  __aicore__ inline bool is(NormFlags flag) const { return (tiling_.flags & flag) != 0; }

  __aicore__ inline uint32_t count_at(int64_t column) const {
    const int64_t left = tiling_.width - column;
    return left < tiling_.tile ? static_cast<uint32_t>(left) : tiling_.tile;
  }

  // Sends for a tile.
  __aicore__ inline void fetch(int64_t row, int64_t column) {
    const uint32_t count = count_at(column);
    LocalTensor<T> input = inputs_.template AllocTensor<T>();
    load(input, input_[static_cast<uint64_t>(row * tiling_.input_stride + column)], count);
    inputs_.EnQue(input);
    if constexpr (added) {
      LocalTensor<T> residual = residuals_.template AllocTensor<T>();
      load(residual, residual_[static_cast<uint64_t>(row * tiling_.residual_stride + column)], count);
      residuals_.EnQue(residual);
    }
  }

  // Puts the tile that was sent for into `values_`, in f32; where `last`, with its sum stored as the new residual.
  __aicore__ inline void take(int64_t row, int64_t column, bool last) {
    const uint32_t count = count_at(column);
    LocalTensor<T> input = inputs_.template DeQue<T>();
    vector_barrier();
    widen(values_, input, count);
    inputs_.FreeTensor(input);
    if constexpr (added) {
      LocalTensor<T> residual = residuals_.template DeQue<T>();
      widen(scratch_, residual, count);
      residuals_.FreeTensor(residual);
      vector_barrier();
      AscendC::Add(values_, values_, scratch_, count);
      vector_barrier();
      if (last) store_sum(row, column, count);
      if (is(NORM_ROUND_SUM)) round_to(values_, scratch_.ReinterpretCast<T>(), count);
    }
    vector_barrier();
  }

  __aicore__ inline void store_sum(int64_t row, int64_t column, uint32_t count) {
    LocalTensor<T> sum = sums_.template AllocTensor<T>();
    narrow(sum, values_, count);
    sums_.EnQue(sum);
    sum = sums_.template DeQue<T>();
    store(residual_[static_cast<uint64_t>(row * tiling_.residual_stride + column)], sum, count);
    sums_.FreeTensor(sum);
  }

  // Of the tile in `values_`: the sum of squares, times the square of `scale`.
  __aicore__ inline float squares(uint32_t count, float scale) {
    AscendC::Muls(scratch_, values_, scale, count);
    vector_barrier();
    AscendC::Mul(scratch_, scratch_, scratch_, count);
    vector_barrier();
    AscendC::ReduceSum(lanes_, scratch_, partial_, static_cast<int32_t>(count));
    return scalar_of(lanes_);
  }

  __aicore__ inline float magnitude(uint32_t count) {
    AscendC::Abs(scratch_, values_, count);
    vector_barrier();
    AscendC::ReduceMax(lanes_, scratch_, partial_, static_cast<int32_t>(count));
    return scalar_of(lanes_);
  }

  // The same of a row, which is in `values_` where it is a tile.
  __aicore__ inline float squares_of(int64_t row, float scale) {
    if (tiling_.width <= tiling_.tile) return squares(count_at(0), scale);
    float sum = 0.0f;
    fetch(row, 0);
    for (int64_t column = 0; column < tiling_.width; column += tiling_.tile) {
      next(row, column, false);
      sum += squares(count_at(column), scale);
    }
    return sum;
  }

  __aicore__ inline float magnitude_of(int64_t row) {
    if (tiling_.width <= tiling_.tile) return magnitude(count_at(0));
    float largest = 0.0f;
    fetch(row, 0);
    for (int64_t column = 0; column < tiling_.width; column += tiling_.tile) {
      next(row, column, false);
      const float here = magnitude(count_at(column));
      largest = here > largest ? here : largest;
    }
    return largest;
  }

  // Takes a tile of a wide row when the one behind it has been sent for.
  __aicore__ inline void next(int64_t row, int64_t column, bool last) {
    if (column + tiling_.tile < tiling_.width) fetch(row, column + tiling_.tile);
    take(row, column, last);
  }

  // Squares in f32 where they can be trusted, as for all but a few rows; else those of the row brought about 1.
  __aicore__ inline Norm norm_of(int64_t row) {
    const float square = squares_of(row, 1.0f) * tiling_.inverse_width + tiling_.epsilon;
    const bool number = square == square;
    if (!number || (square >= TRUSTED_FROM && square <= TRUSTED_TO)) return Norm{1.0f, inverse_root(square, lanes_)};
    const float scale = scale_of_row(magnitude_of(row), tiling_.epsilon);
    const float scaled = squares_of(row, scale) * tiling_.inverse_width + tiling_.epsilon * scale * scale;
    const float inverse = inverse_root(scaled, lanes_);
    // A row that is brought down is not brought all the way: its small elements would go below the normal range.
    if (scale < 1.0f) return Norm{scale * HALF_UP, inverse / HALF_UP};
    return Norm{scale, inverse};
  }

  __aicore__ inline void wide_row(int64_t row) {
    const Norm norm = norm_of(row);
    fetch(row, 0);
    for (int64_t column = 0; column < tiling_.width; column += tiling_.tile) {
      next(row, column, true);
      const uint32_t count = count_at(column);
      fetch_weight(column, count);
      finish(row, column, count, norm);
      release_weight();
    }
  }

  __aicore__ inline void fetch_weight(int64_t column, uint32_t count) {
    if (is(NORM_WEIGHT_SAME)) {
      LocalTensor<T> weight = weights_.template AllocTensor<T>();
      load(weight, weight_[static_cast<uint64_t>(column)], count);
      weights_.EnQue(weight);
      held_ = weights_.template DeQue<T>();
    } else if (is(NORM_WEIGHT_F32)) {
      LocalTensor<float> weight = weights_.template AllocTensor<float>();
      load(weight, weight_f32_[static_cast<uint64_t>(column)], count);
      weights_.EnQue(weight);
      held_f32_ = weights_.template DeQue<float>();
    }
  }

  __aicore__ inline void release_weight() {
    if (is(NORM_WEIGHT_SAME)) weights_.FreeTensor(held_);
    if (is(NORM_WEIGHT_F32)) weights_.FreeTensor(held_f32_);
  }

  // The weight in f32.
  __aicore__ inline LocalTensor<float> widened_weight(uint32_t count) {
    if (is(NORM_WEIGHT_F32)) return held_f32_;
    widen(scratch_, held_, count);
    vector_barrier();
    return scratch_;
  }

  // Of a row so large that small elements of it, normalised, are below the normal range before a large weight brings them back:
  // what is within `border` of zero goes through the products times 2^126, apart from the rest. Border times the norm is between
  // 2^-127 and 2^-126, so that neither part over- or underflows unless the result does.
  __aicore__ inline void weigh_small(uint32_t count, const Norm& norm) {
    const LocalTensor<float> weight = widened_weight(count);
    const float border = power_of_two(-127 - exponent_of(norm.first * norm.second));
    AscendC::Mins(small_, values_, border, count);
    vector_barrier();
    AscendC::Maxs(small_, small_, -border, count);
    vector_barrier();
    AscendC::Sub(values_, values_, small_, count);
    AscendC::Muls(small_, small_, norm.second * HALF_UP * norm.first * HALF_UP, count);
    vector_barrier();
    AscendC::Muls(values_, values_, norm.first, count);
    AscendC::Mul(small_, small_, weight, count);
    vector_barrier();
    AscendC::Muls(values_, values_, norm.second, count);
    AscendC::Muls(small_, small_, 1.0f / (HALF_UP * HALF_UP), count);
    vector_barrier();
    AscendC::Mul(values_, values_, weight, count);
    vector_barrier();
    AscendC::Add(values_, values_, small_, count);
  }

  __aicore__ inline void finish(int64_t row, int64_t column, uint32_t count, const Norm& norm) {
    const bool weighed = is(NORM_WEIGHT_SAME) || is(NORM_WEIGHT_F32);
    if (weighed && !is(NORM_ROUND_NORMALISED) && norm.first * norm.second < MAY_UNDERFLOW) {
      weigh_small(count, norm);
    } else {
      AscendC::Muls(values_, values_, norm.first, count);
      vector_barrier();
      AscendC::Muls(values_, values_, norm.second, count);
      vector_barrier();
      if (is(NORM_ROUND_NORMALISED)) round_to(values_, scratch_.ReinterpretCast<T>(), count);
      if (weighed) AscendC::Mul(values_, values_, widened_weight(count), count);
    }
    vector_barrier();
    LocalTensor<T> out = outs_.template AllocTensor<T>();
    narrow(out, values_, count);
    outs_.EnQue(out);
    out = outs_.template DeQue<T>();
    store(out_[static_cast<uint64_t>(row * tiling_.out_stride + column)], out, count);
    outs_.FreeTensor(out);
  }

  const NormTiling& tiling_;
  GlobalTensor<T> input_, residual_, weight_, out_;
  GlobalTensor<float> weight_f32_;
  AscendC::TQue<TPosition::VECIN, 2> inputs_, residuals_;
  AscendC::TQue<TPosition::VECIN, 1> weights_;
  AscendC::TQue<TPosition::VECOUT, 2> outs_, sums_;
  AscendC::TBuf<TPosition::VECCALC> values_buffer_, scratch_buffer_, small_buffer_, partial_buffer_,
      lanes_buffer_;
  LocalTensor<float> values_, scratch_, small_, partial_, lanes_, held_f32_;
  LocalTensor<T> held_;
};

}  // namespace opweave
