// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// The threads that share a row: whose turn it is, sums and the largest over them.
//
// A row is summed in an order that its width alone decides, so that block and grid may be chosen by the number of rows and the
// bits of a row stay the same. The unit is the *chunk*: 32 consecutive vectors, one in each lane of a warp, whichever warp
// that is. A chunk is summed by halving over its lanes (lane i with i + 16, then 8, 4, 2, 1). Chunk c then belongs to place
// c % 32: the chunks of a place are added in order, and the 32 places are halved again. Absent vectors and chunks count as
// zeros, and a step that would only add zeros may be left out.

#pragma once

#include <opweave/ptx.cuh>

#include <cstdint>

namespace opweave {

inline constexpr unsigned WARP = 32;
inline constexpr unsigned ALL_LANES = 0xffffffffu;

// The threads that share a row: a block. It is a multiple of 32 threads.
struct BlockTeam {
  static constexpr bool IS_BLOCK = true;
  unsigned rank = threadIdx.x;
  unsigned size = blockDim.x;
  unsigned lane = threadIdx.x % WARP;
  unsigned warp = threadIdx.x / WARP;
  unsigned warps = blockDim.x / WARP;

  static __device__ __forceinline__ unsigned teams() { return 1; }
  static __device__ __forceinline__ unsigned number() { return 0; }

  // The sum over the lanes of a warp, in each of them. Both partners of a step add the same two numbers, so all lanes end
  // with the same bits.
  template <class F>
  __device__ __forceinline__ F sum_over_lanes(F v) const {
#pragma unroll
    for (unsigned step = WARP / 2; step > 0; step /= 2) v += __shfl_xor_sync(ALL_LANES, v, step);
    return v;
  }

  // Whether `condition`, which is the same in the whole team, holds in any team of the warp: of this one only.
  static __device__ __forceinline__ bool any_in_warp(bool condition) { return condition; }
};

// The threads that share a row: `blockDim.x` lanes of a warp, a power of two up to 32, of which a block holds `blockDim.y`. All
// lanes of a warp go through the same exchanges, so its teams do everything together, also where one has no row.
struct LaneTeam {
  static constexpr bool IS_BLOCK = false;
  unsigned rank = threadIdx.x;
  unsigned size = blockDim.x;

  static __device__ __forceinline__ unsigned teams() { return blockDim.y; }
  static __device__ __forceinline__ unsigned number() { return threadIdx.y; }

  template <class F>
  __device__ __forceinline__ F sum_over_lanes(F v) const {
#pragma unroll
    for (unsigned step = WARP / 2; step > 0; step /= 2) {
      if (size > step) v += __shfl_xor_sync(ALL_LANES, v, step);
    }
    return v;
  }

  static __device__ __forceinline__ bool any_in_warp(bool condition) { return __any_sync(ALL_LANES, condition); }
};

// The rows that a block takes, of `end` in all: `teams` at a time, in turn with the other blocks. All teams of a block go
// through the loop together; the last time some may be past the end.
template <class TEAM>
struct Turns {
  int64_t first;
  int64_t step;
  int64_t end;

  explicit __device__ __forceinline__ Turns(int64_t end)
      : first(static_cast<int64_t>(blockIdx.x) * TEAM::teams()), step(static_cast<int64_t>(gridDim.x) * TEAM::teams()), end(end) {}
  __device__ __forceinline__ bool more() const { return first < end; }
  __device__ __forceinline__ void advance() { first += step; }
  __device__ __forceinline__ int64_t mine() const { return first + TEAM::number(); }
  __device__ __forceinline__ bool active() const { return TEAM::IS_BLOCK || mine() < end; }
};

// N sums over the lanes of a warp at once; lane l gets sum number l / (32 / N). As long as there are several, partners share
// them: each keeps one half and hands over the other, so that N sums cost N - 1 + log2(32 / N) exchanges, not 5 N. The order
// of additions is that of `sum_over_lanes`.
template <int N>
__device__ __forceinline__ float sums_over_lanes(unsigned lane, float (&v)[N]) {
  static_assert(N > 0 && N <= 32 && (N & (N - 1)) == 0, "the lanes are shared out by halving");
#pragma unroll
  for (int half = N / 2, step = WARP / 2; half > 0; half /= 2, step /= 2) {
    const bool upper = (lane & step) != 0;
#pragma unroll
    for (int i = 0; i < half; i++) {
      const float keep = upper ? v[i + half] : v[i];
      const float give = upper ? v[i] : v[i + half];
      v[i] = keep + __shfl_xor_sync(ALL_LANES, give, step);
    }
  }
#pragma unroll
  for (unsigned step = WARP / 2 / N; step > 0; step /= 2) v[0] += __shfl_xor_sync(ALL_LANES, v[0], step);
  return v[0];
}

// Sums over a row of which each thread holds PACKS vectors: vector `rank + k * size` as its k-th. `part[s * PACKS + k]` is
// statistic s of that vector, 0 where the row has none. Every thread of the team calls it and gets the same bits.
template <class TEAM, int STATISTICS, int PACKS>
struct RowSums;

template <int STATISTICS, int PACKS>
struct RowSums<LaneTeam, STATISTICS, PACKS> {
  struct Scratch {};

