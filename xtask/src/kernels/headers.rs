// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! What the loader takes CANN's functions and numbers for, compared by the compiler with the vendor's own headers, of a package that
//! brings some. An optional check: without network, Python or a compiler it says that it did not run.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::process::Program;

/// The package, and where it has headers. Its licence forbids to keep them here.
const PACKAGE: (&str, &str) = ("torch-npu==2.14.0", "torch_npu/include");

/// The loader's tables of functions.
const TABLES: [&str; 2] = ["crates/opweave-device-npu/src/acl.rs", "crates/opweave-device-npu/src/meta.rs"];

/// Numbers of the loader's: the file, what stands before the number, and the vendor's name for it.
const NUMBERS: &[(&str, &str, &str)] = &[
    ("crates/opweave-device-npu/src/instance.rs", "AI_CORES: i32 = ", "ACL_DEV_ATTR_AICORE_CORE_NUM"),
    ("crates/opweave-device-npu/src/instance.rs", "VECTOR_CORES: i32 = ", "ACL_DEV_ATTR_VECTOR_CORE_NUM"),
    ("crates/opweave-device-npu/src/instance.rs", "UNIFIED_BUFFER: i32 = ", "ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE"),
    ("crates/opweave-device-npu/src/instance.rs", "MEMORY_BYTES: i32 = ", "ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE"),
    ("crates/opweave-device-npu/src/graph.rs", "TIME_LINE: u32 = ", "ACL_EVENT_TIME_LINE"),
    ("crates/opweave-device-npu/src/stream.rs", "FAST: u32 = ", "(ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC)"),
    (
        "crates/opweave-device-npu/src/stream.rs",
        "CAPTURE_THREAD_LOCAL: i32 = ",
        "ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL",
    ),
    ("crates/opweave-device-npu/src/stream.rs", "CAPTURE_NONE: i32 = ", "ACL_MODEL_RI_CAPTURE_STATUS_NONE"),
    ("crates/opweave-device-npu/src/buffer.rs", "HUGE_FIRST: c_int = ", "ACL_MEM_MALLOC_HUGE_FIRST"),
    ("crates/opweave-device-npu/src/buffer.rs", "TO_DEVICE: c_int = ", "ACL_MEMCPY_HOST_TO_DEVICE"),
    ("crates/opweave-device-npu/src/buffer.rs", "TO_HOST: c_int = ", "ACL_MEMCPY_DEVICE_TO_HOST"),
    (STATUSES, "REPEAT_INITIALIZE: Status = ", "ACL_ERROR_REPEAT_INITIALIZE"),
    (STATUSES, "CONTEXT_NULL: Status = ", "ACL_ERROR_RT_CONTEXT_NULL"),
    (STATUSES, "NO_DEVICE: Status = ", "ACL_ERROR_RT_NO_DEVICE"),
    ("crates/opweave-aclnn/src/descriptor.rs", "ND: c_int = ", "ACL_FORMAT_ND"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::F32 => ", "ACL_FLOAT"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::F16 => ", "ACL_FLOAT16"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::BF16 => ", "ACL_BF16"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::I8 => ", "ACL_INT8"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::U8 => ", "ACL_UINT8"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::I16 => ", "ACL_INT16"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::I32 => ", "ACL_INT32"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::U32 => ", "ACL_UINT32"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::I64 => ", "ACL_INT64"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::U64 => ", "ACL_UINT64"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::F64 => ", "ACL_DOUBLE"),
    ("crates/opweave-aclnn/src/descriptor.rs", "DType::Bool => ", "ACL_BOOL"),
];

/// Where statuses and their names stand.
const STATUSES: &str = "crates/opweave-device-npu/src/status.rs";

/// What a program says that compares: two parameters are alike where they are passed alike. What a pointer leads to has the same
/// size, unless nobody looks there.
const ALIKE: &str = "#include <cstddef>
#include <cstdint>
#include <type_traits>
#include \"acl/acl.h\"
struct PackageVersion { char bytes[512]; };
struct PlaceholderInfo { uint32_t address_offset, data_offset; };
template <typename Ours, typename Theirs>
constexpr bool alike() {
  if constexpr (std::is_pointer_v<Ours> != std::is_pointer_v<Theirs>) {
    return false;
  } else if constexpr (std::is_pointer_v<Ours>) {
    using To = std::remove_cv_t<std::remove_pointer_t<Ours>>;
    if constexpr (std::is_void_v<To>) return true;
    else return sizeof(To) == sizeof(std::remove_pointer_t<Theirs>);
  } else {
    return sizeof(Ours) == sizeof(Theirs) && std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;
  }
}
template <typename Ours, typename Theirs>
struct Same : std::false_type {};
template <typename R, typename... A, typename S, typename... B>
struct Same<R(A...), S(B...)> {
  static constexpr bool all() {
    if constexpr (sizeof...(A) != sizeof...(B)) return false;
    else return alike<R, S>() && (alike<A, B>() && ...);
  }
  static constexpr bool value = all();
};
";

/// One function of the loader's.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    parameters: Vec<String>,
    result: String,
}

