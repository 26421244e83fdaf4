// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

// Each rule of the emulation, broken on purpose: a kernel that breaks it must be stopped with the words that say so, and the same
// kernel without the break must run.

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include "ascendc/launch.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

constexpr uint32_t N = 64;
alignas(32) float memory[4 * N];

// What every rule starts from: two queues, a scratch buffer and global memory. One row goes in, is doubled and goes out.
struct Kernel {
  TPipe pipe;
  GlobalTensor<float> global;
  TQue<TPosition::VECIN, 1> in;
  TQue<TPosition::VECOUT, 1> out;
  TBuf<TPosition::VECCALC> buffer;
  LocalTensor<float> scratch;
  explicit Kernel(uint32_t bytes = N * 4) {
    global.SetGlobalBuffer(memory, 4 * N);
    pipe.InitBuffer(in, 1, bytes);
    pipe.InitBuffer(out, 1, bytes);
    pipe.InitBuffer(buffer, 4 * bytes);
    scratch = buffer.Get<float>();
  }
  LocalTensor<float> loaded(uint32_t count = N) {
    LocalTensor<float> tensor = in.AllocTensor<float>();
    DataCopyPad(tensor, global, DataCopyExtParams(1, count * 4, 0, 0, 0), DataCopyPadExtParams<float>());
    in.EnQue(tensor);
    return in.DeQue<float>();
  }
  void put(LocalTensor<float> tensor, uint32_t count = N) {
    out.EnQue(tensor);
    tensor = out.DeQue<float>();
    DataCopyPad(global[2 * N], tensor, DataCopyExtParams(1, count * 4, 0, 0, 0));
    out.FreeTensor(tensor);
  }
};

void right() {
  Kernel k;
  LocalTensor<float> x = k.loaded();
  LocalTensor<float> y = k.out.AllocTensor<float>();
  Add(y, x, x, N);
  k.in.FreeTensor(x);
  k.put(y);
}

struct Rule {
  const char* name;
  const char* words;
  std::function<void()> kernel;
};

