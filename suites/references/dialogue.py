# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
"""The dialogue of an external adapter: one JSON object on a line, on standard input and output, in turns.

An adapter is a program that names itself and a function that builds a case:

    serve(name, provenance, build)

`build(case)` returns a `Built` or raises `Refused` for what its library does not have. Everything else that is raised is a
failure, and goes to the harness with its message.
"""
import json
import os
import sys
from dataclasses import dataclass
from typing import Any, Callable

VERSION = 1


class Refused(Exception):
    """The library has no such operator, or not in this form."""


@dataclass
class Case:
    """One case, as the harness describes it."""

    operation: str
    label: str
    problem: dict[str, str]
    scalars: dict[str, float]
    inputs: dict[str, Any]
    outputs: list[dict[str, Any]]

    def fact(self, name: str, *served: str) -> str:
        """The value of a fact, which has to be one of `served`."""
        value = self.problem[name]
        if value not in served:
            raise Refused(f"{self.operation} with {name}={value}: only {', '.join(served)} here")
        return value


@dataclass
class Built:
    """A case that can be called: `call(inputs)` returns the outputs by name."""

    call: Callable[[dict[str, Any]], dict[str, Any]]
    notes: list[str]


def serve(name: str, provenance: Callable[[], str], build: Callable[[Case], Built]) -> None:
    """Speaks with the harness until it says quit or ends."""
    # Libraries print: the dialogue keeps the real output for itself.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer: str, **words: Any) -> None:
        out.write(json.dumps({"answer": answer, **words}) + "\n")
        out.flush()

    try:
        # Here, so that a machine without the library is an answer and no trace.
        from timing import Timed

        said = provenance()
    except Exception as error:
        say("failed", reason=f"{type(error).__name__}: {error}")
        return
    say("hello", dialogue=VERSION, name=name, provenance=said)
    timed = None
    for line in sys.stdin:
        ask = json.loads(line)
        kind = ask.pop("ask")
        try:
            if kind == "prepare":
                timed = None
                timed, notes = Timed.prepare(ask, build)
                say("prepared", notes=notes)
            elif kind == "series":
                timed.arrange(**ask)
                say("ready")
            elif kind == "measure":
                say("sample", us=timed.sample())
            elif kind == "quit":
                return
            else:
                say("failed", reason=f"{kind} is no request of version {VERSION}")
        except Refused as refusal:
            say("refused", reason=str(refusal))
        except Exception as error:
            say("failed", reason=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")
