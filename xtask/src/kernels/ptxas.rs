// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! What `ptxas -v` says of each kernel.

use anyhow::{Context, Result, bail};
use opweave_kernels_cuda::KernelFacts;

/// The facts in the assembler's output, sorted by name and target. Lines that are not understood are not of interest, but a
/// kernel of which a number is missing is an error: a format that changed must not read as "no spills".
pub(crate) fn parse(output: &str) -> Result<Vec<KernelFacts>> {
    let mut facts = Vec::new();
    let mut open: Option<(String, String)> = None;
    let mut stack = None;
    for line in output.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            if let Some((name, target)) = open.take() {
                bail!("the assembler says nothing of the registers of {name} for {target}");
            }
            let mut quoted = rest.split('\'');
            let (name, target) = (quoted.next(), quoted.nth(1));
            let (Some(name), Some(target)) = (name, target) else { bail!("cannot read {line:?}") };
            open = Some((name.to_owned(), target.to_owned()));
            stack = None;
        } else if line.contains("bytes stack frame") {
            let numbers = ["bytes stack frame", "bytes spill stores", "bytes spill loads"];
            stack = Some(numbers.map(|what| before(line, what).with_context(|| format!("cannot read {line:?}"))));
        } else if line.contains("Used ") && line.contains(" registers") {
            let Some((name, target)) = open.take() else { continue };
            let Some([frame, stores, loads]) = stack.take() else {
                bail!("the assembler says nothing of the stack of {name} for {target}");
            };
            facts.push(KernelFacts {
                name,
                target,
                registers: before(line, "registers").with_context(|| format!("cannot read {line:?}"))?,
                shared_bytes: before(line, "bytes smem").unwrap_or(0),
                stack_bytes: frame?,
                spill_store_bytes: stores?,
                spill_load_bytes: loads?,
            });
        }
    }
    if let Some((name, target)) = open {
        bail!("the assembler says nothing of the registers of {name} for {target}");
    }
    facts.sort();
    Ok(facts)
}

/// The number before `what`.
fn before(line: &str, what: &str) -> Option<u32> {
    let (text, _) = line.split_once(what)?;
    text.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nvcc 13.0 printed it.
    const OUTPUT: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'opweave_rms_norm_f32_loop' for 'sm_90a'
ptxas info    : Function properties for opweave_rms_norm_f32_loop
    8 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 8 bytes cumulative stack size, 256 bytes smem
ptxas info    : Compile time = 68.235 ms
ptxas info    : Compiling entry function 'opweave_rms_norm_bf16_w1' for 'sm_80'
ptxas info    : Function properties for opweave_rms_norm_bf16_w1
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 472 bytes cmem[0]
ptxas info    : Compile time = 31.006 ms
";

    #[test]
    fn numbers_are_read_for_each_kernel_and_target() {
        let facts = parse(OUTPUT).unwrap();
        assert_eq!(facts.len(), 2);
        let (warp, row) = (&facts[0], &facts[1]);
        assert_eq!((warp.name.as_str(), warp.target.as_str()), ("opweave_rms_norm_bf16_w1", "sm_80"));
        assert_eq!((warp.registers, warp.shared_bytes, warp.spill_store_bytes), (40, 0, 0));
        assert_eq!((row.registers, row.shared_bytes, row.stack_bytes), (32, 256, 8));
        assert_eq!((row.spill_store_bytes, row.spill_load_bytes), (16, 20));
        assert!(parse("").unwrap().is_empty());
    }

    #[test]
    fn a_kernel_without_its_numbers_is_an_error() {
        let without = |part: &str| {
            let text: Vec<&str> = OUTPUT.lines().filter(|line| !line.contains(part)).collect();
            parse(&text.join("\n")).unwrap_err().to_string()
        };
        assert!(without("registers").contains("registers of opweave_rms_norm_f32_loop for sm_90a"));
        assert!(without("Used 40").contains("registers of opweave_rms_norm_bf16_w1 for sm_80"));
        assert!(without("8 bytes stack frame").contains("stack of opweave_rms_norm_f32_loop"));
        assert!(parse(&OUTPUT.replace("16 bytes spill", "many bytes spill")).is_err());
    }
}
