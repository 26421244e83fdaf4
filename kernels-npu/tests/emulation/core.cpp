// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

#include "ascendc/launch.h"

#include <cstdlib>
#include <memory>
#include <mutex>

namespace emulation {

namespace {
// Contents of memory that nobody wrote: NaN as f32, f16 and bf16.
constexpr int POISON = 0xff;
}  // namespace

// Cores wait here for the next block: they are large, and what they note is as good as new after `begin`.
std::mutex idle_mutex;
std::vector<std::unique_ptr<Core>> idle;
thread_local Core* current = nullptr;

Core& core() { return *current; }

std::string run(const char* name, uint32_t block, uint32_t blocks, OwnsMemory owns, const std::function<void()>& kernel,
                Launch* launch) {
  std::unique_ptr<Core> own;
  {
    const std::lock_guard<std::mutex> lock(idle_mutex);
    if (!idle.empty()) {
      own = std::move(idle.back());
      idle.pop_back();
    }
  }
  if (own == nullptr) own = std::make_unique<Core>();
  current = own.get();
  std::string wrong;
  try {
    own->begin(name, block, blocks, owns);
    kernel();
    own->end();
    if (launch != nullptr) launch->join(*own);
  } catch (const Violation& violation) {
    wrong = violation.text;
  }
  current = nullptr;
  const std::lock_guard<std::mutex> lock(idle_mutex);
  idle.push_back(std::move(own));
  return wrong;
}

const char* pipe_name(int pipe) {
  static const char* const names[] = {"scalar", "vector", "MTE2", "MTE3"};
  return names[pipe];
}

int disturbance() {
  static const int places = [] {
    const char* text = std::getenv("OPWEAVE_EMULATED_ULP");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return places;
}

Core::Core() { begin("", 0, 1, nullptr); }

void Core::begin(const char* kernel, uint32_t block, uint32_t blocks, OwnsMemory owns) {
  kernel_ = kernel;
  this->block = block;
  this->blocks = blocks;
  this->owns = owns;
  // What the block before took is all that it can have touched.
  std::memset(memory_, POISON, taken_);
  std::memset(known_, 0, taken_);
  std::memset(static_cast<void*>(notes_), 0, taken_ / BLOCK * sizeof(Note));
  std::memset(issued_, 0, sizeof issued_);
  std::memset(static_cast<void*>(seen_), 0, sizeof seen_);
  for (auto& event : flags_)
    for (Flag& flag : event) flag = Flag{};
  buffers_.clear();
  touched_.clear();
  taken_ = 0;
}

void Core::end() {
  const Site site{"end of kernel", 0};
  for (const Buffer& buffer : buffers_) {
    if (buffer.state == State::QUEUED) fail(site, "a tensor is still in its queue: every EnQue needs a DeQue");
    if (buffer.state == State::ALLOCATED || buffer.state == State::TAKEN)
      fail(site, "a tensor was not freed: every AllocTensor needs a FreeTensor");
  }
  for (auto& event : flags_)
    for (const Flag& flag : event)
      if (flag.set) fail(site, "an event is still set: every SetFlag needs a WaitFlag, or the next kernel meets it");
}

void Core::fail(Site site, const std::string& what) const {
  std::string file = site.file;
  const size_t at = file.find("kernels-npu/");
  if (at != std::string::npos) file = file.substr(at + 12);
  throw Violation(std::string(kernel_) + " block " + std::to_string(block) + ": " + file + ":" +
                  std::to_string(site.line) + ": " + what);
}

int Core::take(uint32_t bytes, Site site) {
  if (bytes == 0) fail(site, "InitBuffer of 0 bytes");
  const uint32_t rounded = (bytes + BLOCK - 1) / BLOCK * BLOCK;
  if (rounded > UNIFIED_BUFFER - taken_)
    fail(site, "InitBuffer of " + std::to_string(bytes) + " bytes: " + std::to_string(UNIFIED_BUFFER - taken_) +
                   " of the unified buffer's " + std::to_string(UNIFIED_BUFFER) + " are left");
  if (buffers_.size() == MAX_BUFFERS) fail(site, "more than 64 buffers");
  buffers_.push_back(Buffer{taken_, rounded, State::FREE, 0});
  taken_ += rounded;
  return static_cast<int>(buffers_.size()) - 1;
}

void Core::poison(const Buffer& buffer) {
  std::memset(known_ + buffer.offset, 0, buffer.bytes);
  std::memset(memory_ + buffer.offset, POISON, buffer.bytes);
}

void Core::race(int pipe, int other, bool reads, uint32_t at, const char* what, Site site) const {
  std::string text = std::string(what) + " at byte " + std::to_string(at) + " of the unified buffer: the " +
                     pipe_name(pipe) + " pipe may meet it while the " + pipe_name(other) + " pipe still " +
                     (reads ? "reads" : "writes") + "; expected ";
  if (pipe == other)
    fail(site, text + "PipeBarrier between the two");
  fail(site, text + "EnQue and DeQue, or SetFlag and WaitFlag of " + pipe_name(other) + " to " + pipe_name(pipe));
}

void Core::read(int pipe, uint32_t op, uint32_t offset, uint32_t bytes, const char* what, Site site) {
  if (bytes == 0) return;
  // Order before contents: what is not finished is not there either, and the first is the reason.
  for (uint32_t at = offset / BLOCK; at <= (offset + bytes - 1) / BLOCK; ++at) {
    Note& note = notes_[at];
    if (note.written > seen_[pipe][note.writer] && !(note.writer == pipe && (pipe == PIPE_S || note.written == op)))
      race(pipe, note.writer, false, at * BLOCK, what, site);
    note.read[static_cast<size_t>(pipe)] = op;
  }
  const void* hole = std::memchr(known_ + offset, 0, bytes);
  if (hole != nullptr)
    fail(site, std::string(what) + " at byte " +
                   std::to_string(static_cast<const uint8_t*>(hole) - (known_ + offset)) + " of " +
                   std::to_string(bytes) + " was never written: expected initialised memory");
}

void Core::write(int pipe, uint32_t op, uint32_t offset, uint32_t bytes, const char* what, Site site) {
  if (bytes == 0) return;
  for (uint32_t at = offset / BLOCK; at <= (offset + bytes - 1) / BLOCK; ++at) {
    Note& note = notes_[at];
    // Within a pipe operands are read before what follows is written.
    for (int other = 0; other < PIPES; ++other)
      if (other != pipe && note.read[static_cast<size_t>(other)] > seen_[pipe][static_cast<size_t>(other)])
        race(pipe, other, true, at * BLOCK, what, site);
    if (note.written > seen_[pipe][note.writer] && !(note.writer == pipe && (pipe == PIPE_S || note.written == op)))
      race(pipe, note.writer, false, at * BLOCK, what, site);
    note.written = op;
    note.writer = static_cast<uint8_t>(pipe);
  }
  std::memset(known_ + offset, 1, bytes);
}

void Core::global(const void* address, size_t bytes, bool writes, const char* what, Site site) {
  if (owns != nullptr && bytes > 0 && !owns(address, bytes))
    fail(site, std::string(what) + ": " + std::to_string(bytes) + " bytes of global memory that no allocation covers");
  const uintptr_t begin = reinterpret_cast<uintptr_t>(address), end = begin + bytes;
  if (bytes == 0) return;
  if (!touched_.empty()) {
    // A row after a row is one run, unless they have gaps.
    Touch& last = touched_.back();
    if (last.writes == writes && last.end == begin && last.site.line == site.line) {
      last.end = end;
      return;
    }
  }
  touched_.push_back(Touch{begin, end, writes, site});
}

Clock Core::finished(int pipe) const {
  Clock clock = seen_[pipe];
  clock[static_cast<size_t>(pipe)] = issued_[pipe];
  return clock;
}

void Core::learn(int pipe, const Clock& clock) {
  for (size_t other = 0; other < PIPES; ++other)
    if (clock[other] > seen_[pipe][other]) seen_[pipe][other] = clock[other];
}

void Core::barrier(int pipe, Site site) {
  if (pipe == PIPE_S) fail(site, "PipeBarrier<PIPE_S>: the scalar pipe keeps its own order, and the hardware refuses it");
  if (pipe == PIPE_ALL) {
    for (int one = 0; one < PIPES; ++one)
      for (size_t other = 0; other < PIPES; ++other) seen_[one][other] = issued_[other];
  } else {
    seen_[pipe][static_cast<size_t>(pipe)] = issued_[pipe];
  }
}

void Core::set_flag(int event, int from, int id, Site site) {
  if (id < 0 || id >= EVENT_IDS) fail(site, "SetFlag of event " + std::to_string(id) + ": there are 0 to 7");
  Flag& flag = flags_[event][id];
  if (flag.set) fail(site, "SetFlag of an event that is set: expected WaitFlag before");
  flag.set = true;
  flag.clock = finished(from);
}

void Core::wait_flag(int event, int to, int id, Site site) {
  if (id < 0 || id >= EVENT_IDS) fail(site, "WaitFlag of event " + std::to_string(id) + ": there are 0 to 7");
  Flag& flag = flags_[event][id];
  if (!flag.set) fail(site, "WaitFlag of an event that nobody set: the core would wait for ever");
  flag.set = false;
  learn(to, flag.clock);
}

}  // namespace emulation
