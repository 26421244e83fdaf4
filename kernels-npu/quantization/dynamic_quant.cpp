// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// scale = max(abs(input)) / 127, then out = saturate(round(input / scale)), row by row, to i8.
//
// A core takes whole rows. A row of up to `tile` elements is read once: while it is quantised the next is on its way. A wider row is
// read once for its scale and once more for its codes.

#include "codes.h"
#include "scale.h"

namespace opweave {

template <typename T>
class DynamicQuant {
 public:
  __aicore__ inline DynamicQuant(GM_ADDR input, GM_ADDR out, GM_ADDR scale, const QuantTiling& tiling, AscendC::TPipe& pipe)
      : tiling_(tiling) {
    const auto extent = [&](int64_t stride) { return static_cast<uint64_t>((tiling.rows - 1) * stride + tiling.width); };
    input_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(input), extent(tiling.input_stride));
    out_.SetGlobalBuffer(reinterpret_cast<__gm__ int8_t*>(out), extent(tiling.out_stride));
    scale_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(scale), tiling.rows);
    exponent_.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(scale), tiling.rows);
    const uint32_t floats = tiling.tile * sizeof(float);
    pipe.InitBuffer(inputs_, 2, tiling.tile * sizeof(T));
    pipe.InitBuffer(codes_, 2, tiling.tile);
    pipe.InitBuffer(values_buffer_, floats);
    pipe.InitBuffer(tie_buffer_, floats);
    pipe.InitBuffer(rest_buffer_, floats);
    pipe.InitBuffer(width_buffer_, floats);
    pipe.InitBuffer(mask_buffer_, floats);
    pipe.InitBuffer(partial_buffer_, padded<float>((tiling.tile + 63) / 64) * sizeof(float));
    pipe.InitBuffer(lanes_buffer_, 64);
    pipe.InitBuffer(scale_buffer_, 32);
    values_ = values_buffer_.template Get<float>();
    tie_ = tie_buffer_.template Get<float>();
    rest_ = rest_buffer_.template Get<float>();
    width_ = width_buffer_.template Get<float>();
    mask_ = mask_buffer_.template Get<uint16_t>();
    partial_ = partial_buffer_.template Get<float>();
    lanes_ = lanes_buffer_.template Get<float>();
    // Of each f32, sign and exponent.
    AscendC::Duplicate(mask_buffer_.template Get<int32_t>(), static_cast<int32_t>(0xff800000), tiling.tile);
  }

  __aicore__ inline void process() {
    const Share rows = share_of(tiling_.rows);
    if (rows.first == rows.end) return;
    const bool wide = tiling_.width > tiling_.tile;
    if (!wide) fetch(rows.first, 0);
    for (int64_t row = rows.first; row < rows.end; ++row) {
      if (wide) {
        fetch(row, 0);
        for (int64_t column = 0; column < tiling_.width; column += tiling_.tile) {
          next(row, column);
          look(column);
        }
      } else {
        if (row + 1 < rows.end) fetch(row + 1, 0);
        take(0);
        look(0);
      }
      const Scale scale = finite_ ? scale_of(largest_, tiling_) : Scale{float_of(NAN_BITS), 0xff};
      store_scale(row, scale);
      const Coding coding = coding_of(scale.value);
      if (wide) fetch(row, 0);
      for (int64_t column = 0; column < tiling_.width; column += tiling_.tile) {
        if (wide) next(row, column);
        quantise(row, column, coding);
      }
    }
  }

 private:
  __aicore__ inline uint32_t count_at(int64_t column) const {
    const int64_t left = tiling_.width - column;
    return left < tiling_.tile ? static_cast<uint32_t>(left) : tiling_.tile;
  }

  __aicore__ inline void fetch(int64_t row, int64_t column) {
    LocalTensor<T> input = inputs_.template AllocTensor<T>();
    load(input, input_[static_cast<uint64_t>(row * tiling_.input_stride + column)], count_at(column));
    inputs_.EnQue(input);
  }

  __aicore__ inline void take(int64_t column) {
    LocalTensor<T> input = inputs_.template DeQue<T>();
    vector_barrier();
    widen(values_, input, count_at(column));
    inputs_.FreeTensor(input);
    vector_barrier();
  }

  __aicore__ inline void next(int64_t row, int64_t column) {
    if (column + tiling_.tile < tiling_.width) fetch(row, column + tiling_.tile);
    take(column);
  }

  // What the tile in `values_` adds to what is known of the row. A largest of NaN and numbers is not defined, so whether all are
  // finite is found out first: times zero they are zeros, and their sum is a number.
  __aicore__ inline void look(int64_t column) {
    const uint32_t count = count_at(column);
    const int32_t elements = static_cast<int32_t>(count);
    if (column == 0) {
      finite_ = true;
      largest_ = 0.0f;
    }
    AscendC::Muls(rest_, values_, 0.0f, count);
    AscendC::Abs(tie_, values_, count);
    vector_barrier();
    AscendC::ReduceSum(lanes_, rest_, partial_, elements);
    const float zero = scalar_of(lanes_);
    finite_ = finite_ && zero == zero;
    if (!finite_) return;
    AscendC::ReduceMax(lanes_, tie_, partial_, elements);
    const float here = scalar_of(lanes_);
    largest_ = here > largest_ ? here : largest_;
  }

  // Below 2^-60 both sides of the division are taken times 2^100, which leaves the quotient as it is and room for its rest.
  __aicore__ inline Coding coding_of(float scale) {
    shift_ = scale < 8.6736174e-19f ? power_of_two(100) : 1.0f;
    const float shifted = scale * shift_;
    AscendC::Duplicate(lanes_, shifted, 8);
    AscendC::Duplicate(lanes_[8], 1.0f, 8);
    vector_barrier();
    AscendC::Div(lanes_, lanes_[8], lanes_, 8);
    const float inverse = scalar_of(lanes_);
    return Coding{shifted, inverse, (tiling_.flags & QUANT_LOWEST_128) != 0 ? -128.0f : -127.0f};
  }

  __aicore__ inline void quantise(int64_t row, int64_t column, const Coding& coding) {
    const uint32_t count = count_at(column);
    if (!finite_) {
      AscendC::Duplicate(values_, 0.0f, count);
    } else {
      AscendC::Muls(values_, values_, shift_, count);
    }
    vector_barrier();
    LocalTensor<int8_t> codes = codes_.template AllocTensor<int8_t>();
    const Coding used = finite_ ? coding : Coding{1.0f, 1.0f, 0.0f};
    encode(codes, values_, tie_, rest_, width_, mask_, used, count);
    codes_.EnQue(codes);
    codes = codes_.template DeQue<int8_t>();
    store(out_[static_cast<uint64_t>(row * tiling_.out_stride + column)], codes, count);
    codes_.FreeTensor(codes);
    vector_barrier();
  }

  __aicore__ inline void store_scale(int64_t row, const Scale& scale) {
    // That of the row before has left.
    wait_for<HardEvent::MTE3_S>();
    if ((tiling_.flags & QUANT_SCALE_POWER_OF_TWO) != 0) {
      const LocalTensor<uint8_t> one = scale_buffer_.template Get<uint8_t>();
      one.SetValue(0, scale.exponent);
      wait_for<HardEvent::S_MTE3>();
      store(exponent_[static_cast<uint64_t>(row)], one, 1);
    } else {
      const LocalTensor<float> one = scale_buffer_.template Get<float>();
      one.SetValue(0, scale.value);
      wait_for<HardEvent::S_MTE3>();
      store(scale_[static_cast<uint64_t>(row)], one, 1);
    }
  }

  const QuantTiling& tiling_;
  GlobalTensor<T> input_;
  GlobalTensor<int8_t> out_;
  GlobalTensor<float> scale_;
  GlobalTensor<uint8_t> exponent_;
  AscendC::TQue<TPosition::VECIN, 2> inputs_;
  AscendC::TQue<TPosition::VECOUT, 2> codes_;
  AscendC::TBuf<TPosition::VECCALC> values_buffer_, tie_buffer_, rest_buffer_, width_buffer_, mask_buffer_, partial_buffer_,
      lanes_buffer_, scale_buffer_;
  LocalTensor<float> values_, tie_, rest_, width_, partial_, lanes_;
  LocalTensor<uint16_t> mask_;
  bool finite_ = true;
  float largest_ = 0.0f, shift_ = 1.0f;
};

}  // namespace opweave

#define OPWEAVE_ENTRY(NAME, T)                                                                                      \
  extern "C" __global__ __aicore__ void NAME(GM_ADDR input, GM_ADDR out, GM_ADDR scale, opweave::QuantTiling tiling) { \
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);                                                                 \
    AscendC::TPipe pipe;                                                                                            \
    opweave::DynamicQuant<T>(input, out, scale, tiling, pipe).process();                                            \
  }

OPWEAVE_ENTRY(opweave_dynamic_quant_f32, float)
OPWEAVE_ENTRY(opweave_dynamic_quant_f16, half)
OPWEAVE_ENTRY(opweave_dynamic_quant_bf16, bfloat16_t)
#undef OPWEAVE_ENTRY