const Rule RULES[] = {
    {"no EnQue and DeQue on the way in", "expected EnQue and DeQue, or SetFlag and WaitFlag of MTE2 to vector",
     [] {
       Kernel k;
       LocalTensor<float> x = k.in.AllocTensor<float>();
       DataCopyPad(x, k.global, DataCopyExtParams(1, N * 4, 0, 0, 0), DataCopyPadExtParams<float>());
       Add(k.scratch, x, x, N);
     }},
    {"EnQue without DeQue", "the tensor is in its queue: expected DeQue",
     [] {
       Kernel k;
       LocalTensor<float> x = k.in.AllocTensor<float>();
       DataCopyPad(x, k.global, DataCopyExtParams(1, N * 4, 0, 0, 0), DataCopyPadExtParams<float>());
       k.in.EnQue(x);
       Add(k.scratch, x, x, N);
     }},
    {"no EnQue and DeQue on the way out", "of vector to MTE3",
     [] {
       Kernel k;
       Duplicate(k.scratch, 1.0f, N);
       DataCopyPad(k.global, k.scratch, DataCopyExtParams(1, N * 4, 0, 0, 0));
     }},
    {"a buffer filled again while it is read", "of vector to MTE2",
     [] {
       Kernel k;
       LocalTensor<float> x = k.loaded();
       Add(k.scratch, x, x, N);
       DataCopyPad(x, k.global, DataCopyExtParams(1, N * 4, 0, 0, 0), DataCopyPadExtParams<float>());
     }},
    {"a buffer filled again while it leaves", "of MTE3 to vector",
     [] {
       Kernel k;
       Duplicate(k.scratch, 1.0f, N);
       SetFlag<HardEvent::V_MTE3>(0);
       WaitFlag<HardEvent::V_MTE3>(0);
       DataCopyPad(k.global, k.scratch, DataCopyExtParams(1, N * 4, 0, 0, 0));
       Duplicate(k.scratch, 2.0f, N);
     }},
    {"no barrier between vector instructions", "expected PipeBarrier between the two",
     [] {
       Kernel k;
       Duplicate(k.scratch, 1.0f, N);
       Muls(k.scratch, k.scratch, 2.0f, N);
     }},
    {"no barrier between copies to one place", "expected PipeBarrier between the two",
     [] {
       Kernel k;
       for (int i = 0; i < 2; ++i)
         DataCopyPad(k.scratch, k.global, DataCopyExtParams(1, 32, 0, 0, 0), DataCopyPadExtParams<float>());
     }},
    {"a scalar read of what the vector pipe writes", "of vector to scalar",
     [] {
       Kernel k;
       Duplicate(k.scratch, 1.0f, N);
       k.scratch.GetValue(0);
     }},
    {"a vector read of what the scalar pipe wrote", "of scalar to vector",
     [] {
       Kernel k;
       for (uint32_t i = 0; i < 8; ++i) k.scratch.SetValue(i, 1.0f);
       Muls(k.scratch[8], k.scratch, 2.0f, 8);
     }},
    {"a barrier of the scalar pipe", "PipeBarrier<PIPE_S>", [] { PipeBarrier<PIPE_S>(); }},
    {"memory that nobody wrote", "was never written",
     [] {
       Kernel k;
       Muls(k.scratch, k.scratch, 2.0f, N);
     }},
    {"the rest of a block behind a copy", "at byte 148 of 256 was never written",
     [] {
       Kernel k;
       LocalTensor<float> x = k.loaded(37);
       Muls(k.scratch, x, 2.0f, N);
     }},
    {"a reused buffer's old contents", "was never written",
     [] {
       Kernel k;
       LocalTensor<float> x = k.loaded();
       k.in.FreeTensor(x);
       x = k.loaded(1);
       Muls(k.scratch, x, 2.0f, N);
     }},
    {"scratch of a reduction, read", "was never written",
     [] {
       Kernel k;
       LocalTensor<float> x = k.loaded();
       ReduceSum(k.scratch, x, k.scratch[8], N);
       PipeBarrier<PIPE_V>();
       Muls(k.scratch[16], k.scratch[8], 1.0f, 8);
     }},
    {"the largest of numbers and NaN", "was never written",
     [] {
       Kernel k;
       memory[3] = std::nanf("");
       LocalTensor<float> x = k.loaded();
       memory[3] = 0.0f;
       ReduceMax(k.scratch, x, k.scratch[8], N);
       PipeBarrier<PIPE_V>();
       Muls(k.scratch[16], k.scratch, 1.0f, 1);
     }},
    {"a vector operand in the middle of a block", "expected a multiple of 32",
     [] {
       Kernel k;
       Duplicate(k.scratch[1], 1.0f, 8);
     }},
    {"a copy to the middle of a block", "expected a multiple of 32",
     [] {
       Kernel k;
       DataCopyPad(k.scratch[4], k.global, DataCopyExtParams(1, 4, 0, 0, 0), DataCopyPadExtParams<float>());
     }},
    {"DataCopy of no whole blocks", "expected a multiple of 32, or DataCopyPad", [] {
       Kernel k;
       DataCopy(k.scratch, k.global, 9);
     }},
    {"DataCopy from an odd address", "expected DataCopyPad", [] {
       Kernel k;
       DataCopy(k.scratch, k.global[1], 8);
     }},
    {"DataCopy of no whole blocks, out", "expected a multiple of 32, or DataCopyPad",
     [] {
       Kernel k;
       Duplicate(k.scratch, 1.0f, N);
       SetFlag<HardEvent::V_MTE3>(0);
       WaitFlag<HardEvent::V_MTE3>(0);
       DataCopy(k.global, k.scratch, 9);
     }},
    {"DataCopy to an odd address", "expected DataCopyPad",
     [] {
       Kernel k;
       Duplicate(k.scratch, 1.0f, N);
       SetFlag<HardEvent::V_MTE3>(0);
       WaitFlag<HardEvent::V_MTE3>(0);
       DataCopy(k.global[1], k.scratch, 8);
     }},
    {"DataCopyPad of half an element", "expected whole elements",
     [] {
       Kernel k;
       DataCopyPad(k.scratch, k.global, DataCopyExtParams(1, 6, 0, 0, 0), DataCopyPadExtParams<float>());
     }},
    {"DataCopyPad of too many blocks", "expected 1 to 4095",
     [] {
       Kernel k;
       DataCopyPad(k.scratch, k.global, DataCopyExtParams(4096, 4, 0, 0, 0), DataCopyPadExtParams<float>());
     }},
    {"DataCopyPad of nothing", "expected 1 to 2097151",
     [] {
       Kernel k;
       DataCopyPad(k.scratch, k.global, DataCopyExtParams(1, 0, 0, 0, 0), DataCopyPadExtParams<float>());
     }},
    {"more padding than there is room for", "expected no more than to 32 bytes",
     [] {
       Kernel k;
       DataCopyPad(k.scratch, k.global, DataCopyExtParams(1, 28, 0, 0, 0), DataCopyPadExtParams<float>(true, 0, 2, 0.0f));
     }},
    {"a read behind the end of global memory", "read of global memory from byte 0, 260 bytes: the tensor has 256",
     [] {
       Kernel k;
       DataCopyPad(k.scratch, k.global[3 * N], DataCopyExtParams(1, N * 4 + 4, 0, 0, 0), DataCopyPadExtParams<float>());
     }},
    {"a write behind the end of global memory", "write of global memory",
     [] {
       Kernel k;
       LocalTensor<float> y = k.out.AllocTensor<float>();
       Duplicate(y, 1.0f, N);
       k.out.EnQue(y);
       y = k.out.DeQue<float>();
       DataCopyPad(k.global[4 * N - 1], y, DataCopyExtParams(1, 8, 0, 0, 0));
     }},
    {"a vector behind the end of its tensor", "the tensor has 256",
     [] {
       Kernel k;
       LocalTensor<float> x = k.loaded();
       Muls(k.scratch, x, 1.0f, N + 1);
     }},
    {"nothing to compute", "of 0 elements",
     [] {
       Kernel k;
       Duplicate(k.scratch, 1.0f, 0);
     }},
    {"a mask of more than a repeat", "with a mask of 65: expected 1 to 64",
     [] {
       Kernel k;
       Add(k.scratch, k.scratch, k.scratch, uint64_t{65}, uint8_t{1}, BinaryRepeatParams());
     }},
    {"no repeats", "of 0 repeats: expected 1 to 255",
     [] {
       Kernel k;
       Add(k.scratch, k.scratch, k.scratch, uint64_t{64}, uint8_t{0}, BinaryRepeatParams());
     }},
    {"what a mask leaves out", "at byte 160 of 256 was never written",
     [] {
       Kernel k;
       Duplicate(k.scratch, 1.0f, N);
       PipeBarrier<PIPE_V>();
       Add(k.scratch[N], k.scratch, k.scratch, uint64_t{40}, uint8_t{1}, BinaryRepeatParams());
       PipeBarrier<PIPE_V>();
       Muls(k.scratch[2 * N], k.scratch[N], 2.0f, N);
     }},
    {"repeats behind the end", "the tensor has 1024",
     [] {
       Kernel k;
       Duplicate(k.scratch, 1.0f, 4 * N);
       PipeBarrier<PIPE_V>();
       Add(k.scratch, k.scratch, k.scratch, uint64_t{64}, uint8_t{5}, BinaryRepeatParams());
     }},
    {"more than the unified buffer", "of the unified buffer's 196608 are left", [] { Kernel k(32 * 1024 + 32); }},
    {"a buffer twice in use", "all 1 buffers of the queue are in use: expected FreeTensor",
     [] {
       Kernel k;
       k.in.AllocTensor<float>();
       k.in.AllocTensor<float>();
     }},
    {"a queue deeper than it is", "the queue is 1 deep and full",
     [] {
       TPipe pipe;
       TQue<TPosition::VECIN, 1> queue;
       pipe.InitBuffer(queue, 2, 32);
       for (int i = 0; i < 2; ++i) queue.EnQue(queue.AllocTensor<float>());
     }},
    {"DeQue of nothing", "DeQue of an empty queue",
     [] {
       Kernel k;
       k.in.DeQue<float>();
     }},
    {"a tensor used after it was freed", "the tensor was freed",
     [] {
       Kernel k;
       LocalTensor<float> x = k.loaded();
       k.in.FreeTensor(x);
       Muls(k.scratch, x, 1.0f, N);
     }},
    {"a tensor freed twice", "that was freed",
     [] {
       Kernel k;
       LocalTensor<float> x = k.loaded();
       k.in.FreeTensor(x);
       k.in.FreeTensor(x);
     }},
    {"a tensor of another queue", "of a tensor of another queue",
     [] {
       Kernel k;
       LocalTensor<float> x = k.loaded();
       k.out.FreeTensor(x);
     }},
    {"a tensor that is not freed", "every AllocTensor needs a FreeTensor", [] {
       Kernel k;
       k.loaded();
     }},
    {"a tensor left in its queue", "every EnQue needs a DeQue",
     [] {
       Kernel k;
       k.in.EnQue(k.in.AllocTensor<float>());
     }},
    {"an event left set", "every SetFlag needs a WaitFlag", [] { SetFlag<HardEvent::V_S>(0); }},
    {"an event that nobody sets", "the core would wait for ever", [] { WaitFlag<HardEvent::V_S>(0); }},
    {"an event set twice", "SetFlag of an event that is set",
     [] {
       SetFlag<HardEvent::V_S>(0);
       SetFlag<HardEvent::V_S>(0);
     }},
    {"an event of another name", "there are 0 to 7", [] { SetFlag<HardEvent::V_S>(8); }},
    {"a rounding that the pair does not have", "Cast with another rounding than CAST_NONE",
     [] {
       Kernel k;
       Duplicate(k.scratch, 1.0f, N);
       PipeBarrier<PIPE_V>();
       Cast(k.scratch[N], k.scratch.ReinterpretCast<half>(), RoundMode::CAST_RINT, N);
     }},
    {"a wider dtype in place", "Cast to a wider dtype in place",
     [] {
       Kernel k;
       Duplicate(k.scratch, 1.0f, N);
       PipeBarrier<PIPE_V>();
       Cast(k.scratch, k.scratch.ReinterpretCast<half>(), RoundMode::CAST_NONE, N);
     }},
    {"a gather between elements", "expected a multiple of 4",
     [] {
       Kernel k;
       Duplicate(k.scratch.ReinterpretCast<uint32_t>(), uint32_t{2}, 8);
       PipeBarrier<PIPE_V>();
       Gather(k.scratch[8], k.scratch, k.scratch.ReinterpretCast<uint32_t>(), 0, 8);
     }},
    {"memory that no allocation covers", "that no allocation covers", [] {
       emulation::core().owns = [](const void*, size_t) { return false; };
       right();
     }},
};

