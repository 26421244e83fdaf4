#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
#
# The steps of npu.md on a machine with an Ascend card: sh run.sh RESULTS
# What each step said, its reports and a summary go to the folder RESULTS and from there into the archive RESULTS.tar.gz: send that
# back, whatever the steps came to. A step that fails is run again with the vendor's log. Exit code 0: every step passed.
#
# OPWEAVE_NUMERICS  more arguments of every validation, such as `--tier full`
# OPWEAVE_BENCH     more arguments of the benchmark, such as `--rounds 3 --repeat-ms 40`
# OPWEAVE_MODES     `eager graph`, or one of them

here=$(cd "$(dirname "$0")" && pwd)
results=${1:?usage: run.sh RESULTS}
mkdir -p "$results"
results=$(cd "$results" && pwd)
opweave=$here/opweave
chmod +x "$opweave"
revision=$(cat "$here/revision")
# Images are those of this bundle, or of step 3; never those that a variable names.
export OPWEAVE_NPU_KERNELS="$here/kernels-npu"
summary=$results/summary.txt
: >"$summary"
number=0
failed=0

note() {
    echo "$1"
    echo "$1" >>"$summary"
}

# Runs a command as the next step, under a name: what it says goes to NUMBER-NAME.txt. Reports are written by the commands.
step() {
    number=$((number + 1))
    name=$(printf '%02d-%s' $number "$1")
    shift
    begin=$(date +%s)
    "$@" >"$results/$name.txt" 2>&1
    code=$?
    note "$name: exit code $code after $(($(date +%s) - begin)) s"
    [ $code -eq 0 ] && return 0
    failed=$((failed + 1))
    tail -n 5 "$results/$name.txt"
    ASCEND_GLOBAL_LOG_LEVEL=1 ASCEND_SLOG_PRINT_TO_STDOUT=1 "$@" >"$results/$name.log" 2>&1
    return $code
}

finish() {
    note "steps that failed: $failed"
    # Logs of the vendor's may be long: what matters is their end.
    for log in "$results"/*.log; do
        if [ -f "$log" ]; then tail -c 20000000 "$log" >"$log.end" && mv "$log.end" "$log"; fi
    done
    tar -czf "$results.tar.gz" -C "$(dirname "$results")" "$(basename "$results")"
    echo "send back: $results.tar.gz"
    [ $failed -eq 0 ]
    exit
}

# 1. What is there. Nothing here fails: what is missing is the answer.
machine() {
    echo "revision $revision"
    uname -a
    npu-smi info || echo "there is no npu-smi"
    for place in "${ASCEND_HOME_PATH:-}" "${ASCEND_TOOLKIT_HOME:-}" /usr/local/Ascend/ascend-toolkit/latest /usr/local/Ascend/cann \
        /usr/local/Ascend/latest; do
        if [ -n "$place" ] && [ -d "$place" ]; then
            echo "toolkit $place"
            cat "$place"/version.info "$place"/*/version.info "$place"/version.cfg 2>/dev/null | head -n 40
        fi
    done
    env | grep '^ASCEND\|^LD_LIBRARY_PATH' || true
}

# 2. The libraries load, and there is a device.
devices() {
    "$opweave" devices && "$opweave" devices | grep 'npu:0' || {
        echo "there is no npu:0"
        return 1
    }
}

# 3. The kernels of this bundle, compiled by the toolkit that is here unless the bundle brought images.
kernels() {
    if [ -f "$here/kernels-npu/index.json" ]; then
        echo "the bundle brought images"
        cat "$here/kernels-npu/index.json"
        return 0
    fi
    sh "$here/sources/build.sh" "$here/kernels-npu" "$(cat "$here/sources/hash")"
}

# The rows of a solution that can be used, one in a line.
rows() {
    "$opweave" catalog 2>/dev/null | grep ' available *$' | grep -o "npu\.$1\.[a-z0-9_]*"
}

# Every row of a solution through the suite of its operator.
validate() {
    solution=$1
    for row in $(rows "$solution"); do
        operation=${row#npu."$solution".}
        for mode in ${OPWEAVE_MODES:-eager graph}; do
            # shellcheck disable=SC2086 # a list of arguments
            step "$solution-$operation-$mode" "$opweave" numerics --device npu:0 --operation "$operation" --mode "$mode" \
                --implementation "$row" --revision "$revision" ${OPWEAVE_NUMERICS:-} \
                --output "$results/$solution-$operation-$mode.json"
        done
    done
}

step machine machine
if ! step devices devices; then finish; fi
step kernels kernels
# 4. Which rows can be used, and what the installed libraries lack.
step catalog "$opweave" catalog
for solution in aclnn ascendc; do
    if [ -z "$(rows $solution)" ]; then
        note "no row of npu.$solution can be used: see the catalog"
        failed=$((failed + 1))
    fi
    validate $solution
done
# Events take the time.
# shellcheck disable=SC2086 # a list of arguments
step bench "$opweave" bench --device npu:0 --operation rms_norm --revision "$revision" ${OPWEAVE_BENCH:-} \
    --output "$results/bench.json"
finish
