// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// An activation of one half of each row, times the other half.
//
// Tiles of rows share nothing, so each core takes a run of them: while one is computed the next is on its way and the one before
// leaves.

#pragma once

#include "opweave/activation_tiling.h"
#include "opweave/move.h"

namespace opweave {

// `Function` leaves the activation of `gate` in two factors: `gate` itself, and `second`, which may be small.
template <typename T, typename Function>
class Product {
 public:
  __aicore__ inline Product(GM_ADDR gate, GM_ADDR up, GM_ADDR out, const ActivationTiling& tiling, AscendC::TPipe& pipe)
      : tiling_(tiling) {
    const auto extent = [&](int64_t stride) { return static_cast<uint64_t>((tiling.rows - 1) * stride + tiling.width); };
    gate_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gate), extent(tiling.gate_stride));
    up_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(up), extent(tiling.up_stride));
    out_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(out), extent(tiling.out_stride));
    pipe.InitBuffer(gates_, 2, tiling.tile * sizeof(T));
    pipe.InitBuffer(ups_, 2, tiling.tile * sizeof(T));
    pipe.InitBuffer(outs_, 2, tiling.tile * sizeof(T));
    pipe.InitBuffer(value_buffer_, tiling.tile * sizeof(float));
    pipe.InitBuffer(second_buffer_, tiling.tile * sizeof(float));
    pipe.InitBuffer(scratch_buffer_, tiling.tile * sizeof(float));
    value_ = value_buffer_.template Get<float>();
    second_ = second_buffer_.template Get<float>();
    scratch_ = scratch_buffer_.template Get<float>();
  }

  __aicore__ inline void process() {
    const int64_t tiles = (tiling_.width + tiling_.tile - 1) / tiling_.tile;
    const Share share = share_of(tiling_.rows * tiles);
    for (int64_t unit = share.first; unit < share.end; ++unit) {
      const int64_t row = unit / tiles, column = unit % tiles * tiling_.tile;
      const int64_t left = tiling_.width - column;
      const uint32_t count = left < tiling_.tile ? static_cast<uint32_t>(left) : tiling_.tile;
      fetch(row, column, count);
      compute(count);
      leave(row, column, count);
    }
  }

 private:
  __aicore__ inline void fetch(int64_t row, int64_t column, uint32_t count) {
    LocalTensor<T> gate = gates_.template AllocTensor<T>();
    load(gate, gate_[static_cast<uint64_t>(row * tiling_.gate_stride + column)], count);
    gates_.EnQue(gate);
    LocalTensor<T> up = ups_.template AllocTensor<T>();
    load(up, up_[static_cast<uint64_t>(row * tiling_.up_stride + column)], count);
    ups_.EnQue(up);
  }

  __aicore__ inline void compute(uint32_t count) {
    LocalTensor<T> gate = gates_.template DeQue<T>();
    vector_barrier();
    widen(value_, gate, count);
    gates_.FreeTensor(gate);
    vector_barrier();
    Function::apply(value_, second_, scratch_, count);
    const bool rounded = (tiling_.flags & ACTIVATION_ROUNDED) != 0;
    if (rounded) {
      AscendC::Mul(value_, value_, second_, count);
      vector_barrier();
      round_to(value_, scratch_.ReinterpretCast<T>(), count);
    }
    LocalTensor<T> up = ups_.template DeQue<T>();
    widen(scratch_, up, count);
    ups_.FreeTensor(up);
    vector_barrier();
    AscendC::Mul(value_, value_, scratch_, count);
    vector_barrier();
    // The small factor last: before, it might underflow although what it is multiplied with is large.
    if (!rounded) AscendC::Mul(value_, value_, second_, count);
    vector_barrier();
    LocalTensor<T> out = outs_.template AllocTensor<T>();
    narrow(out, value_, count);
    outs_.EnQue(out);
  }

  __aicore__ inline void leave(int64_t row, int64_t column, uint32_t count) {
    LocalTensor<T> out = outs_.template DeQue<T>();
    store(out_[static_cast<uint64_t>(row * tiling_.out_stride + column)], out, count);
    outs_.FreeTensor(out);
  }

  const ActivationTiling& tiling_;
  GlobalTensor<T> gate_, up_, out_;
  AscendC::TQue<TPosition::VECIN, 2> gates_, ups_;
  AscendC::TQue<TPosition::VECOUT, 2> outs_;
  AscendC::TBuf<TPosition::VECCALC> value_buffer_, second_buffer_, scratch_buffer_;
  LocalTensor<float> value_, second_, scratch_;
};

}  // namespace opweave
