// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// CUDA C++ on a processor: what the kernels use of the language, with the threads of a block as fibers.
//
// Blocks run one after the other. A fiber runs until it meets the others of its warp or its block; an exchange that not all of
// them reach never returns, which `launch` finds. Vectors of 16 bytes are checked for their alignment.

#pragma once

#include <ucontext.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static

struct uint2 {
  uint32_t x, y;
};
struct uint4 {
  uint32_t x, y, z, w;
};

namespace emulation {

struct Dim {
  unsigned x = 1, y = 1, z = 1;
};

// A meeting of `size` fibers, over and over.
struct Meeting {
  unsigned size = 32, here = 0, held = 0;
};

struct Warp {
  Meeting meeting;
  uint64_t given[32] = {};
};

struct Fiber {
  ucontext_t context;
  Dim thread;
  unsigned number = 0;
  bool done = false;
};

struct Block {
  Dim size, grid, index;
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  Meeting all;
  unsigned current = 0;
  uint64_t progress = 0;
  ucontext_t scheduler;
};
inline Block block;
inline std::function<void()> body;

[[noreturn]] inline void fail(const char* what) {
  std::printf("emulation: %s\n", what);
  std::exit(2);
}

inline Fiber& fiber() { return block.fibers[block.current]; }
inline void pause() { swapcontext(&fiber().context, &block.scheduler); }

inline void meet(Meeting& meeting) {
  block.progress++;
  const unsigned held = meeting.held;
  if (++meeting.here == meeting.size) {
    meeting.here = 0;
    meeting.held++;
  } else {
    while (meeting.held == held) pause();
  }
}

// Every lane gives a value and takes that of a lane.
template <class T>
T exchange(T value, unsigned lane) {
  Warp& warp = block.warps[fiber().number / 32];
  std::memcpy(&warp.given[fiber().number % 32], &value, sizeof value);
  meet(warp.meeting);
  T taken;
  std::memcpy(&taken, &warp.given[lane], sizeof taken);
  meet(warp.meeting);
  return taken;
}

inline void run_fiber() {
  body();
  fiber().done = true;
  block.progress++;
  for (;;) pause();
}

inline void launch(Dim grid, Dim size, std::function<void()> kernel) {
  constexpr size_t STACK = 64 * 1024;
  static std::vector<char> stacks(STACK * 1024);
  const unsigned threads = size.x * size.y;
  if (threads % 32 != 0 || threads > 1024) fail("a block is of whole warps, at most 32");
  body = std::move(kernel);
  block.size = size;
  block.grid = grid;
  for (unsigned b = 0; b < grid.x; b++) {
    block.index = {b, 0, 0};
    block.fibers.assign(threads, {});
    block.warps.assign(threads / 32, {});
    block.all = {threads, 0, 0};
    for (unsigned i = 0; i < threads; i++) {
      Fiber& f = block.fibers[i];
      f.number = i;
      f.thread = {i % size.x, i / size.x, 0};
      getcontext(&f.context);
      f.context.uc_stack.ss_sp = &stacks[STACK * i];
      f.context.uc_stack.ss_size = STACK;
      f.context.uc_link = nullptr;
      makecontext(&f.context, run_fiber, 0);
    }
    for (unsigned left = threads; left > 0;) {
      const uint64_t before = block.progress;
      left = 0;
      for (unsigned i = 0; i < threads; i++) {
        if (block.fibers[i].done) continue;
        block.current = i;
        swapcontext(&block.scheduler, &block.fibers[i].context);
        left += !block.fibers[i].done;
      }
      if (left > 0 && block.progress == before) fail("threads wait for others that never come");
    }
  }
}

}  // namespace emulation

#define threadIdx (emulation::fiber().thread)
#define blockDim (emulation::block.size)
#define gridDim (emulation::block.grid)
#define blockIdx (emulation::block.index)

inline void __syncthreads() { emulation::meet(emulation::block.all); }
inline void __syncwarp() { emulation::meet(emulation::block.warps[emulation::fiber().number / 32].meeting); }
template <class T>
T __shfl_xor_sync(unsigned, T v, unsigned step) {
  return emulation::exchange(v, emulation::fiber().number % 32 ^ step);
}
template <class T>
T __shfl_sync(unsigned, T v, unsigned from, unsigned width) {
  return emulation::exchange(v, (emulation::fiber().number % 32 & ~(width - 1)) + from);
}
inline bool __any_sync(unsigned, bool condition) {
  bool any = condition;
  for (unsigned lane = 0; lane < 32; lane++) any |= emulation::exchange(condition, lane);
  return any;
}
inline int __clz(unsigned v) { return std::countl_zero(v); }
inline float __uint_as_float(uint32_t v) { return std::bit_cast<float>(v); }
inline uint32_t __float_as_uint(float v) { return std::bit_cast<uint32_t>(v); }
inline float __double2float_rn(double v) { return static_cast<float>(v); }
inline float __double2float_rz(double v) {
  const float nearest = static_cast<float>(v);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(v) ? std::nextafterf(nearest, 0.0f) : nearest;
}
