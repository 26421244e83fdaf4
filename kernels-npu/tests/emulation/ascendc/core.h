// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// One core: its unified buffer, what is known of every byte of it, and the order of its pipes.
//
// Scalar, vector and both copy pipes run on their own. An access is in order if everything that it conflicts with is known, by
// the pipe that makes it, to be finished; events and barriers hand that knowledge on (a vector clock for each pipe).

#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define GM_ADDR uint8_t*
#define KERNEL_TASK_TYPE_DEFAULT(type) static_cast<void>(0)

// The pipes by the names that they have for PipeBarrier.
enum pipe_t { PIPE_S, PIPE_V, PIPE_MTE2, PIPE_MTE3, PIPE_ALL };

namespace emulation {

constexpr uint32_t UNIFIED_BUFFER = 192 * 1024;
constexpr uint32_t BLOCK = 32;
constexpr int PIPES = 4;
constexpr int EVENT_IDS = 8;
constexpr int MAX_BUFFERS = 64;

// A call in the kernel's source.
struct Site {
  const char* file;
  int line;
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

// The end of a block: what was wrong, in words.
struct Violation : std::exception {
  std::string text;
  explicit Violation(std::string text) : text(std::move(text)) {}
  const char* what() const noexcept override { return text.c_str(); }
};

enum class State : uint8_t { FREE, ALLOCATED, QUEUED, TAKEN, SCRATCH };

// A buffer that a queue or a TBuf was given.
struct Buffer {
  uint32_t offset = 0;
  uint32_t bytes = 0;
  State state = State::FREE;
  uint32_t generation = 0;
};

using Clock = std::array<uint32_t, PIPES>;

// Bytes of global memory that a kernel has read or written, and where it did.
struct Touch {
  uintptr_t begin;
  uintptr_t end;
  bool writes;
  Site site;
};

class Launch;

// Whether bytes of global memory belong to somebody; given by whoever owns the memory, else nobody is asked.
using OwnsMemory = bool (*)(const void* address, size_t bytes);

class Core {
 public:
  uint8_t* memory() { return memory_; }
  uint32_t block = 0;
  uint32_t blocks = 1;
  OwnsMemory owns = nullptr;

  Core();
  void begin(const char* kernel, uint32_t block, uint32_t blocks, OwnsMemory owns);
  // What must hold when the kernel has returned.
  void end();
  [[noreturn]] void fail(Site site, const std::string& what) const;

  // The unified buffer.
  int take(uint32_t bytes, Site site);
  Buffer& buffer(int index) { return buffers_[static_cast<size_t>(index)]; }
  void poison(const Buffer& buffer);
  void poison(uint32_t offset, uint32_t bytes) { std::memset(known_ + offset, 0, bytes); }

  // Order. An operation is numbered by its pipe, and its accesses are checked and noted under that number.
  uint32_t issue(int pipe) { return ++issued_[pipe]; }
  void read(int pipe, uint32_t op, uint32_t offset, uint32_t bytes, const char* what, Site site);
  void write(int pipe, uint32_t op, uint32_t offset, uint32_t bytes, const char* what, Site site);
  void global(const void* address, size_t bytes, bool writes, const char* what, Site site);
  const std::vector<Touch>& touched() const { return touched_; }
  Clock finished(int pipe) const;
  void learn(int pipe, const Clock& clock);
  void barrier(int pipe, Site site);
  void set_flag(int event, int from, int id, Site site);
  void wait_flag(int event, int to, int id, Site site);

 private:
  struct Note {
    uint32_t written;
    Clock read;
    uint8_t writer;
  };
  struct Flag {
    bool set = false;
    Clock clock{};
  };
  [[noreturn]] void race(int pipe, int other, bool reads, uint32_t at, const char* what, Site site) const;

  alignas(64) uint8_t memory_[UNIFIED_BUFFER];
  uint8_t known_[UNIFIED_BUFFER];
  Note notes_[UNIFIED_BUFFER / BLOCK];
  uint32_t issued_[PIPES];
  Clock seen_[PIPES];
  Flag flags_[16][EVENT_IDS];
  std::vector<Buffer> buffers_;
  std::vector<Touch> touched_;
  uint32_t taken_ = UNIFIED_BUFFER;
  const char* kernel_ = "";
};

// The core that this thread plays.
Core& core();

// Runs `kernel` as one block of many on this thread, of `launch` if that is given; what was wrong, or nothing.
std::string run(const char* name, uint32_t block, uint32_t blocks, OwnsMemory owns, const std::function<void()>& kernel,
                Launch* launch = nullptr);

const char* pipe_name(int pipe);

// How far results of Div, Sqrt and Exp are moved from the nearest number, in places, up or down by their bits: the vendor's
// documents do not say how these round.
int disturbance();

}  // namespace emulation

namespace AscendC {
using emulation::Site;
inline uint32_t GetBlockIdx() { return emulation::core().block; }
inline uint32_t GetBlockNum() { return emulation::core().blocks; }
}  // namespace AscendC
