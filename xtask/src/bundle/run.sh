#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
#
# Validates, sanitises and times the operators on the GPU of this machine: sh run.sh RESULTS [OPERATION...]
# Reports go to the folder RESULTS. Every step runs, whatever the others came to; the last line says how many failed.
#
# OPWEAVE_STEPS       the steps, of: devices numerics-eager numerics-graph memcheck racecheck bench (all)
# OPWEAVE_ODD         labels that are sanitised: those whose names begin with a number of tokens of one digit (t?_*)
# OPWEAVE_BENCH       more arguments of the benchmark, such as `--rounds 3 --repeat-ms 40 --tier full`
# OPWEAVE_REFERENCES  what takes turns with ours, of the programs in references/: torch_eager torch_compile liger (none)

here=$(cd "$(dirname "$0")" && pwd)
results=${1:?usage: run.sh RESULTS [OPERATION...]}
shift
mkdir -p "$results"
results=$(cd "$results" && pwd)
export OPWEAVE_KERNELS="$here/kernels"
opweave=$here/opweave
revision=$(cat "$here/revision")
chmod +x "$opweave"
operations=
for operation in "$@"; do operations="$operations --operation $operation"; done
references=
for reference in ${OPWEAVE_REFERENCES:-}; do references="$references --reference $here/references/$reference.py"; done

failed=0
step() {
    name=$1
    shift
    case " ${OPWEAVE_STEPS:-$name} " in *" $name "*) ;; *) return ;; esac
    start=$(date +%s)
    "$@" >"$results/$name.txt" 2>&1
    code=$?
    tail -n 5 "$results/$name.txt"
    echo "== $name: exit code $code after $(($(date +%s) - start)) s"
    [ $code -eq 0 ] || failed=$((failed + 1))
}

step devices "$opweave" devices
for mode in eager graph; do
    # shellcheck disable=SC2086
    step numerics-$mode "$opweave" numerics --device cuda:0 --mode $mode $operations --revision "$revision" \
        --output "$results/numerics-$mode.json"
done
for tool in memcheck racecheck; do
    # shellcheck disable=SC2086
    step $tool compute-sanitizer --tool $tool --error-exitcode 9 \
        "$opweave" numerics --device cuda:0 --label "${OPWEAVE_ODD:-t?_*}" $operations --output "$results/$tool.json"
done
# shellcheck disable=SC2086
step bench "$opweave" bench --device cuda:0 --mode graph ${OPWEAVE_BENCH:-} $references $operations \
    --revision "$revision" --output "$results/bench.json"

echo "steps that failed: $failed"
[ $failed -eq 0 ]
