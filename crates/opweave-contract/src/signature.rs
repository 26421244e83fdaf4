// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The signature of an operator as data: what its contract page, the command line and the harness read.

use crate::{Legal, Relation};

/// How an argument is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Read only.
    In,
    /// Written only; its contents before the call do not matter.
    Out,
    /// Read and written.
    InOut,
}

impl Role {
    /// Whether the operator writes it.
    pub const fn writes(self) -> bool {
        matches!(self, Role::Out | Role::InOut)
    }

    /// The name used on contract pages.
    pub const fn name(self) -> &'static str {
        match self {
            Role::In => "in",
            Role::Out => "out",
            Role::InOut => "in-out",
        }
    }
}

/// Where an argument's memory is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Placement {
    /// On the device of the call.
    Device,
    /// On the host, whatever the device.
    Host,
}

/// One dimension of a tensor parameter.
#[derive(Clone, Copy, Debug)]
pub struct DimParam {
    /// The size as written in the declaration.
    pub text: &'static str,
    /// Whether its stride may exceed the extent of the dimensions inside it.
    pub strided: bool,
    /// Whether it may also lie outside the dimension before it.
    pub free: bool,
}

impl DimParam {
    /// The size without the parentheses that the declaration needs around an expression.
    fn unwrapped(&self) -> &'static str {
        self.text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(self.text)
    }
}

/// One tensor parameter.
#[derive(Clone, Copy, Debug)]
pub struct TensorParam {
    /// Its name.
    pub name: &'static str,
    /// How it is used.
    pub role: Role,
    /// Whether the problem may leave it out.
    pub optional: bool,
    /// Whether it is a weight that a plan may want packed.
    pub packed: bool,
    /// Where it is.
    pub placement: Placement,
    /// Its dimensions, outermost first.
    pub dims: &'static [DimParam],
    /// The dtype as written in the declaration.
    pub dtype: &'static str,
    /// Inputs with which this output may share storage exactly.
    pub aliases: &'static [&'static str],
    /// What it is.
    pub doc: &'static str,
}

/// The legal range of a scalar; finite always, and NaN never legal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScalarRange {
    /// Smallest legal value.
    pub min: f64,
    /// Largest legal value.
    pub max: f64,
    /// Whether `min` itself is excluded.
    pub above: bool,
}

impl ScalarRange {
    /// Any finite value.
    pub const FINITE: ScalarRange = ScalarRange { min: f64::MIN, max: f64::MAX, above: false };
    /// Finite and at least 0.
    pub const NON_NEGATIVE: ScalarRange = ScalarRange { min: 0.0, max: f64::MAX, above: false };
    /// Finite and above 0.
    pub const POSITIVE: ScalarRange = ScalarRange { min: 0.0, max: f64::MAX, above: true };

    /// Whether `value` is legal. Written so that NaN is not.
    #[inline]
    pub fn admits(&self, value: f64) -> bool {
        value.is_finite() && value <= self.max && (value > self.min || (!self.above && value >= self.min))
    }

    /// The range in words.
    pub fn text(&self) -> String {
        let low = if self.above { ">" } else { ">=" };
        match (self.min == f64::MIN, self.max == f64::MAX) {
            (true, true) => "finite".to_owned(),
            (false, true) => format!("finite, {low} {}", self.min),
            (true, false) => format!("finite, <= {}", self.max),
            (false, false) => format!("{low} {}, <= {}", self.min, self.max),
        }
    }
}

/// One scalar parameter.
#[derive(Clone, Copy, Debug)]
pub struct ScalarParam {
    /// Its name.
    pub name: &'static str,
    /// Its Rust type.
    pub ty: &'static str,
    /// What the harness passes unless a suite says otherwise.
    pub default: f64,
    /// The legal range.
    pub range: ScalarRange,
    /// What it is.
    pub doc: &'static str,
}

