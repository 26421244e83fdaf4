// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Buffers, queues and events.

#pragma once

#include <array>

#include "tensor.h"

namespace AscendC {

enum class TPosition { VECIN, VECOUT, VECCALC };

using TEventID = int8_t;

// From the pipe that sets to the pipe that waits.
enum class HardEvent { MTE2_V, V_MTE2, MTE3_V, V_MTE3, MTE3_MTE2, MTE2_MTE3, V_S, S_V, MTE2_S, S_MTE2, MTE3_S, S_MTE3 };

namespace detail {
constexpr int EVENT_PIPES[][2] = {{PIPE_MTE2, PIPE_V},    {PIPE_V, PIPE_MTE2},    {PIPE_MTE3, PIPE_V}, {PIPE_V, PIPE_MTE3},
                                  {PIPE_MTE3, PIPE_MTE2}, {PIPE_MTE2, PIPE_MTE3}, {PIPE_V, PIPE_S},    {PIPE_S, PIPE_V},
                                  {PIPE_MTE2, PIPE_S},    {PIPE_S, PIPE_MTE2},    {PIPE_MTE3, PIPE_S}, {PIPE_S, PIPE_MTE3}};
}  // namespace detail

template <HardEvent event>
void SetFlag(int id, Site site = Site::here()) {
  emulation::core().set_flag(static_cast<int>(event), detail::EVENT_PIPES[static_cast<int>(event)][0], id, site);
}

template <HardEvent event>
void WaitFlag(int id, Site site = Site::here()) {
  emulation::core().wait_flag(static_cast<int>(event), detail::EVENT_PIPES[static_cast<int>(event)][1], id, site);
}

template <pipe_t pipe>
void PipeBarrier(Site site = Site::here()) {
  emulation::core().barrier(pipe, site);
}

template <TPosition position>
class TBuf {
 public:
  template <typename T>
  LocalTensor<T> Get(Site site = Site::here()) {
    if (buffer_ < 0) emulation::core().fail(site, "Get of a TBuf without memory: expected InitBuffer before");
    const emulation::Buffer& buffer = emulation::core().buffer(buffer_);
    return LocalTensor<T>(buffer_, buffer.offset, buffer.bytes);
  }

 private:
  friend class TPipe;
  int buffer_ = -1;
};

// Tensors on their way from one pipe to the next: from MTE2 to the vector pipe (VECIN) or from there to MTE3 (VECOUT).
template <TPosition position, int32_t depth>
class TQue {
  static_assert(position != TPosition::VECCALC, "a queue is of VECIN or VECOUT");
  static_assert(depth > 0, "a queue has room for a tensor");
  static constexpr int producer = position == TPosition::VECIN ? PIPE_MTE2 : PIPE_V;
  static constexpr int consumer = position == TPosition::VECIN ? PIPE_V : PIPE_MTE3;

 public:
  template <typename T>
  LocalTensor<T> AllocTensor(Site site = Site::here()) {
    emulation::Core& core = emulation::core();
    if (number_ == 0) core.fail(site, "AllocTensor of a queue without memory: expected InitBuffer before");
    for (int tried = 0; tried < number_; ++tried) {
      const int index = (next_ + tried) % number_;
      emulation::Buffer& buffer = core.buffer(first_ + index);
      if (buffer.state != emulation::State::FREE) continue;
      next_ = (index + 1) % number_;
      buffer.state = emulation::State::ALLOCATED;
      ++buffer.generation;
      core.learn(producer, freed_[static_cast<size_t>(index)]);
      core.poison(buffer);
      return LocalTensor<T>(first_ + index, buffer.offset, buffer.bytes);
    }
    core.fail(site, "AllocTensor: all " + std::to_string(number_) + " buffers of the queue are in use: expected FreeTensor before");
  }

  template <typename T>
  void EnQue(const LocalTensor<T>& tensor, Site site = Site::here()) {
    emulation::Core& core = emulation::core();
    emulation::Buffer& buffer = own(tensor, "EnQue", site);
    if (buffer.state != emulation::State::ALLOCATED) core.fail(site, "EnQue of a tensor that is not fresh from AllocTensor");
    if (queued_ == depth)
      core.fail(site, "EnQue: the queue is " + std::to_string(depth) + " deep and full: expected DeQue before");
    buffer.state = emulation::State::QUEUED;
    const size_t at = static_cast<size_t>((head_ + queued_++) % depth);
    waiting_[at] = tensor.buffer();
    ready_[at] = core.finished(producer);
  }

