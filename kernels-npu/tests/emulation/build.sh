#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
#
# usage: build.sh kernel FAMILY/STEM TARGET [PACKAGE]    the entries of a kernel, emulated, as a shared object that the double of
#                                                        CANN loads; PACKAGE holds the sources where they are not these
#        build.sh program NAME TARGET                    a program of this folder, such as `rules`
# CXX names the compiler, else it is g++.
set -eu
what=$1
name=$2
target=$3
here=$(cd "$(dirname "$0")" && pwd)
package=${4:-$here/../..}
compile() {
    # As the kernels compute: no product is fused with a sum unless an instruction does it.
    ${CXX:-g++} -std=c++17 -O1 -ffp-contract=off -Wall -Wextra -Werror -Wno-unused-parameter -pthread \
        -I"$package/include" -I"$here" -I"$here/../../../tests/npu-double" "$@" "$here/core.cpp" -o "$target"
}
case $what in
program) compile "$here/$name.cpp" ;;
kernel)
    # The source under other names, and its entries as the double calls them.
    stem=${name##*/}
    unit=$target.cpp
    trap 'rm -f "$unit"' EXIT
    {
        echo '#include "host_entry.h"'
        for dtype in f32 f16 bf16; do echo "#define opweave_${stem}_$dtype opweave_${stem}_${dtype}_kernel"; done
        echo "#include \"$package/$name.cpp\""
        for dtype in f32 f16 bf16; do echo "#undef opweave_${stem}_$dtype"; done
        for dtype in f32 f16 bf16; do echo "OPWEAVE_HOST_KERNEL(opweave_${stem}_$dtype, opweave_${stem}_${dtype}_kernel)"; done
        echo 'extern "C" __attribute__((visibility("default"))) const uint32_t opweave_host_kernel_abi ='
        echo '    OPWEAVE_HOST_KERNEL_ABI;'
    } >"$unit"
    compile -shared -fPIC -fvisibility=hidden "$unit"
    ;;
*)
    echo "build.sh: $what: expected kernel or program" >&2
    exit 2
    ;;
esac
