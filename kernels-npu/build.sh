#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The opweave authors
#
# usage: build.sh FOLDER SOURCES    compiles every kernel with the compiler of a CANN toolkit into FOLDER, and writes the index of the
# images, which says that they were made of SOURCES: the hash that the binary knows its sources by.
#
# The toolkit is that of ASCEND_HOME_PATH or ASCEND_TOOLKIT_HOME, else one in the usual places. Exit code 3: there is none.
# NOT RUN ON HARDWARE, and never with the real compiler: the flags are those of the vendor's public samples.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
sources=$2
cd "$(dirname "$0")"

compiler=
for home in "${ASCEND_HOME_PATH:-}" "${ASCEND_TOOLKIT_HOME:-}" /usr/local/Ascend/ascend-toolkit/latest /usr/local/Ascend/cann \
    /usr/local/Ascend/latest; do
    for place in bin/bisheng compiler/ccec_compiler/bin/ccec ccec_compiler/bin/ccec; do
        if [ -n "$home" ] && [ -x "$home/$place" ]; then
            compiler=$home/$place
            break 2
        fi
    done
done
if [ -z "$compiler" ]; then
    echo "npu kernels: not built, no CANN toolkit with bisheng or ccec (ASCEND_HOME_PATH, ASCEND_TOOLKIT_HOME, /usr/local/Ascend)" >&2
    exit 3
fi
linker=
for place in "${compiler%/*}" "$home/compiler/ccec_compiler/bin" "$home/ccec_compiler/bin"; do
    if [ -x "$place/ld.lld" ]; then
        linker=$place/ld.lld
        break
    fi
done
if [ -z "$linker" ]; then
    echo "npu kernels: $compiler has no ld.lld beside it" >&2
    exit 1
fi

# For the vector cores of Atlas A2 and A3 alone.
flags="-c -O2 -std=c++17 -x cce --cce-aicore-only --cce-aicore-arch=dav-c220-vec -Iinclude"
for part in compiler/tikcpp/tikcfw compiler/tikcpp/tikcfw/impl compiler/tikcpp/tikcfw/interface include; do
    flags="$flags -I$home/$part"
done
images=
for source in */*.cpp; do
    stem=$(basename "$source" .cpp)
    # shellcheck disable=SC2086 # a list of flags
    "$compiler" $flags "$source" -o "$folder/$stem.partial"
    "$linker" -m aicorelinux -Ttext=0 -static "$folder/$stem.partial" -o "$folder/$stem.o"
    rm "$folder/$stem.partial"
    sum=$(sha256sum "$folder/$stem.o")
    images="$images${images:+,}
    { \"stem\": \"$stem\", \"file\": \"$stem.o\", \"sha256\": \"${sum%% *}\" }"
done
# An index is there when all images are.
cat >"$folder/index.json.partial" <<EOF
{
  "schema_version": 1,
  "source_hash": "$sources",
  "compiler": "$compiler",
  "chips": ["ascend910b", "ascend910_93"],
  "images": [$images
  ]
}
EOF
mv "$folder/index.json.partial" "$folder/index.json"
echo "npu kernels: images in $folder, by $compiler"
