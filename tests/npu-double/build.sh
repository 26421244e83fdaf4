#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
#
# usage: build.sh FOLDER [INCLUDE]   builds the double into FOLDER/lib64; INCLUDE, a folder with the vendor's acl/acl.h, has the
# compiler compare our prototypes of the runtime with the vendor's.
set -eu
here=$(dirname "$0")
out=$1/lib64
mkdir -p "$out"
vendor=
if [ $# -gt 1 ]; then vendor="-DOPWEAVE_VENDOR_HEADERS -isystem $2"; fi
build() { # library, its sources, and what it is linked with
    library=$1
    sources=
    for name in $2; do sources="$sources $here/$name"; done
    shift 2
    # shellcheck disable=SC2086 # lists
    ${CXX:-g++} -std=c++17 -O1 -fPIC -shared -Wall -Wextra -Werror -pthread $vendor $sources -o "$out/$library" \
        -Wl,-soname,"$library" -Wl,-rpath,'$ORIGIN' -L"$out" "$@"
}
build libascendcl.so acl.cpp -ldl
build libnnopbase.so nnopbase.cpp -lascendcl
build libopapi.so "opapi.cpp matmul.cpp index.cpp places.cpp" -lnnopbase -lascendcl
