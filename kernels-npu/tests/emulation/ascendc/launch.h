// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// What the cores of one launch did to global memory. Nothing orders them: what one writes, no other may read or write.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "core.h"

namespace emulation {

// Bytes, as runs that neither touch nor overlap.
class Bytes {
 public:
  bool meets(uintptr_t begin, uintptr_t end) const {
    const auto after = runs_.lower_bound(end);
    return after != runs_.begin() && std::prev(after)->second > begin;
  }
  void add(uintptr_t begin, uintptr_t end) {
    auto at = runs_.upper_bound(begin);
    if (at != runs_.begin() && std::prev(at)->second >= begin) --at;
    while (at != runs_.end() && at->first <= end) {
      begin = at->first < begin ? at->first : begin;
      end = at->second > end ? at->second : end;
      at = runs_.erase(at);
    }
    runs_[begin] = end;
  }

 private:
  std::map<uintptr_t, uintptr_t> runs_;
};

class Launch {
 public:
  // Compares what a core that has returned did with what others did, and keeps it.
  void join(const Core& core) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Touch& touch : core.touched()) {
      const bool written = written_.meets(touch.begin, touch.end);
      if (written || (touch.writes && read_.meets(touch.begin, touch.end)))
        core.fail(touch.site, std::string(touch.writes ? "a write" : "a read") + " of global memory that another core " +
                                  (written ? "writes" : "reads") + ": nothing orders cores");
    }
    for (const Touch& touch : core.touched()) (touch.writes ? written_ : read_).add(touch.begin, touch.end);
  }
  // Whether all of so many cores have returned.
  bool is_over(uint32_t blocks) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ++returned_ == blocks;
  }

 private:
  std::mutex mutex_;
  Bytes read_, written_;
  uint32_t returned_ = 0;
};

}  // namespace emulation