  __device__ __forceinline__ RowSums(Scratch&, unsigned) {}

  // All chunks are in this warp; their places are 0 to PACKS - 1.
  __device__ __forceinline__ void operator()(const LaneTeam& team, float (&part)[STATISTICS * PACKS], float (&total)[STATISTICS]) {
#pragma unroll
    for (int s = 0; s < STATISTICS; s++) {
      float chunk[PACKS];
#pragma unroll
      for (int k = 0; k < PACKS; k++) chunk[k] = team.sum_over_lanes(part[s * PACKS + k]);
#pragma unroll
      for (int half = PACKS / 2; half > 0; half /= 2) {
#pragma unroll
        for (int k = 0; k < half; k++) chunk[k] += chunk[k + half];
      }
      total[s] = chunk[0];
    }
  }
};

template <int STATISTICS, int PACKS>
struct RowSums<BlockTeam, STATISTICS, PACKS> {
  static constexpr int N = STATISTICS * PACKS;
  static constexpr int CHUNKS = WARP * PACKS;  // of a block of 1024 threads

  // Twice, so that the sums of one row need not wait until all threads have read those of the row before.
  struct Scratch {
    float sums[2][STATISTICS][CHUNKS];
  };

  Scratch& scratch;
  unsigned chunks;    // of the row
  unsigned span;      // the least power of two that is at least `chunks`, at most 32: steps beyond it would add zeros
  unsigned turn = 0;  // which half of the scratch is next

  __device__ __forceinline__ RowSums(Scratch& scratch, unsigned vectors)
      : scratch(scratch), chunks((vectors + WARP - 1) / WARP) {
    span = chunks >= WARP ? WARP : 1u << (32 - __clz(chunks - 1));  // of one chunk: 1 << (32 - 32)
    if (chunks <= 1) span = 1;
  }

  __device__ __forceinline__ void operator()(const BlockTeam& team, float (&part)[N], float (&total)[STATISTICS]) {
    constexpr unsigned SHARE = WARP / N;
    auto& sums = scratch.sums[turn];
    turn ^= 1;
    const float sum = sums_over_lanes<N>(team.lane, part);
    if (team.lane % SHARE == 0) {
      const unsigned which = team.lane / SHARE;
      sums[which / PACKS][which % PACKS * team.warps + team.warp] = sum;
    }
    __syncthreads();
    // With fewer places than lanes, several lanes stand for one.
    const unsigned place = team.lane & (span - 1);
#pragma unroll
    for (int s = 0; s < STATISTICS; s++) {
      float v = 0;
#pragma unroll
      for (unsigned k = 0; k < PACKS; k++) {
        if (place + k * WARP < chunks) v += sums[s][place + k * WARP];
      }
#pragma unroll
      for (unsigned step = WARP / 2; step > 0; step /= 2) {
        if (span > step) v += __shfl_xor_sync(ALL_LANES, v, step);
      }
      total[s] = v;
    }
  }
};

// The same with one vector in each thread, as rows are shared that are few: made for the shortest way from the last load to the
// sum. What can be found out before is, and the 32 places lie as eight times four, of which a lane takes four at once: the two
// first halvings are then its own.
template <int STATISTICS>
struct RowSums<BlockTeam, STATISTICS, 1> {
  static constexpr unsigned QUADS = 8;
  static constexpr uint32_t BYTES = WARP * sizeof(float);  // of the places of one statistic

  struct Scratch {
    alignas(16) float sums[2][STATISTICS][WARP];
  };

  ptx::Shared mine;   // this warp's place
  ptx::Shared quad;   // the four places of this lane
  uint32_t turn = 0;  // offset of the half of the scratch that is next

  // Place p is one of quad p % 8.
  static __device__ __forceinline__ unsigned index_of(unsigned place) { return place % QUADS * 4 + place / QUADS; }

