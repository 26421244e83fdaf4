// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Tensors in the unified buffer and in global memory.

#pragma once

#include "core.h"

namespace AscendC {

// Global memory with its size, in elements: an access past it is a violation.
template <typename T>
class GlobalTensor {
 public:
  void SetGlobalBuffer(__gm__ T* buffer, uint64_t size) {
    base_ = buffer;
    size_ = size;
  }
  GlobalTensor operator[](uint64_t offset) const {
    GlobalTensor tensor = *this;
    tensor.base_ = reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(base_) + offset * sizeof(T));
    // A start past the end leaves nothing, which the first access reports.
    tensor.size_ = offset > size_ ? 0 : size_ - offset;
    return tensor;
  }
  uint64_t GetSize() const { return size_; }
  T* base() const { return base_; }
  // Bytes [at, at + bytes) from the start.
  uint8_t* access(uint64_t at, uint64_t bytes, bool writes, const char* what, Site site) const {
    if (bytes > size_ * sizeof(T) || at > size_ * sizeof(T) - bytes)
      emulation::core().fail(site, std::string(what) + " of global memory from byte " + std::to_string(at) + ", " +
                                       std::to_string(bytes) + " bytes: the tensor has " +
                                       std::to_string(size_ * sizeof(T)) + " from here on");
    uint8_t* address = reinterpret_cast<uint8_t*>(base_) + at;
    emulation::core().global(address, bytes, writes, what, site);
    return address;
  }

 private:
  T* base_ = nullptr;
  uint64_t size_ = 0;
};

// A part of a buffer of the unified buffer. It is good until the buffer is freed.
template <typename T>
class LocalTensor {
 public:
  LocalTensor() = default;
  LocalTensor(int buffer, uint32_t offset, uint32_t bytes)
      : buffer_(buffer), generation_(emulation::core().buffer(buffer).generation), offset_(offset), bytes_(bytes) {}

  LocalTensor operator[](uint32_t offset) const {
    LocalTensor tensor = *this;
    const uint64_t skip = static_cast<uint64_t>(offset) * sizeof(T);
    tensor.offset_ = offset_ + static_cast<uint32_t>(skip > bytes_ ? bytes_ : skip);
    tensor.bytes_ = skip > bytes_ ? 0 : bytes_ - static_cast<uint32_t>(skip);
    return tensor;
  }
  template <typename U>
  LocalTensor<U> ReinterpretCast() const {
    LocalTensor<U> tensor;
    tensor.buffer_ = buffer_;
    tensor.generation_ = generation_;
    tensor.offset_ = offset_;
    tensor.bytes_ = bytes_;
    return tensor;
  }
  uint32_t GetSize() const { return bytes_ / sizeof(T); }

  T GetValue(uint32_t index, Site site = Site::here()) const {
    emulation::Core& core = emulation::core();
    const uint32_t at = place(index * sizeof(T), sizeof(T), "GetValue", site);
    core.read(PIPE_S, core.issue(PIPE_S), at, sizeof(T), "GetValue", site);
    T value;
    std::memcpy(&value, core.memory() + at, sizeof(T));
    return value;
  }
  void SetValue(uint32_t index, T value, Site site = Site::here()) const {
    emulation::Core& core = emulation::core();
    const uint32_t at = place(index * sizeof(T), sizeof(T), "SetValue", site);
    core.write(PIPE_S, core.issue(PIPE_S), at, sizeof(T), "SetValue", site);
    std::memcpy(core.memory() + at, &value, sizeof(T));
  }

  // Where bytes [at, at + bytes) of the tensor are, which it must have, in a buffer that is the kernel's at this time.
  uint32_t place(uint64_t at, uint64_t bytes, const char* what, Site site) const {
    emulation::Core& core = emulation::core();
    if (buffer_ < 0) core.fail(site, std::string(what) + ": the tensor has no memory: expected AllocTensor, DeQue or Get");
    const emulation::Buffer& buffer = core.buffer(buffer_);
    if (buffer.generation != generation_ || buffer.state == emulation::State::FREE)
      core.fail(site, std::string(what) + ": the tensor was freed");
    if (buffer.state == emulation::State::QUEUED)
      core.fail(site, std::string(what) + ": the tensor is in its queue: expected DeQue before");
    if (bytes > bytes_ || at > bytes_ - bytes)
      core.fail(site, std::string(what) + " from byte " + std::to_string(at) + ", " + std::to_string(bytes) +
                          " bytes: the tensor has " + std::to_string(bytes_));
    return offset_ + static_cast<uint32_t>(at);
  }
  // The same for operands that must begin at a block.
  uint32_t block(uint64_t at, uint64_t bytes, const char* what, Site site) const {
    const uint32_t start = place(at, bytes, what, site);
    if (start % emulation::BLOCK != 0)
      emulation::core().fail(site, std::string(what) + " at byte " + std::to_string(start) +
                                       " of the unified buffer: expected a multiple of 32");
    return start;
  }
  int buffer() const { return buffer_; }
  uint32_t generation() const { return generation_; }

 private:
  template <typename U>
  friend class LocalTensor;
  int buffer_ = -1;
  uint32_t generation_ = 0;
  uint32_t offset_ = 0;
  uint32_t bytes_ = 0;
};

}  // namespace AscendC