// Two cores of one launch, one after the other: the second is told what the first did.
struct Pair {
  const char* name;
  const char* words;  // none where nothing is wrong
  std::function<void()> first, second;
};

// Copies 8 elements in from `from`, and out to `to`.
void moved(uint32_t from, uint32_t to) {
  Kernel k;
  DataCopyPad(k.scratch, k.global[from], DataCopyExtParams(1, 32, 0, 0, 0), DataCopyPadExtParams<float>());
  SetFlag<HardEvent::MTE2_MTE3>(0);
  WaitFlag<HardEvent::MTE2_MTE3>(0);
  DataCopyPad(k.global[to], k.scratch, DataCopyExtParams(1, 32, 0, 0, 0));
}

const Pair PAIRS[] = {
    {"cores side by side", "", [] { moved(0, 64); }, [] { moved(0, 72); }},
    {"cores that work in place", "", [] { moved(0, 0); }, [] { moved(8, 8); }},
    {"two cores that write one element", "a write of global memory that another core writes", [] { moved(0, 64); },
     [] { moved(0, 71); }},
    {"a core that reads what another writes", "a read of global memory that another core writes", [] { moved(0, 64); },
     [] { moved(64, 72); }},
    {"a core that writes what another reads", "a write of global memory that another core reads", [] { moved(0, 64); },
     [] { moved(8, 7); }},
};

