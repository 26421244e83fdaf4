// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Exports kernels as the double of CANN's runtime calls them (tests/npu-double/host_kernel.h): a block for each call. The names are
// the kernels' own, so a source is included under other names (build.sh writes the file that does it).

#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "ascendc/launch.h"
#include "host_kernel.h"
#include "kernel_operator.h"

namespace emulation {

// The launch that a block is of. Its arguments are the same for all of its blocks, and nobody else's while one of them runs.
class Member {
 public:
  explicit Member(const opweave_host_block* block) : block_(block) {
    const std::lock_guard<std::mutex> lock(mutex());
    std::shared_ptr<Launch>& known = launches()[block->args];
    if (known == nullptr) known = std::make_shared<Launch>();
    launch_ = known;
  }
  ~Member() {
    const std::lock_guard<std::mutex> lock(mutex());
    if (launch_->is_over(block_->blocks)) launches().erase(block_->args);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  Launch* launch() const { return launch_.get(); }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static std::map<const void*, std::shared_ptr<Launch>>& launches() {
    static std::map<const void*, std::shared_ptr<Launch>> all;
    return all;
  }
  const opweave_host_block* block_;
  std::shared_ptr<Launch> launch_;
};

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
  const Member member(block);
  std::string wrong;
  if (!whole || at != block->args_size)
    wrong = std::string(name) + ": " + std::to_string(block->args_size) + " bytes of arguments, and the kernel's are not as many";
  else
    wrong = run(name, block->block, block->blocks, nullptr, [&] { std::apply(kernel, arguments); }, member.launch());
  if (wrong.empty()) return 0;
  std::snprintf(block->message, block->message_size, "emulated kernel: %s", wrong.c_str());
  return 1;
}

}  // namespace emulation

#define OPWEAVE_HOST_KERNEL(NAME, KERNEL)                                     \
  extern "C" __attribute__((visibility("default"))) int32_t NAME(const opweave_host_block* block) { \
    return emulation::call(#NAME, KERNEL, block);                             \
  }
