// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Programmatic dependent launch: a kernel may start while the one before it in the stream still runs.
//
// The two instructions exist from sm_90 on. Elsewhere both are nothing, and the host must not ask for a dependent launch: a
// kernel that does not wait would read what is not yet written. Descriptions say where they are (`dependent_launch`).

#pragma once

#include <opweave/ptx.cuh>

namespace opweave {

// Lets the next kernel of the stream begin as soon as every block of this grid has said so or ended. It stands first in a
// kernel: by then all blocks have a place, so the next grid's take none away, and the launch of that grid hides behind our
// work. It says nothing of our results; those are what the next kernel's own wait is for.
__device__ __forceinline__ void launch_dependents() {
  ptx::launch_dependents();
}

// Returns when every grid before this one has ended and its writes are to be seen. Each thread of each block executes it, before
// its first access to what another kernel may write or still read, also where it then finds nothing to do: a grid must not
// end before the one that it depends on, or the one after it would be let in too early.
__device__ __forceinline__ void wait_for_predecessors() {
  ptx::wait();
}

}  // namespace opweave
