// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// a, b = a * cos - b * sin, b * cos + a * sin for each pair of the first features of every head, in place.
//
// A core takes whole tokens. In the unified buffer the heads of a step are rows of whole blocks. Where pairs are halves, first
// halves lie before second ones, each a row; where pairs are neighbours, a row is a head, and a second copy with neighbours exchanged
// takes the place of the other half. What lies in a row behind its features is zero.

#include "opweave/bits.h"
#include "opweave/fault.h"
#include "opweave/rotary_tiling.h"
#include "turn.h"

namespace opweave {

// Positions that are read at a time.
constexpr uint32_t POSITIONS = 512;

template <typename T>
class Rotary {
 public:
  __aicore__ inline Rotary(GM_ADDR positions, GM_ADDR q, GM_ADDR k, GM_ADDR cache, GM_ADDR faults, const RotaryTiling& tiling,
                           AscendC::TPipe& pipe)
      : tiling_(tiling), faults_(faults), interleaved_((tiling.flags & ROTARY_INTERLEAVED) != 0) {
    const auto extent = [&](int64_t token, int64_t head, uint32_t heads) {
      return static_cast<uint64_t>((tiling.tokens - 1) * token + (heads - 1) * head + tiling.rotary_dim);
    };
    q_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(q), extent(tiling.q_token_stride, tiling.q_head_stride, tiling.q_heads));
    if (tiling.k_heads > 0)
      k_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(k), extent(tiling.k_token_stride, tiling.k_head_stride, tiling.k_heads));
    const uint64_t table = tiling.max_position > 0 ? (tiling.max_position - 1) * tiling.cache_stride + tiling.rotary_dim : 0;
    cache_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(cache), table);
    cache_f32_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(cache), table);
    positions_i32_.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(positions), tiling.tokens);
    positions_i64_.SetGlobalBuffer(reinterpret_cast<__gm__ int64_t*>(positions), tiling.tokens);

    const uint32_t row = row_of(tiling.pairs), most = tiling.q_step > tiling.k_step ? tiling.q_step : tiling.k_step;
    const uint32_t elements = most * row * (interleaved_ ? 1 : 2);
    pipe.InitBuffer(heads_, 2, elements * sizeof(T));
    pipe.InitBuffer(outs_, 2, elements * sizeof(T));
    pipe.InitBuffer(angles_, 1, 2 * padded<float>(tiling.pairs) * sizeof(float));
    pipe.InitBuffer(x_buffer_, elements * sizeof(float));
    pipe.InitBuffer(y_buffer_, elements * sizeof(float));
    pipe.InitBuffer(rounding_buffer_, most * row * sizeof(T));
    pipe.InitBuffer(cosine_buffer_, row * sizeof(float));
    pipe.InitBuffer(sine_buffer_, row * sizeof(float));
    pipe.InitBuffer(position_buffer_, POSITIONS * sizeof(int64_t));
    pipe.InitBuffer(fault_buffer_, 32);
    x_ = x_buffer_.template Get<float>();
    y_ = y_buffer_.template Get<float>();
    rounding_ = rounding_buffer_.template Get<T>();
    cosine_ = cosine_buffer_.template Get<float>();
    sine_ = sine_buffer_.template Get<float>();
    AscendC::Duplicate(cosine_, 0.0f, row);
    AscendC::Duplicate(sine_, 0.0f, row);
    if (interleaved_) make_tables(row, pipe);
    vector_barrier();
  }

  __aicore__ inline void process() {
    if (faults_ != nullptr && AscendC::GetBlockIdx() == 0) report();
    const Share tokens = share_of(tiling_.tokens);
    for (int64_t first = tokens.first; first < tokens.end; first += POSITIONS) {
      const uint32_t count = read_positions(first, tokens.end);
      for (uint32_t i = 0; i < count; ++i) {
        const int64_t position = position_at(i);
        if (in_table(position)) turn_token(first + i, position);
      }
    }
  }

 private:
  // Elements of a row that holds `pairs` pairs, or halves of them.
  __aicore__ inline uint32_t row_of(uint32_t pairs) const { return padded<T>(interleaved_ ? 2 * pairs : pairs); }

  __aicore__ inline bool in_table(int64_t position) const { return position >= 0 && position < tiling_.max_position; }

  // For neighbours: where each feature's neighbour is, where its angle is, and the sign of its sine.
  __aicore__ inline void make_tables(uint32_t row, AscendC::TPipe& pipe) {
    pipe.InitBuffer(neighbour_buffer_, row * sizeof(int32_t));
    pipe.InitBuffer(pair_buffer_, row * sizeof(int32_t));
    pipe.InitBuffer(sign_buffer_, row * sizeof(float));
    pipe.InitBuffer(wide_cosine_buffer_, row * sizeof(float));
    pipe.InitBuffer(wide_sine_buffer_, row * sizeof(float));
    const LocalTensor<int32_t> neighbour = neighbour_buffer_.template Get<int32_t>(), pair = pair_buffer_.template Get<int32_t>();
    const LocalTensor<int32_t> index = x_.ReinterpretCast<int32_t>();
    sign_ = sign_buffer_.template Get<float>();
    AscendC::CreateVecIndex(index, 0, row);
    vector_barrier();
    // i / 2, and i + 1 or i - 1, which is 4 (i / 2) + 1 - i.
    AscendC::ShiftRight(pair, index, 1, row);
    vector_barrier();
    AscendC::ShiftLeft(neighbour, pair, 2, row);
    vector_barrier();
    AscendC::Sub(neighbour, neighbour, index, row);
    vector_barrier();
    AscendC::Adds(neighbour, neighbour, 1, row);
    vector_barrier();
    // The neighbour of a first is one more, and its sine is taken away: index - neighbour.
    AscendC::Sub(index, index, neighbour, row);
    vector_barrier();
    AscendC::Cast(sign_, index, RoundMode::CAST_RINT, row);
    // As offsets in bytes.
    AscendC::ShiftLeft(neighbour, neighbour, 2, row);
    AscendC::ShiftLeft(pair, pair, 2, row);
    vector_barrier();
    neighbour_ = neighbour.ReinterpretCast<uint32_t>();
    pair_ = pair.ReinterpretCast<uint32_t>();
  }

  // Reads positions from the token `first` on, and says how many.
  __aicore__ inline uint32_t read_positions(int64_t first, int64_t end) {
    const uint32_t count = end - first < POSITIONS ? static_cast<uint32_t>(end - first) : POSITIONS;
    wait_for<HardEvent::S_MTE2>();
    const uint64_t at = static_cast<uint64_t>(first);
    if ((tiling_.flags & ROTARY_POSITIONS_I32) != 0) {
      load(position_buffer_.template Get<int32_t>(), positions_i32_[at], count);
    } else {
      load(position_buffer_.template Get<int64_t>(), positions_i64_[at], count);
    }
    wait_for<HardEvent::MTE2_S>();
    return count;
  }

  __aicore__ inline int64_t position_at(uint32_t i) {
    if ((tiling_.flags & ROTARY_POSITIONS_I32) != 0) return position_buffer_.template Get<int32_t>().GetValue(i);
    return position_buffer_.template Get<int64_t>().GetValue(i);
  }

  // The first token of all whose position is outside the table.
  __aicore__ inline void report() {
    for (int64_t first = 0; first < tiling_.tokens; first += POSITIONS) {
      const uint32_t count = read_positions(first, tiling_.tokens);
      for (uint32_t i = 0; i < count; ++i) {
        if (in_table(position_at(i))) continue;
        raise_fault(faults_, fault_buffer_.template Get<int64_t>(), tiling_.operation, 0, first + i);
        return;
      }
    }
  }

  __aicore__ inline void turn_token(int64_t token, int64_t position) {
    const uint32_t pairs = tiling_.rotary_dim / 2;
    for (uint32_t pair = 0; pair < pairs; pair += tiling_.pairs) {
      const uint32_t count = pairs - pair < tiling_.pairs ? pairs - pair : tiling_.pairs;
      if ((tiling_.flags & ROTARY_CACHE_F32) != 0) {
        take_angles(cache_f32_, position, pair, count);
      } else {
        take_angles(cache_, position, pair, count);
      }
      turn_heads(q_, token * tiling_.q_token_stride, tiling_.q_head_stride, tiling_.q_heads, tiling_.q_step, pair, count);
      if (tiling_.k_heads > 0)
        turn_heads(k_, token * tiling_.k_token_stride, tiling_.k_head_stride, tiling_.k_heads, tiling_.k_step, pair, count);
    }
  }

  // Cosines and sines of `count` pairs, in f32.
  template <typename C>
  __aicore__ inline void take_angles(const GlobalTensor<C>& cache, int64_t position, uint32_t pair, uint32_t count) {
    const uint64_t row = static_cast<uint64_t>(position * tiling_.cache_stride) + pair;
    const uint32_t behind = padded<C>(count);
    LocalTensor<C> angles = angles_.template AllocTensor<C>();
    load(angles, cache[row], count);
    load(angles[behind], cache[row + tiling_.rotary_dim / 2], count);
    angles_.EnQue(angles);
    angles = angles_.template DeQue<C>();
    vector_barrier();
    widen(cosine_, angles, count);
    widen(sine_, angles[behind], count);
    angles_.FreeTensor(angles);
    vector_barrier();
    if ((tiling_.flags & ROTARY_ROUND_PRODUCTS) != 0) {
      round_to(cosine_, rounding_, count);
      round_to(sine_, rounding_, count);
    }
    if (!interleaved_) return;
    const uint32_t wide = row_of(count);
    AscendC::Gather(wide_cosine_buffer_.template Get<float>(), cosine_, pair_, 0, wide);
    AscendC::Gather(wide_sine_buffer_.template Get<float>(), sine_, pair_, 0, wide);
    vector_barrier();
    AscendC::Mul(wide_sine_buffer_.template Get<float>(), wide_sine_buffer_.template Get<float>(), sign_, wide);
    vector_barrier();
  }

  __aicore__ inline void turn_heads(const GlobalTensor<T>& x, int64_t token, int64_t head_stride, uint32_t heads, uint32_t step,
                                    uint32_t pair, uint32_t pairs) {
    const uint32_t row = row_of(pairs), length = interleaved_ ? 2 * pairs : pairs;
    // From the end of a row in memory to the next.
    const uint32_t gap = step > 1 ? static_cast<uint32_t>((head_stride - length) * sizeof(T)) : 0;
    const uint32_t bytes = static_cast<uint32_t>(length * sizeof(T)), half = tiling_.rotary_dim / 2;
    AscendC::DataCopyPadExtParams<T> zeros;
    zeros.isPad = true;
    zeros.rightPadding = static_cast<uint8_t>(row - length);
    for (uint32_t head = 0; head < heads; head += step) {
      const uint32_t rows = heads - head < step ? heads - head : step;
      const GlobalTensor<T> here = x[static_cast<uint64_t>(token + head * head_stride + (interleaved_ ? 2 * pair : pair))];
      const AscendC::DataCopyExtParams in(static_cast<uint16_t>(rows), bytes, gap, 0, 0);
      const AscendC::DataCopyExtParams back(static_cast<uint16_t>(rows), bytes, 0, gap, 0);
      LocalTensor<T> loaded = heads_.template AllocTensor<T>();
      AscendC::DataCopyPad(loaded, here, in, zeros);
      if (!interleaved_) AscendC::DataCopyPad(loaded[rows * row], here[half], in, zeros);
      heads_.EnQue(loaded);
      LocalTensor<T> out = outs_.template AllocTensor<T>();
      loaded = heads_.template DeQue<T>();
      vector_barrier();
      widen(x_, loaded, rows * row * (interleaved_ ? 1 : 2));
      heads_.FreeTensor(loaded);
      vector_barrier();
      if (interleaved_) {
        turn_neighbours(out, rows, row);
      } else {
        turn_halves(out, rows, row);
      }
      outs_.EnQue(out);
      out = outs_.template DeQue<T>();
      AscendC::DataCopyPad(here, out, back);
      if (!interleaved_) AscendC::DataCopyPad(here[half], out[rows * row], back);
      outs_.FreeTensor(out);
    }
  }

  __aicore__ inline void turn_halves(const LocalTensor<T>& out, uint32_t rows, uint32_t row) {
    const uint32_t count = rows * row;
    const LocalTensor<float> a = x_, b = x_[count], first = y_, second = y_[count];
    multiply_rows(first, a, cosine_, rows, row);
    multiply_rows(second, b, sine_, rows, row);
    vector_barrier();
    round_products(first, second, count);
    AscendC::Sub(first, first, second, count);
    vector_barrier();
    narrow(out, first, count);
    vector_barrier();
    multiply_rows(first, b, cosine_, rows, row);
    multiply_rows(second, a, sine_, rows, row);
    vector_barrier();
    round_products(first, second, count);
    AscendC::Add(first, first, second, count);
    vector_barrier();
    narrow(out[count], first, count);
  }

  __aicore__ inline void turn_neighbours(const LocalTensor<T>& out, uint32_t rows, uint32_t row) {
    const uint32_t count = rows * row;
    for (uint32_t i = 0; i < rows; ++i) {
      const uint32_t base = static_cast<uint32_t>(i * row * sizeof(float));
      AscendC::Gather(y_[i * row], x_, neighbour_, base, row);
    }
    vector_barrier();
    multiply_rows(x_, x_, wide_cosine_buffer_.template Get<float>(), rows, row);
    multiply_rows(y_, y_, wide_sine_buffer_.template Get<float>(), rows, row);
    vector_barrier();
    round_products(x_, y_, count);
    AscendC::Add(x_, x_, y_, count);
    vector_barrier();
    narrow(out, x_, count);
  }

  __aicore__ inline void round_products(const LocalTensor<float>& first, const LocalTensor<float>& second, uint32_t count) {
    if ((tiling_.flags & ROTARY_ROUND_PRODUCTS) == 0) return;
    round_to(first, rounding_, count);
    round_to(second, rounding_, count);
  }

  const RotaryTiling& tiling_;
  GM_ADDR faults_;
  bool interleaved_;
  GlobalTensor<T> q_, k_, cache_;
  GlobalTensor<float> cache_f32_;
  GlobalTensor<int32_t> positions_i32_;
  GlobalTensor<int64_t> positions_i64_;
  AscendC::TQue<TPosition::VECIN, 2> heads_;
  AscendC::TQue<TPosition::VECIN, 1> angles_;
  AscendC::TQue<TPosition::VECOUT, 2> outs_;
  AscendC::TBuf<TPosition::VECCALC> x_buffer_, y_buffer_, rounding_buffer_, cosine_buffer_, sine_buffer_, position_buffer_,
      fault_buffer_, neighbour_buffer_, pair_buffer_, sign_buffer_, wide_cosine_buffer_, wide_sine_buffer_;
  LocalTensor<float> x_, y_, cosine_, sine_, sign_;
  LocalTensor<uint32_t> neighbour_, pair_;
  LocalTensor<T> rounding_;
};

}  // namespace opweave

#define OPWEAVE_ENTRY(NAME, T)                                                                                      \
  extern "C" __global__ __aicore__ void NAME(GM_ADDR positions, GM_ADDR q, GM_ADDR k, GM_ADDR cache, GM_ADDR faults, \
                                             opweave::RotaryTiling tiling) {                                        \
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);                                                                 \
    AscendC::TPipe pipe;                                                                                            \
    opweave::Rotary<T>(positions, q, k, cache, faults, tiling, pipe).process();                                     \
  }

OPWEAVE_ENTRY(opweave_rotary_embedding_f32, float)
OPWEAVE_ENTRY(opweave_rotary_embedding_f16, half)
OPWEAVE_ENTRY(opweave_rotary_embedding_bf16, bfloat16_t)
#undef OPWEAVE_ENTRY