/// Compares, where there is something to compare with.
///
/// # Errors
/// If a function or a number is another than the vendor's, or what the loader has cannot be read.
pub(crate) fn run(root: &Path) -> Result<()> {
    let include = match fetch(root) {
        Ok(include) => include,
        Err(why) => {
            println!("npu headers: not run: {why:#}");
            return Ok(());
        }
    };
    let mut declared = String::new();
    read_all(&include.join("acl"), &mut declared)?;
    let mut functions = Vec::new();
    for table in TABLES {
        let text = fs::read_to_string(root.join(table)).with_context(|| format!("failed to read {table}"))?;
        functions.extend(parse(&text).with_context(|| format!("failed to understand {table}"))?);
    }
    let (there, missing): (Vec<_>, Vec<_>) = functions.iter().partition(|f| declares(&declared, &f.name));
    let numbers = numbers(root)?;
    let (known, unknown): (Vec<_>, Vec<_>) =
        numbers.iter().partition(|(_, name)| words(name).all(|word| declared.contains(word)));

    let folder = tempfile::tempdir().context("failed to create a folder")?;
    let program = folder.path().join("compare.cpp");
    fs::write(&program, compare(&there, &known)?).context("failed to write a program")?;
    let check = |source: &Path| {
        let compile = Program::new("g++", root)
            .args("-std=c++17 -fsyntax-only -Wall -Wextra -Werror -Wno-deprecated-declarations -isystem")
            .arg(&include);
        compile.arg("-DOPWEAVE_VENDOR_HEADERS").arg(source).run()
    };
    check(&program).context("the loader differs from the vendor's headers")?;
    check(&root.join("tests/npu-double/acl.cpp")).context("the double differs from the vendor's headers")?;
    println!(
        "npu headers: {} functions and {} numbers are those of {}; it declares none of {}",
        there.len(),
        known.len(),
        PACKAGE.0,
        missing
            .iter()
            .map(|f| f.name.as_str())
            .chain(unknown.iter().map(|(_, n)| n.as_str()))
            .collect::<Vec<_>>()
            .join(", ")
    );
    Ok(())
}

/// Whether a text declares a function: its name with its parameters, behind a result.
fn declares(text: &str, name: &str) -> bool {
    [' ', '*'].iter().any(|before| text.contains(&format!("{before}{name}(")))
}

/// The headers, fetched once.
fn fetch(root: &Path) -> Result<PathBuf> {
    let folder = root.join("target/npu-headers").join(PACKAGE.0.replace("==", "-"));
    let include = folder.join(PACKAGE.1);
    Program::new("g++", root).arg("--version").read().context("there is no g++")?;
    if include.is_dir() {
        return Ok(include);
    }
    let fresh = tempfile::tempdir().context("failed to create a folder")?;
    let download =
        Program::new("python3", fresh.path()).args("-m pip download --quiet --no-deps --dest .").arg(PACKAGE.0);
    download.read().with_context(|| format!("{} cannot be had", PACKAGE.0))?;
    let unpack = "import glob, sys, zipfile
archive = zipfile.ZipFile(glob.glob('*.whl')[0])
archive.extractall(sys.argv[1], [name for name in archive.namelist() if name.startswith(sys.argv[2] + '/acl/')])";
    Program::new("python3", fresh.path()).arg("-c").arg(unpack).arg(&folder).arg(PACKAGE.1).read()?;
    ensure!(include.is_dir(), "{} has no {}", PACKAGE.0, PACKAGE.1);
    Ok(include)
}

/// All text below a folder.
fn read_all(folder: &Path, text: &mut String) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("failed to read {}", folder.display()))? {
        let path = entry.context("failed to read a folder")?.path();
        if path.is_dir() {
            read_all(&path, text)?;
        } else {
            *text += &fs::read_to_string(&path).with_context(|| format!("failed to read {}", path.display()))?;
        }
    }
    Ok(())
}

/// The functions of a table of the loader's: `field = "name"(parameters) -> Result;`.
fn parse(text: &str) -> Result<Vec<Function>> {
    let mut functions = Vec::new();
    for (at, _) in text.match_indices(" = \"") {
        let rest = &text[at + 4..];
        let Some((name, rest)) = rest.split_once("\"(") else { continue };
        let (parameters, rest) = rest.split_once(") -> ").with_context(|| format!("{name} has no result"))?;
        let (result, _) = rest.split_once(';').with_context(|| format!("{name} has no end"))?;
        let parameters =
            parameters.split(',').map(str::trim).filter(|p| !p.is_empty()).map(cpp).collect::<Result<_>>()?;
        functions.push(Function { name: name.to_owned(), parameters, result: cpp(result)? });
    }
    ensure!(!functions.is_empty(), "it holds no function");
    Ok(functions)
}