int failures = 0;

void expect(bool good, const std::string& what) {
  if (good) return;
  std::printf("FAILED %s\n", what.c_str());
  ++failures;
}

// Conversions against arithmetic in f64, over every bit pattern of 16 bits and around every tie.
void numbers() {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    half h;
    h.bits = static_cast<uint16_t>(bits);
    const float wide = static_cast<float>(h);
    if (wide != wide) continue;
    expect(half(wide).bits == h.bits, "half " + std::to_string(bits) + " comes back");
    if ((bits & 0x7fff) < 0x7bff) {
      half more;
      more.bits = static_cast<uint16_t>(bits + 1);
      const float middle = (wide + static_cast<float>(more)) / 2;
      expect(half(middle).bits == (bits % 2 == 0 ? bits : bits + 1), "the tie behind half " + std::to_string(bits));
      expect(half(std::nextafter(middle, wide)).bits == bits, "before the tie behind half " + std::to_string(bits));
    }
    bfloat16_t b;
    b.bits = static_cast<uint16_t>(bits);
    expect(static_cast<float>(b) != static_cast<float>(b) || bfloat16_t(static_cast<float>(b)).bits == bits,
           "bfloat16 " + std::to_string(bits) + " comes back");
  }
  expect(half(65520.0f).bits == 0x7c00 && half(65519.0f).bits == 0x7bff, "the largest half");
}

}  // namespace

