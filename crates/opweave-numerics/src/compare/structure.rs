// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Structure before values: comparing the numbers of differently shaped outputs says nothing.

use opweave_tensor::{DType, DeviceId, RawTensor};

/// What about the structure of the outputs differs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StructureError {
    /// Other outputs than described.
    #[error("outputs are {actual:?}; expected {expected:?}")]
    Outputs {
        /// Names expected.
        expected: Vec<String>,
        /// Names found.
        actual: Vec<String>,
    },
    /// Another shape.
    #[error("output `{name}` has shape {actual:?}; expected {expected:?}")]
    Shape {
        /// The output.
        name: String,
        /// Shape expected.
        expected: Vec<usize>,
        /// Shape found.
        actual: Vec<usize>,
    },
    /// Another dtype.
    #[error("output `{name}` has dtype {actual}; expected {expected}")]
    DType {
        /// The output.
        name: String,
        /// dtype expected.
        expected: DType,
        /// dtype found.
        actual: DType,
    },
    /// Another device.
    #[error("output `{name}` is on {actual}; expected {expected}")]
    Device {
        /// The output.
        name: String,
        /// Device expected.
        expected: DeviceId,
        /// Device found.
        actual: DeviceId,
    },
    /// Other strides than those that were bound.
    #[error("output `{name}` has strides {actual:?}; expected {expected:?}")]
    Strides {
        /// The output.
        name: String,
        /// Strides expected, in elements.
        expected: Vec<isize>,
        /// Strides found.
        actual: Vec<isize>,
    },
}

/// Compares the outputs of a call with those described: their names and order, then shape, dtype, device and strides of
/// each.
///
/// # Errors
/// The first difference.
pub fn check_structure(expected: &[(&str, RawTensor)], actual: &[(&str, RawTensor)]) -> Result<(), StructureError> {
    let names = |leaves: &[(&str, RawTensor)]| leaves.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    if names(expected) != names(actual) {
        return Err(StructureError::Outputs { expected: names(expected), actual: names(actual) });
    }
    for ((name, e), (_, a)) in expected.iter().zip(actual) {
        let name = (*name).to_owned();
        if e.shape() != a.shape() {
            return Err(StructureError::Shape { name, expected: e.shape().to_vec(), actual: a.shape().to_vec() });
        }
        if e.dtype() != a.dtype() {
            return Err(StructureError::DType { name, expected: e.dtype(), actual: a.dtype() });
        }
        if e.device() != a.device() {
            return Err(StructureError::Device { name, expected: e.device(), actual: a.device() });
        }
        if e.strides() != a.strides() {
            return Err(StructureError::Strides { name, expected: e.strides().to_vec(), actual: a.strides().to_vec() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use opweave_tensor::DeviceKind;

    use super::*;

    #[test]
    fn each_part_of_the_structure_is_compared() {
        let view = |dtype, device, shape: &[usize], strides: &[isize]| {
            RawTensor::strided(std::ptr::null_mut(), dtype, device, shape, strides).unwrap()
        };
        let good = view(DType::F16, DeviceId::CPU, &[2, 4], &[4, 1]);
        let check = |other| check_structure(&[("out", good)], &[("out", other)]);
        assert_eq!(check(good), Ok(()));
        assert!(matches!(check_structure(&[("out", good)], &[]), Err(StructureError::Outputs { .. })));
        assert!(matches!(check_structure(&[("out", good)], &[("o", good)]), Err(StructureError::Outputs { .. })));
        let other = view(DType::F16, DeviceId::CPU, &[2, 5], &[4, 1]);
        assert!(matches!(check(other), Err(StructureError::Shape { .. })));
        let other = view(DType::BF16, DeviceId::CPU, &[2, 4], &[4, 1]);
        assert!(matches!(check(other), Err(StructureError::DType { .. })));
        let other = view(DType::F16, DeviceId::new(DeviceKind::Noop, 0), &[2, 4], &[4, 1]);
        assert!(matches!(check(other), Err(StructureError::Device { .. })));
        let other = view(DType::F16, DeviceId::CPU, &[2, 4], &[5, 1]);
        assert!(matches!(check(other), Err(StructureError::Strides { .. })));
    }
}