/// A type of Rust's, in C++.
fn cpp(rust: &str) -> Result<String> {
    let rust = rust.trim();
    if let Some(to) = rust.strip_prefix("*mut ") {
        return Ok(cpp(to)? + " *");
    }
    if let Some(to) = rust.strip_prefix("*const ") {
        return Ok(cpp(to)? + " const *");
    }
    Ok(match rust {
        "c_int" | "Status" | "i32" => "int32_t",
        "c_char" => "char",
        "c_void" => "void",
        "u32" => "uint32_t",
        "i64" => "int64_t",
        "u64" => "uint64_t",
        "usize" => "size_t",
        "f32" => "float",
        "Handle" | "Opaque" | "Executor" => "void *",
        "PackageVersion" | "PlaceholderInfo" => rust,
        other => bail!("the type {other} has no counterpart here"),
    }
    .to_owned())
}

/// Numbers and the vendor's names for them.
fn numbers(root: &Path) -> Result<Vec<(i64, String)>> {
    let read = |file: &str| fs::read_to_string(root.join(file)).with_context(|| format!("failed to read {file}"));
    let mut numbers = Vec::new();
    for (file, before, name) in NUMBERS {
        let text = read(file)?;
        let (_, rest) = text.split_once(before).with_context(|| format!("{file} has no `{before}`"))?;
        numbers.push((number(rest).with_context(|| format!("`{before}` of {file} is no number"))?, (*name).to_owned()));
    }
    for line in read(STATUSES)?.lines().filter_map(|line| line.trim().strip_prefix('(')) {
        let Some((_, name)) = line.split_once('"') else { continue };
        let (name, _) = name.split_once('"').context("a name without an end")?;
        let Some(value) = number(line) else { continue };
        if name.starts_with("ACL") && words(name).eq([name]) {
            numbers.push((value, name.to_owned()));
        }
    }
    Ok(numbers)
}

/// The number at the beginning of a text.
fn number(text: &str) -> Option<i64> {
    let digits: String = text.chars().take_while(|c| c.is_ascii_digit() || *c == '_').filter(|c| *c != '_').collect();
    digits.parse().ok()
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The program: each function is as the vendor's, and would not be with another parameter; each number is the vendor's.
fn compare(functions: &[&Function], numbers: &[&(i64, String)]) -> Result<String> {
    let mut text = ALIKE.to_owned();
    for Function { name, parameters, result } in functions {
        let same =
            |parameters: &[String]| format!("Same<{result}({}), decltype({name})>::value", parameters.join(", "));
        writeln!(text, "static_assert({}, \"{name}\");", same(parameters))?;
        for at in 0..parameters.len() {
            let mut other = parameters.clone();
            other[at] = if other[at].ends_with('*') { "uint64_t".to_owned() } else { "void *".to_owned() };
            writeln!(text, "static_assert(!{}, \"{name} is compared\");", same(&other))?;
        }
    }
    for (value, name) in numbers {
        writeln!(text, "static_assert({value} == {name}, \"{name}\");")?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_and_number_of_the_loader_is_read() {
        let root = crate::workspace::root().unwrap();
        let mut names = Vec::new();
        for table in TABLES {
            names.extend(parse(&fs::read_to_string(root.join(table)).unwrap()).unwrap().into_iter().map(|f| f.name));
        }
        for name in ["aclInit", "aclGetRecentErrMsg", "aclrtLaunchKernelWithHostArgs", "aclCreateTensor"] {
            assert!(names.iter().any(|n| n == name), "{name} is not in {names:?}");
        }
        let numbers = numbers(&root).unwrap();
        assert!(numbers.contains(&(27, "ACL_BF16".to_owned())));
        assert!(numbers.contains(&(107_003, "ACL_ERROR_RT_STREAM_CONTEXT".to_owned())), "{numbers:?}");
    }

    #[test]
    fn a_prototype_becomes_one_of_cpp() {
        let table = "f = \"aclF\"(\n    *mut *mut c_void, usize, *const PackageVersion,\n) -> Status;";
        let function = Function {
            name: "aclF".to_owned(),
            parameters: ["void * *", "size_t", "PackageVersion const *"].map(str::to_owned).into(),
            result: "int32_t".to_owned(),
        };
        assert_eq!(parse(table).unwrap(), [function]);
        assert!(parse("f = \"aclF\"(Foreign) -> Status;").unwrap_err().to_string().contains("Foreign"));
    }
}
