// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Exports kernels as the double of CANN's runtime calls them (tests/npu-double/host_kernel.h): a block for each call. The names are
// the kernels' own, so a source is included under other names (build.sh writes the file that does it).

#pragma once

#include <cstdio>
#include <tuple>
#include <utility>

#include "host_kernel.h"
#include "kernel_operator.h"

namespace emulation {

// Arguments as they lie: each at the next multiple of its alignment.
template <typename... A>
int32_t call(const char* name, void (*kernel)(A...), const opweave_host_block* block) {
  std::tuple<A...> arguments;
  uint64_t at = 0;
  bool whole = true;
  const auto take = [&](auto& argument) {
    using T = std::decay_t<decltype(argument)>;
    at = (at + alignof(T) - 1) / alignof(T) * alignof(T);
    if (at + sizeof(T) > block->args_size) {
      whole = false;
      return;
    }
    std::memcpy(&argument, static_cast<const uint8_t*>(block->args) + at, sizeof(T));
    at += sizeof(T);
  };
  std::apply([&](auto&... each) { (take(each), ...); }, arguments);
  std::string wrong;
  if (!whole || at != block->args_size)
    wrong = std::string(name) + ": " + std::to_string(block->args_size) + " bytes of arguments, and the kernel's are not as many";
  else
    wrong = run(name, block->block, block->blocks, nullptr, [&] { std::apply(kernel, arguments); });
  if (wrong.empty()) return 0;
  std::snprintf(block->message, block->message_size, "emulated kernel: %s", wrong.c_str());
  return 1;
}

}  // namespace emulation

#define OPWEAVE_HOST_KERNEL(NAME, KERNEL)                                     \
  extern "C" __attribute__((visibility("default"))) int32_t NAME(const opweave_host_block* block) { \
    return emulation::call(#NAME, KERNEL, block);                             \
  }