  __device__ __forceinline__ RowSums(Scratch& scratch, unsigned) {
    const BlockTeam team;
    mine = ptx::shared(&scratch.sums[0][0][index_of(team.warp)]);
    quad = ptx::shared(&scratch.sums[0][0][team.lane % QUADS * 4]);
    // Places that no warp has. Nobody else writes them.
    if (team.warp == 0 && team.lane >= team.warps) {
#pragma unroll
      for (int i = 0; i < 2 * STATISTICS; i++) scratch.sums[i / STATISTICS][i % STATISTICS][index_of(team.lane)] = 0;
    }
  }

  __device__ __forceinline__ void operator()(const BlockTeam& team, float (&part)[STATISTICS], float (&total)[STATISTICS]) {
    constexpr unsigned SHARE = WARP / STATISTICS;
    const float sum = sums_over_lanes<STATISTICS>(team.lane, part);
    if (team.lane % SHARE == 0) ptx::store_shared(mine, turn + team.lane / SHARE * BYTES, sum);
    __syncthreads();
#pragma unroll
    for (int s = 0; s < STATISTICS; s++) {
      float v[4];
      ptx::load_shared_16(quad, turn + s * BYTES, v);
      total[s] = (v[0] + v[2]) + (v[1] + v[3]);
    }
#pragma unroll
    for (unsigned step = QUADS / 2; step > 0; step /= 2) {
#pragma unroll
      for (int s = 0; s < STATISTICS; s++) total[s] += __shfl_xor_sync(ALL_LANES, total[s], step);
    }
    turn ^= STATISTICS * BYTES;
  }
};

// The largest over a team: of numbers in whatever order, so the threads' share of the row does not matter.
template <class TEAM>
struct Largest;

template <>
struct Largest<LaneTeam> {
  struct Scratch {};
  __device__ __forceinline__ explicit Largest(Scratch&) {}
  __device__ __forceinline__ uint32_t operator()(const LaneTeam& team, uint32_t v) {
#pragma unroll
    for (unsigned step = WARP / 2; step > 0; step /= 2) {
      const uint32_t other = team.size > step ? __shfl_xor_sync(ALL_LANES, v, step) : v;
      v = other > v ? other : v;
    }
    return v;
  }
};

template <>
struct Largest<BlockTeam> {
  // Twice, as for sums.
  struct Scratch {
    uint32_t most[2][WARP];
  };
  Scratch& scratch;
  unsigned turn = 0;

  __device__ __forceinline__ explicit Largest(Scratch& scratch) : scratch(scratch) {}
  __device__ __forceinline__ uint32_t operator()(const BlockTeam& team, uint32_t v) {
    v = __reduce_max_sync(ALL_LANES, v);
    if (team.warps == 1) return v;
    auto& most = scratch.most[turn];
    turn ^= 1;
    if (team.lane == 0) most[team.warp] = v;
    __syncthreads();
    return __reduce_max_sync(ALL_LANES, team.lane < team.warps ? most[team.lane] : 0u);
  }
};

// The sum of a number of each thread of a team, in f64. Ends behind a barrier, so that `scratch` is free again and whatever
// the team read before the call may be overwritten after it.
template <class TEAM>
__device__ __forceinline__ double sum_f64(const TEAM& team, double v, double (&scratch)[32]) {
  v = team.sum_over_lanes(v);
  if constexpr (TEAM::IS_BLOCK) {
    if (team.lane == 0) scratch[team.warp] = v;
    __syncthreads();
    v = 0;
#pragma unroll 1
    for (unsigned w = 0; w < team.warps; w++) v += scratch[w];
    __syncthreads();
  } else {
    __syncwarp();
  }
  return v;
}

// The sum of f(i) over a row's `width` elements in f64, in an order that no team decides: element i belongs to slot i % 32, and
// the 32 slots are added one after the other. Every warp of a team goes over the whole row, so this is for rows that are
// rare and not long. Ends behind a barrier, as `sum_f64` does.
template <class TEAM, class F>
__device__ __forceinline__ double slot_sum_f64(const TEAM& team, int64_t width, F f) {
  const unsigned lanes = TEAM::IS_BLOCK ? WARP : team.size;
  double total = 0;
#pragma unroll 1
  for (unsigned first = 0; first < WARP; first += lanes) {
    double slot = 0;
#pragma unroll 1
    for (int64_t i = first + team.rank % lanes; i < width; i += WARP) slot += f(i);
#pragma unroll 1
    for (unsigned lane = 0; lane < lanes; lane++) total += __shfl_sync(ALL_LANES, slot, lane, lanes);
  }
  if constexpr (TEAM::IS_BLOCK) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  return total;
}

}  // namespace opweave