  template <typename T>
  LocalTensor<T> DeQue(Site site = Site::here()) {
    emulation::Core& core = emulation::core();
    if (queued_ == 0) core.fail(site, "DeQue of an empty queue: expected EnQue before");
    const size_t at = static_cast<size_t>(head_);
    head_ = (head_ + 1) % depth;
    --queued_;
    emulation::Buffer& buffer = core.buffer(waiting_[at]);
    buffer.state = emulation::State::TAKEN;
    core.learn(consumer, ready_[at]);
    return LocalTensor<T>(waiting_[at], buffer.offset, buffer.bytes);
  }

  template <typename T>
  void FreeTensor(LocalTensor<T>& tensor, Site site = Site::here()) {
    emulation::Core& core = emulation::core();
    emulation::Buffer& buffer = own(tensor, "FreeTensor", site);
    if (buffer.state != emulation::State::TAKEN)
      core.fail(site, "FreeTensor of a tensor that did not go through the queue: expected EnQue and DeQue before");
    buffer.state = emulation::State::FREE;
    freed_[static_cast<size_t>(tensor.buffer() - first_)] = core.finished(consumer);
  }

 private:
  friend class TPipe;
  template <typename T>
  emulation::Buffer& own(const LocalTensor<T>& tensor, const char* what, Site site) {
    emulation::Core& core = emulation::core();
    if (tensor.buffer() < first_ || tensor.buffer() >= first_ + number_)
      core.fail(site, std::string(what) + " of a tensor of another queue");
    emulation::Buffer& buffer = core.buffer(tensor.buffer());
    if (buffer.generation != tensor.generation() || buffer.state == emulation::State::FREE)
      core.fail(site, std::string(what) + " of a tensor that was freed");
    return buffer;
  }

  int first_ = 0, number_ = 0, next_ = 0;
  std::array<int, depth> waiting_{};
  std::array<emulation::Clock, depth> ready_{};
  std::vector<emulation::Clock> freed_;
  int head_ = 0, queued_ = 0;
};

class TPipe {
 public:
  TPipe();
  ~TPipe();
  TPipe(const TPipe&) = delete;
  template <TPosition position, int32_t depth>
  bool InitBuffer(TQue<position, depth>& queue, uint8_t number, uint32_t bytes, Site site = Site::here()) {
    if (queue.number_ != 0) emulation::core().fail(site, "InitBuffer of a queue that has memory");
    for (int i = 0; i < number; ++i) {
      const int index = emulation::core().take(bytes, site);
      if (i == 0) queue.first_ = index;
    }
    queue.number_ = number;
    queue.freed_.assign(number, emulation::Clock{});
    return true;
  }
  template <TPosition position>
  bool InitBuffer(TBuf<position>& buf, uint32_t bytes, Site site = Site::here()) {
    if (buf.buffer_ >= 0) emulation::core().fail(site, "InitBuffer of a TBuf that has memory");
    buf.buffer_ = emulation::core().take(bytes, site);
    emulation::core().buffer(buf.buffer_).state = emulation::State::SCRATCH;
    return true;
  }
  // One id for each pair of pipes is enough for a kernel that waits where it sets.
  TEventID FetchEventID(HardEvent) { return 0; }
};

// The pipe that the kernel made.
inline TPipe*& current_pipe() {
  static thread_local TPipe* pipe = nullptr;
  return pipe;
}
inline TPipe::TPipe() { current_pipe() = this; }
inline TPipe::~TPipe() { current_pipe() = nullptr; }

}  // namespace AscendC

using event_t = AscendC::TEventID;

inline AscendC::TPipe* GetTPipePtr() {
  if (AscendC::current_pipe() == nullptr) emulation::core().fail({"", 0}, "GetTPipePtr without a TPipe");
  return AscendC::current_pipe();
}
