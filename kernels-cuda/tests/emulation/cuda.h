// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// CUDA C++ on a processor: what the kernels use of the language, with the threads of a block as fibers.
//
// Blocks run one after the other; those of a cluster at the same time, each in a thread of this processor with its own shared
// memory. A fiber runs until it meets the others of its warp, its block or its cluster; an exchange that not all of them reach
// never returns, which `launch` finds. Vectors of 16 bytes are checked for their alignment.

#pragma once

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static thread_local

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
  unsigned arrivals = 0;  // at the cluster's barrier
  bool done = false;
};

struct Block {
  Dim size, grid, index;
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  Meeting all;
  unsigned current = 0;
  uint64_t progress = 0;
  unsigned rank = 0;       // in the cluster
  Meeting at_cluster;      // threads that have arrived at the cluster's barrier
  ucontext_t scheduler;
};
inline thread_local Block block;
// Where a block's shared memory is, which lies alike in all threads of this processor.
inline thread_local char shared_memory;

struct Cluster {
  unsigned size = 1;
  char* shared[16] = {};
  std::atomic<unsigned> arrived{0};  // blocks, over and over
};
inline Cluster cluster;
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

// The lanes for which the condition holds.
inline unsigned ballot(bool condition) {
  Warp& warp = block.warps[fiber().number / 32];
  warp.given[fiber().number % 32] = condition;
  meet(warp.meeting);
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < 32; lane++) lanes |= static_cast<unsigned>(warp.given[lane] != 0) << lane;
  meet(warp.meeting);
  return lanes;
}

inline void run_fiber() {
  body();
  fiber().done = true;
  block.progress++;
  for (;;) pause();
}

inline void run_block(unsigned index, unsigned rank, Dim grid, Dim size) {
  constexpr size_t STACK = 64 * 1024;
  static thread_local std::unique_ptr<char[]> stacks(new char[STACK * 1024]);
  const unsigned threads = size.x * size.y;
  block.size = size;
  block.grid = grid;
  block.index = {index, 0, 0};
  block.rank = rank;
  block.fibers.assign(threads, {});
  block.warps.assign(threads / 32, {});
  block.all = {threads, 0, 0};
  block.at_cluster = {threads, 0, 0};
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
  auto moved = std::chrono::steady_clock::now();
  for (unsigned left = threads; left > 0;) {
    const uint64_t before = block.progress;
    left = 0;
    for (unsigned i = 0; i < threads; i++) {
      if (block.fibers[i].done) continue;
      block.current = i;
      swapcontext(&block.scheduler, &block.fibers[i].context);
      left += !block.fibers[i].done;
    }
    const auto now = std::chrono::steady_clock::now();
    if (left == 0 || block.progress != before) {
      moved = now;
    } else if (cluster.size > 1 && now - moved < std::chrono::seconds(60)) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // other blocks are on their way
    } else {
      fail("threads wait for others that never come");
    }
  }
}

// `grid` is of whole clusters of `blocks` blocks.
inline void launch(Dim grid, Dim size, std::function<void()> kernel, unsigned blocks = 1) {
  const unsigned threads = size.x * size.y;
  if (threads % 32 != 0 || threads > 1024) fail("a block is of whole warps, at most 32");
  if (blocks > 16 || grid.x % blocks != 0) fail("a grid is of whole clusters, of 16 blocks at most");
  body = std::move(kernel);
  for (unsigned first = 0; first < grid.x; first += blocks) {
    cluster.size = blocks;
    cluster.arrived = 0;
    if (blocks == 1) {
      run_block(first, 0, grid, size);
      continue;
    }
    std::atomic<unsigned> ready{0};
    std::vector<std::thread> together;
    for (unsigned rank = 0; rank < blocks; rank++) {
      together.emplace_back([&, rank] {
        cluster.shared[rank] = &shared_memory;
        // None runs before all have their shared memory.
        for (ready++; ready < blocks;) std::this_thread::yield();
        run_block(first + rank, rank, grid, size);
        // Nor is any freed while another may write to it; whether one may is for the sanitizer of a GPU to find.
        for (ready++; ready < 2 * blocks;) std::this_thread::yield();
      });
    }
    for (std::thread& each : together) each.join();
  }
}

// The address in the shared memory of block `rank` that `p` is in this block's.
template <class T>
T* of_block(T* p, unsigned rank) {
  return reinterpret_cast<T*>(reinterpret_cast<char*>(p) + (cluster.shared[rank] - &shared_memory));
}

// The two halves of a cluster's barrier.
inline void arrive_at_cluster() {
  block.progress++;
  if (++block.at_cluster.here == block.at_cluster.size) {
    block.at_cluster.here = 0;
    cluster.arrived++;
  }
  fiber().arrivals++;
}
inline void wait_for_cluster() {
  while (cluster.arrived < fiber().arrivals * cluster.size) pause();
  block.progress++;
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
inline unsigned __ballot_sync(unsigned, bool condition) { return emulation::ballot(condition); }
inline int __ffs(unsigned v) { return v == 0 ? 0 : std::countr_zero(v) + 1; }
inline bool __any_sync(unsigned, bool condition) { return emulation::ballot(condition) != 0; }
inline unsigned __reduce_max_sync(unsigned, unsigned v) {
  unsigned most = v;
  for (unsigned lane = 0; lane < 32; lane++) most = std::max(most, emulation::exchange(v, lane));
  return most;
}
inline unsigned long long atomicCAS_system(unsigned long long* p, unsigned long long from, unsigned long long to) {
  std::atomic_ref<unsigned long long>(*p).compare_exchange_strong(from, to);
  return from;
}
inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline int __clz(unsigned v) { return std::countl_zero(v); }
inline float __uint_as_float(uint32_t v) { return std::bit_cast<float>(v); }
inline uint32_t __float_as_uint(float v) { return std::bit_cast<uint32_t>(v); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __double2float_rn(double v) { return static_cast<float>(v); }
inline float __double2float_rz(double v) {
  const float nearest = static_cast<float>(v);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(v) ? std::nextafterf(nearest, 0.0f) : nearest;
}