/// One dynamic dimension.
#[derive(Clone, Copy, Debug)]
pub struct DynParam {
    /// Its name.
    pub name: &'static str,
    /// The smallest legal size.
    pub min: usize,
    /// What it counts.
    pub doc: &'static str,
}

/// One fact of the problem.
#[derive(Clone, Copy, Debug)]
pub struct FactParam {
    /// Its name.
    pub name: &'static str,
    /// The default as written in the declaration; `None` when it must be given.
    pub default: Option<&'static str>,
    /// Whether its value may be `none`.
    pub optional: bool,
    /// What its type allows.
    pub type_legal: fn() -> String,
    /// Its values, where the set is closed.
    pub values: fn() -> Vec<crate::FactValue>,
    /// What the declaration allows beyond its type.
    pub legal: Legal,
    /// What it is.
    pub doc: &'static str,
}

impl FactParam {
    /// The legal values in words.
    pub fn legal_text(&self) -> String {
        let none = if self.optional { " or none" } else { "" };
        self.legal.text().map_or_else(|| (self.type_legal)(), |text| text + none)
    }
}

/// Everything about an operator's shape of call that is data.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The operation.
    pub operation: &'static str,
    /// What it computes.
    pub doc: &'static str,
    /// The facts of its problem.
    pub facts: &'static [FactParam],
    /// How facts relate.
    pub relations: &'static [Relation],
    /// Its dynamic dimensions.
    pub dims: &'static [DynParam],
    /// Pairs of dynamic dimensions of which the first is at most the second.
    pub dim_relations: &'static [(&'static str, &'static str)],
    /// Its tensors.
    pub tensors: &'static [TensorParam],
    /// Its scalars.
    pub scalars: &'static [ScalarParam],
    /// The faults that its kernels may raise, numbered by position.
    pub faults: &'static [&'static str],
}

impl Signature {
    /// Index of the tensor with this name.
    pub fn tensor(&self, name: &str) -> Option<usize> {
        self.tensors.iter().position(|t| t.name == name)
    }

    /// Index of the dynamic dimension with this name.
    pub fn dim(&self, name: &str) -> Option<usize> {
        self.dims.iter().position(|d| d.name == name)
    }

    /// The table of a contract page: facts, tensors and scalars, in Markdown.
    pub fn markdown(&self) -> String {
        let squeeze = |doc: &str| doc.trim().replace('\n', " ");
        let mut out = String::from("| fact | legal | default | meaning |\n| --- | --- | --- | --- |\n");
        for fact in self.facts {
            let default = fact.default.map_or_else(|| "required".to_owned(), |d| format!("`{d}`"));
            out += &format!("| `{}` | {} | {default} | {} |\n", fact.name, fact.legal_text(), squeeze(fact.doc));
        }
        out += "\n| argument | role | dtype | shape | meaning |\n| --- | --- | --- | --- | --- |\n";
        for tensor in self.tensors {
            let dims: Vec<String> = tensor
                .dims
                .iter()
                .map(|d| {
                    format!(
                        "{}{}",
                        d.unwrapped(),
                        if d.free {
                            "~~"
                        } else if d.strided {
                            "~"
                        } else {
                            ""
                        }
                    )
                })
                .collect();
            let optional = if tensor.optional { ", optional" } else { "" };
            let packed = if tensor.packed { ", packed by the plan" } else { "" };
            let host = if tensor.placement == Placement::Host { ", on the host" } else { "" };
            let alias = tensor.aliases.iter().map(|a| format!(" May alias `{a}` exactly.")).collect::<String>();
            out += &format!(
                "| `{}` | {}{optional}{packed}{host} | `{}` | [{}] | {}{alias} |\n",
                tensor.name,
                tensor.role.name(),
                tensor.dtype,
                dims.join(", "),
                squeeze(tensor.doc),
            );
        }
        for scalar in self.scalars {
            out += &format!(
                "| `{}` | scalar | `{}` | {} | {} |\n",
                scalar.name,
                scalar.ty,
                scalar.range.text(),
                squeeze(scalar.doc)
            );
        }
        out
    }
}
