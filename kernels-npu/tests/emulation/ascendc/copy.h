// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Copies between global memory and the unified buffer.

#pragma once

#include "tensor.h"

namespace AscendC {

// Blocks of bytes with gaps: on the global side in bytes, in the unified buffer in blocks of 32 bytes.
struct DataCopyExtParams {
  DataCopyExtParams() = default;
  DataCopyExtParams(uint16_t count, uint32_t length, uint32_t source, uint32_t target, uint32_t reserved)
      : blockCount(count), blockLen(length), srcStride(source), dstStride(target), rsv(reserved) {}
  uint16_t blockCount = 1;
  uint32_t blockLen = 0;
  uint32_t srcStride = 0;
  uint32_t dstStride = 0;
  uint32_t rsv = 0;
};

template <typename T>
struct DataCopyPadExtParams {
  DataCopyPadExtParams() = default;
  DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value)
      : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
  bool isPad = false;
  uint8_t leftPadding = 0;
  uint8_t rightPadding = 0;
  T paddingValue{};
};

namespace detail {

inline uint32_t in_blocks(uint64_t bytes) {
  return static_cast<uint32_t>((bytes + emulation::BLOCK - 1) / emulation::BLOCK * emulation::BLOCK);
}

inline void check_copy(const DataCopyExtParams& params, Site site) {
  if (params.blockCount < 1 || params.blockCount > 4095)
    emulation::core().fail(site, "DataCopyPad of " + std::to_string(params.blockCount) + " blocks: expected 1 to 4095");
  if (params.blockLen < 1 || params.blockLen > 2097151)
    emulation::core().fail(site, "DataCopyPad of blocks of " + std::to_string(params.blockLen) +
                                     " bytes: expected 1 to 2097151");
}

}  // namespace detail

// To the unified buffer; each block begins at 32 bytes, and what follows it up to the next 32 is padding or unknown.
template <typename T>
void DataCopyPad(const LocalTensor<T>& target, const GlobalTensor<T>& source, const DataCopyExtParams& params,
                 const DataCopyPadExtParams<T>& pad, Site site = Site::here()) {
  emulation::Core& core = emulation::core();
  detail::check_copy(params, site);
  if (pad.leftPadding != 0) core.fail(site, "DataCopyPad with padding on the left is not emulated");
  if (params.blockLen % sizeof(T) != 0)
    core.fail(site, "DataCopyPad of blocks of " + std::to_string(params.blockLen) + " bytes: expected whole elements");
  const uint32_t padded = params.blockLen + (pad.isPad ? pad.rightPadding * sizeof(T) : 0);
  if (pad.isPad && (pad.rightPadding * sizeof(T) > emulation::BLOCK || padded > detail::in_blocks(params.blockLen)))
    core.fail(site, "DataCopyPad with " + std::to_string(pad.rightPadding) + " elements of padding: expected no more than to 32 bytes");
  const uint32_t op = core.issue(PIPE_MTE2);
  const uint32_t whole = detail::in_blocks(params.blockLen);
  const uint64_t step = whole + static_cast<uint64_t>(params.dstStride) * emulation::BLOCK;
  for (uint64_t i = 0; i < params.blockCount; ++i) {
    const uint8_t* from = source.access(i * (static_cast<uint64_t>(params.blockLen) + params.srcStride), params.blockLen,
                                        false, "DataCopyPad: read", site);
    const uint32_t to = target.block(i * step, whole, "DataCopyPad: target", site);
    core.write(PIPE_MTE2, op, to, whole, "DataCopyPad: target", site);
    std::memcpy(core.memory() + to, from, params.blockLen);
    for (uint32_t at = params.blockLen; at < padded; at += sizeof(T))
      std::memcpy(core.memory() + to + at, &pad.paddingValue, sizeof(T));
    core.poison(to + padded, whole - padded);
  }
}

// To global memory, exactly the bytes of the blocks.
template <typename T>
void DataCopyPad(const GlobalTensor<T>& target, const LocalTensor<T>& source, const DataCopyExtParams& params,
                 Site site = Site::here()) {
  emulation::Core& core = emulation::core();
  detail::check_copy(params, site);
  const uint32_t op = core.issue(PIPE_MTE3);
  const uint64_t step = detail::in_blocks(params.blockLen) + static_cast<uint64_t>(params.srcStride) * emulation::BLOCK;
  for (uint64_t i = 0; i < params.blockCount; ++i) {
    const uint32_t from = source.block(i * step, params.blockLen, "DataCopyPad: source", site);
    core.read(PIPE_MTE3, op, from, params.blockLen, "DataCopyPad: source", site);
    uint8_t* to = target.access(i * (static_cast<uint64_t>(params.blockLen) + params.dstStride), params.blockLen,
                                true, "DataCopyPad: write", site);
    std::memcpy(to, core.memory() + from, params.blockLen);
  }
}

// Whole blocks of 32 bytes, from and to addresses of as much.
template <typename T>
void DataCopy(const LocalTensor<T>& target, const GlobalTensor<T>& source, uint32_t count, Site site = Site::here()) {
  emulation::Core& core = emulation::core();
  const uint32_t bytes = count * sizeof(T);
  if (bytes == 0 || bytes % emulation::BLOCK != 0)
    core.fail(site, "DataCopy of " + std::to_string(bytes) + " bytes: expected a multiple of 32, or DataCopyPad");
  const uint8_t* from = source.access(0, bytes, false, "DataCopy: read", site);
  if (reinterpret_cast<uintptr_t>(from) % emulation::BLOCK != 0)
    core.fail(site, "DataCopy from an address in global memory that is no multiple of 32: expected DataCopyPad");
  const uint32_t to = target.block(0, bytes, "DataCopy: target", site);
  core.write(PIPE_MTE2, core.issue(PIPE_MTE2), to, bytes, "DataCopy: target", site);
  std::memcpy(core.memory() + to, from, bytes);
}

template <typename T>
void DataCopy(const GlobalTensor<T>& target, const LocalTensor<T>& source, uint32_t count, Site site = Site::here()) {
  emulation::Core& core = emulation::core();
  const uint32_t bytes = count * sizeof(T);
  if (bytes == 0 || bytes % emulation::BLOCK != 0)
    core.fail(site, "DataCopy of " + std::to_string(bytes) + " bytes: expected a multiple of 32, or DataCopyPad");
  const uint32_t from = source.block(0, bytes, "DataCopy: source", site);
  core.read(PIPE_MTE3, core.issue(PIPE_MTE3), from, bytes, "DataCopy: source", site);
  uint8_t* to = target.access(0, bytes, true, "DataCopy: write", site);
  if (reinterpret_cast<uintptr_t>(to) % emulation::BLOCK != 0)
    core.fail(site, "DataCopy to an address in global memory that is no multiple of 32: expected DataCopyPad");
  std::memcpy(to, core.memory() + from, bytes);
}

}  // namespace AscendC
