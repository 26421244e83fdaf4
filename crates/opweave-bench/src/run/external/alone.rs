// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What a program sees of the machine: the one device that it is to measure on.
//!
//! A library that sees several GPUs may open the first of them beside the one it was told to use, as PyTorch's profiler does, and
//! disturb whoever measures there.

use std::env;
use std::process::Command;

/// By which a CUDA driver knows what it may show.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

/// A device, and how a program is shown no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alone {
    /// What the program is to call the device.
    pub(super) name: String,
    /// What it is shown, if that can be said.
    visible: Option<String>,
}

impl Alone {
    /// The device that this process calls `device`.
    pub(super) fn with(device: &str) -> Alone {
        Alone::among(device, env::var(VISIBLE).ok().as_deref())
    }

    /// The same where this process itself is shown no others than `shown`.
    fn among(device: &str, shown: Option<&str>) -> Alone {
        let Some(ordinal) = device.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse::<usize>().ok()) else {
            return Alone { name: device.to_owned(), visible: None };
        };
        let visible = match shown {
            Some(list) => list.split(',').nth(ordinal).unwrap_or("-1").trim().to_owned(),
            None => ordinal.to_string(),
        };
        Alone { name: "cuda:0".to_owned(), visible: Some(visible) }
    }

    /// Shows the device to a program that is about to start.
    pub(super) fn show(&self, command: &mut Command) {
        if let Some(visible) = &self.visible {
            command.env(VISIBLE, visible);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_shown_the_device_as_the_driver_knows_it() {
        let shown = |device, list| {
            let Alone { name, visible } = Alone::among(device, list);
            (name, visible.unwrap_or_default())
        };
        let seen = |name: &str, visible: &str| (name.to_owned(), visible.to_owned());
        assert_eq!(shown("cuda:0", None), seen("cuda:0", "0"));
        assert_eq!(shown("cuda:3", None), seen("cuda:0", "3"));
        // Numbers count what this process is shown.
        assert_eq!(shown("cuda:1", Some("5, 2")), seen("cuda:0", "2"));
        assert_eq!(shown("cuda:0", Some("GPU-8f6c,GPU-1ab0")), seen("cuda:0", "GPU-8f6c"));
        // What is not there is not replaced by another.
        assert_eq!(shown("cuda:2", Some("0")), seen("cuda:0", "-1"));
        assert_eq!(shown("cpu", Some("0,1")), seen("cpu", ""));
        assert_eq!(shown("npu:1", None), seen("npu:1", ""));
    }
}
