// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Kernels that run on this processor in place of an NPU: what a shared object must export so that the double of CANN's runtime
// (acl.cpp) loads it by aclrtBinaryLoadFromFile and launches it by aclrtLaunchKernelWithHostArgs.
#ifndef OPWEAVE_HOST_KERNEL_H
#define OPWEAVE_HOST_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of this interface. An object exports
//     const uint32_t opweave_host_kernel_abi = OPWEAVE_HOST_KERNEL_ABI;
// and the double refuses to load one that has no such symbol or another value.
#define OPWEAVE_HOST_KERNEL_ABI 1

// One block of one launch. The double calls it once for each block, every block on a thread of its own and all of them at once,
// so that blocks may wait for each other as cores do.
typedef struct {
    uint32_t block;      // which, from 0: GetBlockIdx()
    uint32_t blocks;     // of how many: GetBlockNum()
    const void *args;    // the kernel's arguments in their order, with placeholders filled in; the same for every block
    uint64_t args_size;  // bytes of them, and of what follows them
    char *message;       // where to say what went wrong: text with its end
    uint64_t message_size;
} opweave_host_block;

// A kernel is exported under the very name that aclrtBinaryGetFunction asks for. It returns 0, or a status that is not, with the
// message filled in; the double then fails the stream with a vector core exception, and the message is what aclGetRecentErrMsg says.
typedef int32_t (*opweave_host_kernel)(const opweave_host_block *block);

#ifdef __cplusplus
}
#endif
#endif
