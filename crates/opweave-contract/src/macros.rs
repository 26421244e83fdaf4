// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The declaration of an operator. Data only: no branch, no loop, nothing that a reader has to execute in the head.

/// Declares an operator: its problem, its arguments, and everything that is derived from them.
///
/// An operator's file reads like its contract page:
///
/// ```
/// use opweave_contract::{Cost, DynDims, Legal, OpContract, ScalarRange, operator};
/// use opweave_contract::{MultiplyIn, NumericalMode, Saturation};
/// use opweave_tensor::DType;
///
/// static CONTRACT: OpContract = OpContract {
///     operation: "scale",
///     version: 1,
///     mutates: &[],
///     aliases: &[("out", "input")],
///     numerical_mode: NumericalMode {
///         name: "",
///         accumulation: DType::F32,
///         roundings: &[],
///         weight_multiply: Some(MultiplyIn::F32),
///         saturation: Saturation::None,
///     },
/// };
///
/// operator! {
///     /// `out = factor * input`.
///     pub Scale = "scale";
///     problem ScaleProblem {
///         required {
///             /// Elements of a row.
///             width: usize => Legal::Range(1, 1 << 30);
///             /// dtype of `input` and `out`.
///             dtype: DType => Legal::DTypes(&[DType::F32, DType::BF16]);
///         }
///         optional {}
///         relations []
///     }
///     dims {
///         /// Rows.
///         tokens >= 0;
///     }
///     args ScaleArgs {
///         tensors {
///             /// What is scaled.
///             input: In [tokens strided, width] of dtype;
///             /// The result.
///             out: Out [tokens strided, width] aliases [input] of dtype;
///         }
///         scalars {
///             /// The factor.
///             factor: f32 = 1.0 => ScalarRange::FINITE;
///         }
///     }
///     faults []
///     contracts [&CONTRACT] by |_problem| &CONTRACT;
///     cost |problem, specs, dims| Cost::streaming(specs, dims, (dims.get(0) * problem.width) as u64);
/// }
/// # let problem = ScaleProblem::new(8, DType::F32);
/// # assert_eq!(problem.width, 8);
/// ```
///
/// - Roles of tensors: `In`, `OptionalIn`, `Out`, `OptionalOut`, `InOut`, `OptionalInOut`, `Packed` (a weight that a plan
///   may want packed), `Host` (read, on the host).
/// - `strided` after a dimension: its stride may exceed the extent of what lies inside it. `free` after the second dimension,
///   where the first is `strided`: besides that, it may lie outside the first in memory.
/// - `dim_relations [a <= b]` after `dims`: one dynamic dimension is at most another.
/// - An optional tensor's dtype is an `Option<DType>` of the problem: `None` leaves it out.
#[macro_export]
macro_rules! operator {
    (
        $(#[doc = $doc:literal])*
        $vis:vis $op:ident = $name:literal;
        problem $problem:ident {
            required { $($(#[doc = $rdoc:literal])* $rfact:ident : $rty:ty => $rlegal:expr;)* }
            optional { $($(#[doc = $odoc:literal])* $ofact:ident : $oty:ty = $odefault:expr => $olegal:expr;)* }
            relations [$($relation:expr),* $(,)?]
        }
        dims { $($(#[doc = $ddoc:literal])* $dim:ident >= $dmin:literal;)* }
        $(dim_relations [$($fewer:ident <= $more:ident),* $(,)?])?
        args $args:ident {
            tensors { $(
                $(#[doc = $tdoc:literal])*
                $tensor:ident : $role:ident [$($size:tt $($strided:ident)?),*] $(aliases [$($alias:ident),*])? of $dtype:expr;
            )* }
            scalars { $($(#[doc = $sdoc:literal])* $scalar:ident : $sty:ty = $sdefault:expr => $range:expr;)* }
        }
        faults [$($fault:literal),* $(,)?]
        contracts [$($contract:expr),+ $(,)?] by |$cp:ident| $pick:expr;
        cost |$costp:ident, $costs:ident, $costd:ident| $cost:expr;
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $op;

        #[doc = concat!("What is fixed for the life of a model about `", $name, "`.")]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $vis struct $problem {
            $($(#[doc = $rdoc])* pub $rfact: $rty,)*
            $($(#[doc = $odoc])* pub $ofact: $oty,)*
            /// What is promised of each tensor.
            pub promises: $crate::Promises,
            /// Upper bounds of the dynamic dimensions.
            pub bounds: $crate::Bounds,
        }

        impl $problem {
            /// A problem with every optional fact at its default, nothing promised and nothing bounded.
            #[must_use]
            pub fn new($($rfact: $rty),*) -> Self {
                $(let $ofact: $oty = $odefault;)*
                $problem {
                    $($rfact,)* $($ofact,)*
                    promises: $crate::Promises::default(),
                    bounds: $crate::Bounds::default(),
                }
            }
        }

        #[doc = concat!("The arguments of one call of `", $name, "`.")]
        #[derive(Clone, Copy, Debug)]
        $vis struct $args {
            $($(#[doc = $tdoc])* pub $tensor: $crate::tensor_field!($role),)*
            $($(#[doc = $sdoc])* pub $scalar: $sty,)*
        }

        const _: () = {
            assert!(
                <[&str]>::len(&[$(stringify!($tensor)),*]) <= $crate::MAX_TENSORS,
                "an operator has at most MAX_TENSORS tensors"
            );
            assert!(
                <[&str]>::len(&[$(stringify!($dim)),*]) <= $crate::MAX_DYNAMIC,
                "an operator has at most MAX_DYNAMIC dynamic dimensions"
            );
            static SIGNATURE: $crate::Signature = $crate::Signature {
                operation: $name,
                doc: concat!($($doc, "\n",)*),
                facts: &[
                    $($crate::FactParam {
                        name: stringify!($rfact),
                        default: None,
                        optional: <$rty as $crate::FactType>::OPTIONAL,
                        type_legal: <$rty as $crate::FactType>::legal,
                        values: <$rty as $crate::FactType>::all,
                        legal: $rlegal,
                        doc: concat!($($rdoc, "\n",)*),
                    },)*
                    $($crate::FactParam {
                        name: stringify!($ofact),
                        default: Some(stringify!($odefault)),
                        optional: <$oty as $crate::FactType>::OPTIONAL,
                        type_legal: <$oty as $crate::FactType>::legal,
                        values: <$oty as $crate::FactType>::all,
                        legal: $olegal,
                        doc: concat!($($odoc, "\n",)*),
                    },)*
                ],
                relations: &[$($relation),*],
                dims: &[$($crate::DynParam {
                    name: stringify!($dim), min: $dmin, doc: concat!($($ddoc, "\n",)*),
                }),*],
                dim_relations: &[$($((stringify!($fewer), stringify!($more))),*)?],
                tensors: &[$($crate::TensorParam {
                    name: stringify!($tensor),
                    role: $crate::tensor_role!($role),
                    optional: $crate::tensor_optional!($role),
                    packed: $crate::tensor_packed!($role),
                    placement: $crate::tensor_placement!($role),
                    dims: &[$($crate::DimParam {
                        text: stringify!($size),
                        strided: $crate::dim_strided!($($strided)?),
                        free: $crate::dim_free!($($strided)?),
                    }),*],
                    dtype: stringify!($dtype),
                    aliases: &[$($(stringify!($alias)),*)?],
                    doc: concat!($($tdoc, "\n",)*),
                }),*],
                scalars: &[$($crate::ScalarParam {
                    name: stringify!($scalar),
                    ty: stringify!($sty),
                    default: $sdefault as f64,
                    range: $range,
                    doc: concat!($($sdoc, "\n",)*),
                }),*],
                faults: &[$($fault),*],
            };

            impl $crate::Operator for $op {
                const NAME: &'static str = $name;
                const CONTRACTS: &'static [&'static $crate::OpContract] = &[$($contract),+];
                type Problem = $problem;
                type Args = $args;

                fn signature() -> &'static $crate::Signature {
                    &SIGNATURE
                }

                fn contract($cp: &$problem) -> &'static $crate::OpContract {
                    $pick
                }

                fn facts(problem: &$problem, visitor: &mut dyn $crate::FactVisitor) {
                    $(visitor.fact(stringify!($rfact), $crate::FactType::value(problem.$rfact));)*
                    $(visitor.fact(stringify!($ofact), $crate::FactType::value(problem.$ofact));)*
                }

                fn parse(text: $crate::ProblemText<'_>) -> Result<$problem, $crate::ProblemError> {
                    $(let $rfact: $rty = text.take(stringify!($rfact), None)?;)*
                    $(let $ofact: $oty = text.take(stringify!($ofact), Some($odefault))?;)*
                    let (promises, bounds) = text.finish();
                    Ok($problem { $($rfact,)* $($ofact,)* promises, bounds })
                }

                fn promises(problem: &$problem) -> &$crate::Promises {
                    &problem.promises
                }

                fn bounds(problem: &$problem) -> &$crate::Bounds {
                    &problem.bounds
                }

                fn with_bounds(problem: &$problem, bounds: $crate::Bounds) -> $problem {
                    $problem { bounds, ..*problem }
                }

                fn describe(problem: &$problem) -> $crate::ArgSpecs {
                    let $problem { $($rfact,)* $($ofact,)* promises, bounds } = *problem;
                    let mut next = $crate::Counter::default();
                    $(let $dim = $crate::DimExpr::dynamic(next.next() as u8);)*
                    // A declaration uses the facts and dimensions that it needs, not all of them.
                    let _ = ($(&$rfact,)* $(&$ofact,)* $(&$dim,)*);
                    let mut specs = $crate::ArgSpecs::new(&SIGNATURE, bounds);
                    let mut index = $crate::Counter::default();
                    $(
                        // A size in parentheses would be linted as an argument, and is not as part of a tuple.
                        specs.push(
                            $crate::DTypeExpr::dtype($dtype),
                            &[$($crate::DimExpr::from(($size,).0)),*],
                            promises.get(index.next()),
                        );
                    )*
                    specs
                }

                #[inline]
                fn check(specs: &$crate::ArgSpecs, args: &$args) -> Result<$crate::DynDims, $crate::ContractError> {
                    const TENSORS: usize = [$(stringify!($tensor)),*].len();
                    let tensors = $crate::Checker::<TENSORS>::tensors(specs)?;
                    let mut checker = $crate::Checker::<TENSORS>::new(specs, tensors);
                    let mut index = $crate::Counter::default();
                    $({
                        const RANK: usize = [$(stringify!($size)),*].len();
                        checker.tensor::<RANK>(index.next(), $crate::TensorSlot::get(&args.$tensor))?;
                    })*
                    // Dimensions by name, as their relations say them.
                    let mut next = $crate::Counter::default();
                    $(let $dim = next.next();)*
                    let _ = ($($dim,)*);
                    $($(checker.at_most($fewer, $more)?;)*)?
                    index.reset();
                    $(
                        let range: $crate::ScalarRange = $range;
                        checker.scalar(index.next(), &range, $crate::ScalarArg::widen(args.$scalar))?;
                    )*
                    checker.finish()
                }

                #[inline]
                fn dims(specs: &$crate::ArgSpecs, args: &$args) -> $crate::DynDims {
                    let mut dims = [0_usize; $crate::MAX_DYNAMIC];
                    let mut index = $crate::Counter::default();
                    $($crate::read_dims(specs, index.next(), $crate::TensorSlot::get(&args.$tensor), &mut dims);)*
                    $crate::DynDims::new(&dims[..SIGNATURE.dims.len()])
                }

                fn assemble<S: $crate::ArgSource>(specs: &$crate::ArgSpecs, source: &mut S) -> Result<$args, S::Error> {
                    let mut index = $crate::Counter::default();
                    $(let $tensor = $crate::TensorSlot::put($crate::fetch(specs, index.next(), source)?);)*
                    index.reset();
                    $(
                        let $scalar = <$sty as $crate::ScalarArg>::narrow(source.scalar(&SIGNATURE.scalars[index.next()]));
                    )*
                    Ok($args { $($tensor,)* $($scalar,)* })
                }

                fn visit(args: &$args, visitor: &mut dyn $crate::ArgVisitor) {
                    let mut index = $crate::Counter::default();
                    $(visitor.tensor(index.next(), $crate::TensorSlot::get(&args.$tensor));)*
                    index.reset();
                    $(visitor.scalar(index.next(), $crate::ScalarArg::widen(args.$scalar));)*
                }

                fn cost($costp: &$problem, $costd: &$crate::DynDims) -> $crate::Cost {
                    let $costs = &Self::describe($costp);
                    $cost
                }
            }
        };
    };
}

/// The type of an argument field for its role.
#[doc(hidden)]
#[macro_export]
macro_rules! tensor_field {
    (OptionalIn) => { Option<$crate::RawTensor> };
    (OptionalOut) => { Option<$crate::RawTensor> };
    (OptionalInOut) => { Option<$crate::RawTensor> };
    ($role:ident) => { $crate::RawTensor };
}

/// The role behind a role word.
#[doc(hidden)]
#[macro_export]
macro_rules! tensor_role {
    (In) => {
        $crate::Role::In
    };
    (OptionalIn) => {
        $crate::Role::In
    };
    (Packed) => {
        $crate::Role::In
    };
    (Host) => {
        $crate::Role::In
    };
    (Out) => {
        $crate::Role::Out
    };
    (OptionalOut) => {
        $crate::Role::Out
    };
    (InOut) => {
        $crate::Role::InOut
    };
    (OptionalInOut) => {
        $crate::Role::InOut
    };
}

/// Whether a role word is optional.
#[doc(hidden)]
#[macro_export]
macro_rules! tensor_optional {
    (OptionalIn) => {
        true
    };
    (OptionalOut) => {
        true
    };
    (OptionalInOut) => {
        true
    };
    ($role:ident) => {
        false
    };
}

/// Whether a role word marks a packable weight.
#[doc(hidden)]
#[macro_export]
macro_rules! tensor_packed {
    (Packed) => {
        true
    };
    ($role:ident) => {
        false
    };
}

/// Where the tensor of a role word is.
#[doc(hidden)]
#[macro_export]
macro_rules! tensor_placement {
    (Host) => {
        $crate::Placement::Host
    };
    ($role:ident) => {
        $crate::Placement::Device
    };
}

/// Whether a dimension is marked `strided`.
#[doc(hidden)]
#[macro_export]
macro_rules! dim_strided {
    () => {
        false
    };
    (strided) => {
        true
    };
    (free) => {
        true
    };
}

/// Whether a dimension is marked `free`.
#[doc(hidden)]
#[macro_export]
macro_rules! dim_free {
    (free) => {
        true
    };
    ($($other:ident)?) => {
        false
    };
}
