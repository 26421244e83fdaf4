// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The tables of comment styles, extensions and file names.

use super::{Opening, Style};

const C_BLOCK: &[(&str, &str)] = &[("/*", "*/")];

const fn style(
    name: &'static str,
    line: &'static [&'static str],
    block: &'static [(&'static str, &'static str)],
    opening: Opening,
) -> Style {
    Style { name, line, block, nested: false, docs: &[], opening }
}

/// Every known style.
pub static STYLES: &[Style] = &[
    style("c", &["//"], C_BLOCK, Opening::None),
    Style {
        name: "rust",
        line: &["//"],
        block: C_BLOCK,
        nested: true,
        docs: &["///", "//!", "/**", "/*!"],
        opening: Opening::Rust,
    },
    style("hash", &["#"], &[], Opening::Coding),
    style("python", &["#"], &[], Opening::Coding),
    style("cmake", &["#"], &[("#[[", "]]")], Opening::None),
    style("docker", &["#"], &[], Opening::Docker),
    style("html", &[], &[("<!--", "-->")], Opening::Markup),
    style("markdown", &[], &[("<!--", "-->")], Opening::FrontMatter),
    // GNU assembly of several machines, and files that the C preprocessor sees first.
    style("assembly", &["//", "#", ";", "@"], C_BLOCK, Opening::None),
    style("semicolon", &[";"], &[], Opening::None),
    style("ini", &["#", ";"], &[], Opening::None),
    style("dash", &["--"], &[("--[[", "]]"), ("/*", "*/")], Opening::None),
    style("haskell", &["--"], &[("{-", "-}")], Opening::None),
    style("percent", &["%"], &[], Opening::None),
    style("css", &[], C_BLOCK, Opening::Css),
    style("php", &["//", "#"], C_BLOCK, Opening::Php),
    style("batch", &["REM ", "rem ", "Rem ", "@REM ", "@rem ", "::"], &[], Opening::Batch),
    style("powershell", &["#"], &[("<#", "#>")], Opening::None),
    style("julia", &["#"], &[("#=", "=#")], Opening::None),
    style("ml", &[], &[("(*", "*)")], Opening::None),
    style("vim", &["\""], &[], Opening::None),
    style("fortran", &["!"], &[], Opening::None),
    style("jinja", &[], &[("{#", "#}")], Opening::None),
    style("rst", &[".."], &[], Opening::None),
    // Text without comments that carries its header in plain lines.
    style("slashes", &["//"], &[], Opening::None),
];

/// Extensions by style.
pub(super) static EXTENSIONS: &[(&str, &[&str])] = &[
    ("rust", &["rs", "rsx"]),
    (
        "c",
        &[
            "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "hxx", "c++", "h++", "inl", "ipp", "inc", "tpp", "tcc", "cppm",
            "ixx", "cu", "cuh", "ptx", "hip", "cl", "clh", "cce", "asc", "aicpp", "metal", "m", "mm", "comp", "glsl",
            "vert", "frag", "geom", "hlsl", "wgsl", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "json5",
            "jsonc", "java", "kt", "kts", "scala", "groovy", "gradle", "go", "swift", "dart", "cs", "fs", "proto",
            "fbs", "thrift", "td", "v", "sv", "svh", "scss", "sass", "less", "ld", "lds", "def", "rc", "y", "yy",
            "l", "d", "ino", "gperf",
        ],
    ),
    ("slashes", &["zig", "mlir", "zon"]),
    ("python", &["py", "pyi", "pyw", "pyx", "pxd", "pxi", "bzl", "star", "bazel"]),
    (
        "hash",
        &[
            "toml", "yaml", "yml", "sh", "bash", "zsh", "fish", "ksh", "rb", "gemspec", "pl", "pm", "t", "tcl", "r",
            "mk", "mak", "make", "nix", "conf", "properties", "env", "awk", "ex", "exs", "pbtxt", "textproto",
            "graphql", "tf", "hcl", "gn", "gni", "ninja", "service", "po", "pot", "sed", "pyproject",
            "bazelrc", "cff", "gitconfig", "lock", "patterns", "supp", "just",
        ],
    ),
    ("cmake", &["cmake"]),
    ("ini", &["ini", "cfg", "editorconfig", "desktop"]),
    ("html", &["html", "htm", "xhtml", "xml", "xsd", "xsl", "xslt", "svg", "vue", "svelte", "ui", "qrc", "plist",
        "props", "targets", "vcxproj", "csproj", "natvis", "rng"]),
    ("markdown", &["md", "markdown", "mdx"]),
    ("assembly", &["S", "s", "asm", "sx"]),
    ("semicolon", &["el", "lisp", "clj", "cljs", "scm", "ll", "nasm"]),
    ("dash", &["lua", "sql", "adb", "ads", "vhd", "vhdl", "elm"]),
    ("haskell", &["hs", "cabal"]),
    ("percent", &["tex", "sty", "cls", "bib", "erl", "hrl", "matlab"]),
    ("css", &["css"]),
    ("php", &["php"]),
    ("batch", &["bat", "cmd"]),
    ("powershell", &["ps1", "psm1", "psd1"]),
    ("julia", &["jl"]),
    ("ml", &["ml", "mli", "mll", "mly"]),
    ("vim", &["vim"]),
    ("fortran", &["f90", "f95", "f03", "f08"]),
    ("jinja", &["j2", "jinja", "jinja2"]),
    ("rst", &["rst"]),
];

/// Whole file names by style.
pub(super) static NAMES: &[(&str, &str)] = &[
    ("CMakeLists.txt", "cmake"),
    ("Makefile", "hash"),
    ("makefile", "hash"),
    ("GNUmakefile", "hash"),
    ("Kbuild", "hash"),
    ("Rakefile", "hash"),
    ("Gemfile", "hash"),
    ("Justfile", "hash"),
    ("justfile", "hash"),
    ("Vagrantfile", "hash"),
    ("BUILD", "python"),
    ("WORKSPACE", "python"),
    ("SConstruct", "python"),
    ("SConscript", "python"),
    ("meson.build", "hash"),
    ("meson_options.txt", "hash"),
    ("MANIFEST.in", "hash"),
    ("CODEOWNERS", "hash"),
    ("Jenkinsfile", "c"),
    ("go.mod", "slashes"),
    ("go.work", "slashes"),
    ("tsconfig.json", "c"),
    (".bashrc", "hash"),
    (".clang-format", "hash"),
    (".clang-tidy", "hash"),
    (".clangd", "hash"),
    (".cmake-format", "hash"),
    (".coveragerc", "hash"),
    (".dockerignore", "hash"),
    (".editorconfig", "ini"),
    (".eslintignore", "hash"),
    (".flake8", "ini"),
    (".gitattributes", "hash"),
    (".gitconfig", "hash"),
    (".gitignore", "hash"),
    (".gitmodules", "hash"),
    (".git-blame-ignore-revs", "hash"),
    (".ignore", "hash"),
    (".mailmap", "hash"),
    (".npmignore", "hash"),
    (".npmrc", "ini"),
    (".prettierignore", "hash"),
    (".pylintrc", "ini"),
    ("pylintrc", "ini"),
    (".bazelrc", "hash"),
    (".envrc", "hash"),
];

/// Beginnings of file names by style; what follows must not be a letter or a digit.
pub(super) static STEMS: &[(&str, &str)] =
    &[("Dockerfile", "docker"), ("Containerfile", "docker"), ("requirements", "hash"), ("constraints", "hash")];
