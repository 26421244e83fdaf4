// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Device keys: what selection knows of a device, written down.

use std::fmt;
use std::str::FromStr;

use opweave_tensor::DeviceKind;

/// A compute capability as the driver reports it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Capability {
    /// Before the point.
    pub major: u8,
    /// After the point.
    pub minor: u8,
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What kind of machine code a device runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Architecture {
    /// A host processor, by Rust's name of it: `x86_64`.
    Host(String),
    /// An NVIDIA GPU.
    Compute(Capability),
    /// A device named by its maker: `ascend910b`.
    Named(String),
    /// None: the noop device.
    None,
}

/// Numbers that kernels are limited by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Limits {
    /// Bytes of shared memory that one block may ask for, opted in.
    pub shared_memory: u64,
}

/// What selection knows of a device.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DeviceKey {
    kind: DeviceKind,
    architecture: Architecture,
    features: Vec<String>,
    limits: Limits,
    name: Option<String>,
}

/// Text that is no device key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("device `{text}` is not understood; {hint}")]
pub struct ParseKeyError {
    /// The offending text.
    pub text: String,
    /// What to write instead.
    pub hint: String,
}

/// Opt-in shared memory of one block in KiB, from the CUDA C++ programming guide's table of technical specifications.
const SHARED_MEMORY_KIB: &[(u8, u8, u64)] = &[
    (7, 5, 64),
    (8, 0, 163),
    (8, 6, 99),
    (8, 7, 163),
    (8, 9, 99),
    (9, 0, 227),
    (10, 0, 227),
    (10, 3, 227),
    (11, 0, 227),
    (12, 0, 99),
    (12, 1, 99),
];

/// Every device of any capability gives a block this much without opting in.
const SHARED_MEMORY_KIB_ALWAYS: u64 = 48;

impl DeviceKey {
    /// A host processor with these features.
    pub fn cpu(architecture: &str, features: &[&str]) -> Self {
        let mut features: Vec<String> = features.iter().map(|f| (*f).to_owned()).collect();
        features.sort_unstable();
        features.dedup();
        DeviceKey {
            kind: DeviceKind::Cpu,
            architecture: Architecture::Host(architecture.to_owned()),
            features,
            limits: Limits::default(),
            name: None,
        }
    }

    /// An NVIDIA GPU of this capability, with the limits that the capability implies.
    pub fn cuda(major: u8, minor: u8) -> Self {
        let kib = SHARED_MEMORY_KIB.iter().find(|&&(a, b, _)| (a, b) == (major, minor));
        let kib = kib.map_or(SHARED_MEMORY_KIB_ALWAYS, |&(.., kib)| kib);
        DeviceKey {
            kind: DeviceKind::Cuda,
            architecture: Architecture::Compute(Capability { major, minor }),
            features: Vec::new(),
            limits: Limits { shared_memory: kib << 10 },
            name: None,
        }
    }

    /// An Ascend NPU, by the maker's name of the chip.
    pub fn npu(chip: &str) -> Self {
        DeviceKey {
            kind: DeviceKind::Npu,
            architecture: Architecture::Named(chip.to_owned()),
            features: Vec::new(),
            limits: Limits::default(),
            name: None,
        }
    }

    /// The noop device, which claims these features.
    pub fn noop(features: &[&str]) -> Self {
        DeviceKey {
            kind: DeviceKind::Noop,
            architecture: Architecture::None,
            limits: Limits { shared_memory: SHARED_MEMORY_KIB_ALWAYS << 10 },
            ..DeviceKey::cpu("", features)
        }
    }

    /// The same key with limits as queried from the device.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same key with the product name, which keys the measured profile.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The kind.
    pub fn kind(&self) -> DeviceKind {
        self.kind
    }

    /// The architecture.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// The compute capability of an NVIDIA GPU.
    pub fn capability(&self) -> Option<Capability> {
        match self.architecture {
            Architecture::Compute(c) => Some(c),
            _ => None,
        }
    }

    /// Whether the device has a feature, such as `avx2`.
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|f| f == feature)
    }

    /// All features, sorted.
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The product name, or the key's text when there is none.
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.to_string())
    }
}

impl fmt::Display for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.kind.name().to_owned();
        match &self.architecture {
            Architecture::Host(name) | Architecture::Named(name) => text += &format!(":{name}"),
            Architecture::Compute(c) => text += &format!(":{c}"),
            Architecture::None => {}
        }
        for feature in &self.features {
            text += &format!("+{feature}");
        }
        f.pad(&text)
    }
}

impl FromStr for DeviceKey {
    type Err = ParseKeyError;

    /// Reads `cpu` (this host), `cpu:x86_64+avx2+f16c+fma`, `cuda:9.0`, `npu:ascend910b`, `noop`, `noop+feature`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |hint: String| ParseKeyError { text: text.to_owned(), hint };
        let (kind, rest) = text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
        match (kind, rest) {
            ("cpu", None) => Ok(crate::cpu::host_key()),
            ("cpu", Some(rest)) if !rest.is_empty() => {
                let mut parts = rest.split('+');
                let architecture = parts.next().unwrap_or_default();
                if architecture.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(error("there is one cpu; write cpu, or cpu:x86_64+avx2+f16c+fma".to_owned()));
                }
                Ok(DeviceKey::cpu(architecture, &features(parts).map_err(error)?))
            }
            ("cuda", Some(rest)) => match rest.split_once('.') {
                Some((major, minor)) => match (major.parse(), minor.parse()) {
                    (Ok(major), Ok(minor)) => Ok(DeviceKey::cuda(major, minor)),
                    _ => Err(error("expected a compute capability such as cuda:9.0".to_owned())),
                },
                None => Err(error(bare_capability(rest))),
            },
            ("npu", Some(chip)) if !chip.is_empty() => Ok(DeviceKey::npu(chip)),
            (noop, None) if noop.split('+').next() == Some("noop") => {
                Ok(DeviceKey::noop(&features(noop.split('+').skip(1)).map_err(error)?))
            }
            _ => Err(error("expected cpu, cuda:9.0, npu:ascend910b or noop".to_owned())),
        }
    }
}

/// The features of a key's text, none of them empty.
fn features<'a>(parts: impl Iterator<Item = &'a str>) -> Result<Vec<&'a str>, String> {
    parts
        .map(|f| {
            if f.is_empty() {
                Err("a feature follows each `+`, as in cpu:x86_64+avx2+f16c+fma".to_owned())
            } else {
                Ok(f)
            }
        })
        .collect()
}

/// The right spelling for a capability without its point: `10` and `100` are both 10.0, and neither is accepted.
fn bare_capability(text: &str) -> String {
    let digits = text.strip_prefix("sm_").unwrap_or(text);
    match digits.parse::<u16>() {
        Ok(n) if n >= 50 => format!("write the compute capability with its point: cuda:{}.{}", n / 10, n % 10),
        Ok(n) => format!("write the compute capability with its point: cuda:{n}.0"),
        Err(_) => "expected a compute capability such as cuda:9.0".to_owned(),
    }
}
