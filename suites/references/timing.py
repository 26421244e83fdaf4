# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""How adapters in PyTorch take samples: as opweave's own timers do.

Graph: `calls` calls over `sets` sets of arguments in a graph, `turns` such graphs in rotation, each replay between two
events. What ran last runs once more ahead of it, so that the device is busy while the host hands over what is timed.
Kernel: the device's own records of what one call ran, kernels and copies, added up, without what lies between them. Event: one
call between two events. Wall: one call by the host's clock, on the CPU. Bytes are flushed each time the rotation comes around,
outside the interval.
"""
import time

import torch
from safetensors.torch import load_file, save_file

from dialogue import Case

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
}


class Timed:
    """A case on the device, prepared and validated by the harness, ready to be timed."""

    def __init__(self, device, call, inputs):
        self.device = device
        self.call = call
        self.inputs = inputs

    @staticmethod
    def prepare(ask, build):
        """Builds a case, calls it once and leaves its outputs where the harness looks for them."""
        torch.set_grad_enabled(False)
        device = torch.device(ask["device"])
        inputs = load_file(ask["inputs_file"], device=str(device))
        case = Case(ask["operation"], ask["label"], ask["problem"], ask["scalars"], inputs, ask["outputs"])
        built = build(case)
        found = built.call({name: tensor.clone() for name, tensor in inputs.items()})
        outputs = {}
        for wanted in case.outputs:
            tensor = found[wanted["name"]]
            if tensor.dtype != DTYPES[wanted["dtype"]]:
                raise TypeError(f"{wanted['name']} came as {tensor.dtype}, wanted {wanted['dtype']}")
            outputs[wanted["name"]] = tensor.reshape(wanted["shape"]).contiguous()
        save_file(outputs, ask["outputs_file"])
        return Timed(device, built.call, inputs), built.notes

    def arrange(self, timer, cache, calls, sets, turns, flush_bytes):
        """Makes the sets of arguments, and the graphs over them."""
        del cache  # Says what the other numbers come to.
        self.runs = []
        on_gpu = {"kernel": self._single, "graph": self._graph, "event": self._single}
        timers = {"cpu": {"wall": self._single}, "cuda": on_gpu}[self.device.type]
        if timer not in timers:
            raise ValueError(f"there is no timer {timer} on {self.device.type} here: {', '.join(timers)}")
        self.calls, self.at, self.used, self.timer = calls, 0, False, timer
        self.flush = torch.zeros(flush_bytes // 4, device=self.device) if flush_bytes else None
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
            torch.cuda.empty_cache()
            self.stream = torch.cuda.Stream()
            self.before, self.after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.runs = [timers[timer]([self._copy() for _ in range(sets)]) for _ in range(turns)]
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def _copy(self):
        return {name: tensor.clone() for name, tensor in self.inputs.items()}

    def _graph(self, sets):
        with torch.cuda.stream(self.stream):
            # Whatever a library compiles or picks on its first call is not for a capture.
            for _ in range(2):
                self.call(sets[0])
        self.stream.synchronize()
        graph, kept = torch.cuda.CUDAGraph(), [None] * len(sets)
        with torch.cuda.graph(graph, stream=self.stream):
            for call in range(self.calls):
                # Outputs stay alive with their set, as memory that a caller owns would.
                kept[call % len(sets)] = self.call(sets[call % len(sets)])
        return Run(graph.replay, True, (graph, sets, kept))

    def _single(self, sets):
        return Run(lambda: self.call(sets[0]), False, sets)

    def sample(self):
        """Microseconds per call."""
        if self.device.type == "cpu":
            return self._wall()
        with torch.cuda.stream(self.stream):
            if self.used and self.runs[self.at].ahead:
                self.runs[self.at].run()
            self._turn()
            if self.timer == "kernel":
                return self._kernels()
            self.before.record(self.stream)
            kept = self.runs[self.at].run()
            self.after.record(self.stream)
            self.after.synchronize()
            del kept
        return self.before.elapsed_time(self.after) * 1e3 / self.calls

    def _kernels(self):
        # The flush ran before: what is recorded is this call's.
        torch.cuda.synchronize()
        with torch.autograd.profiler.profile(use_device="cuda", use_cpu=False, use_kineto=True) as records:
            kept = self.runs[self.at].run()
            self.stream.synchronize()
        del kept
        events = records.kineto_results.events()
        ns = sum(event.duration_ns() for event in events if event.device_type() == torch.autograd.DeviceType.CUDA)
        if ns == 0:
            raise RuntimeError("the device recorded nothing of the call")
        return ns / 1e3 / self.calls

    def _turn(self):
        self.at = (self.at + 1) % len(self.runs)
        if self.at == 0 and self.flush is not None:
            self.flush.sum()
        self.used = True

    def _wall(self):
        self._turn()
        start = time.perf_counter()
        kept = self.runs[self.at].run()
        end = time.perf_counter()
        del kept
        return (end - start) * 1e6


class Run:
    """Something to run, with the memory that it uses."""

    def __init__(self, run, ahead, memory):
        self.run = run
        self.ahead = ahead
        self.memory = memory