int main() {
  const std::string wrong = emulation::run("right", 0, 1, nullptr, right);
  expect(wrong.empty(), "the right kernel: " + wrong);
  for (const Rule& rule : RULES) {
    const std::string said = emulation::run("rule", 3, 4, nullptr, rule.kernel);
    const bool placed = said.find("rule block 3: ") == 0 && (said.find("rules.cpp:") != std::string::npos ||
                                                             said.find("end of kernel") != std::string::npos);
    expect(placed && said.find(rule.words) != std::string::npos, std::string(rule.name) + ": said `" + said + "`");
  }
  for (const Pair& pair : PAIRS) {
    emulation::Launch launch;
    const std::string before = emulation::run("pair", 0, 2, nullptr, pair.first, &launch);
    const std::string said = emulation::run("pair", 1, 2, nullptr, pair.second, &launch);
    const bool stopped = said.find("pair block 1: ") == 0 && said.find(pair.words) != std::string::npos;
    expect(before.empty() && (*pair.words == 0 ? said.empty() : stopped), std::string(pair.name) + ": said `" + said + "`");
  }
  // What a broken block leaves does not reach the next.
  expect(emulation::run("right", 0, 1, nullptr, right).empty(), "the right kernel after the others");
  std::thread others[4];
  std::string said[4];
  for (int i = 0; i < 4; ++i)
    others[i] = std::thread([&said, i] { said[i] = emulation::run("blocks", static_cast<uint32_t>(i), 4, nullptr, [i] {
      if (GetBlockIdx() != static_cast<uint32_t>(i) || GetBlockNum() != 4) emulation::core().fail({"", 0}, "another block");
      TPipe pipe;
      TBuf<TPosition::VECCALC> buffer;
      pipe.InitBuffer(buffer, 1024);
      Duplicate(buffer.Get<float>(), static_cast<float>(i), 256);
    }); });
  for (int i = 0; i < 4; ++i) {
    others[i].join();
    expect(said[i].empty(), "a block on its thread: " + said[i]);
  }
  numbers();
  size_t rules = sizeof RULES / sizeof RULES[0];
  for (const Pair& pair : PAIRS) rules += *pair.words == 0 ? 0 : 1;
  if (failures == 0) std::printf("%zu rules, each broken and seen\n", rules);
  return failures == 0 ? 0 : 1;
}
