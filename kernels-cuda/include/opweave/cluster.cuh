// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Blocks that share a row: what each finds out of its part goes into the shared memory of the others.
//
// A block alone is a cluster of one; then the barrier of the block is enough, and devices without clusters have no other.

#pragma once

#include <opweave/ptx.cuh>

namespace opweave {

struct Cluster {
  unsigned rank = ptx::cluster_rank();
  unsigned size = ptx::cluster_size();

  // Stands first: a block may not be written to before it runs. The other half is `await_peers`, before the first write.
  __device__ __forceinline__ void announce() const {
    if (size > 1) ptx::cluster_arrive();
  }
  __device__ __forceinline__ void await_peers() const {
    if (size > 1) ptx::cluster_wait();
  }

  // Lane b of the warp writes `v`, which all of its lanes have, to where block b has its `p`.
  __device__ __forceinline__ void publish(uint2* p, uint2 v, unsigned lane) const {
    if (size == 1) {
      if (lane == 0) *p = v;
    } else if (lane < size) {
      ptx::store_8_in_block(p, lane, v);
    }
  }

  // What any thread of the cluster has published before it is seen by every one after it.
  __device__ __forceinline__ void synchronize() const {
    if (size > 1) {
      ptx::cluster_arrive();
      ptx::cluster_wait();
    } else {
      __syncthreads();
    }
  }
};

}  // namespace opweave
