// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Which GPU `CUDA_VISIBLE_DEVICES` means.

use thiserror::Error;

/// A list that names no GPU for certain.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("read CUDA_VISIBLE_DEVICES entry `{entry}`: {reason}")]
pub struct VisibleError {
    /// The entry.
    pub entry: String,
    /// Why it cannot be used, with what there is.
    pub reason: String,
}

/// The UUIDs that a process sees as its devices 0, 1, ..., given the driver's own order of all.
///
/// An entry is an index into the driver's order, a UUID, or a prefix of one UUID. As for the driver, the first entry that
/// names nothing ends the list: an empty list or -1 leave no device.
///
/// # Errors
/// [`VisibleError`] for a prefix of several UUIDs, or a UUID that is not there.
pub fn visible(variable: Option<&str>, driver_order: &[String]) -> Result<Vec<String>, VisibleError> {
    let Some(list) = variable else { return Ok(driver_order.to_vec()) };
    let mut seen: Vec<String> = Vec::new();
    for entry in list.split(',').map(str::trim) {
        if let Ok(index) = entry.parse::<i64>() {
            // A negative index, or one beyond the last, ends the list silently; so does the driver.
            let Some(uuid) = usize::try_from(index).ok().and_then(|i| driver_order.get(i)) else { break };
            seen.push(uuid.clone());
            continue;
        }
        if entry.is_empty() {
            break;
        }
        let found: Vec<&String> = driver_order.iter().filter(|uuid| uuid.starts_with(entry)).collect();
        match found[..] {
            [one] => seen.push(one.clone()),
            [] => {
                let reason = format!("no GPU has it, there are {}", driver_order.join(", "));
                return Err(VisibleError { entry: entry.to_owned(), reason });
            }
            _ => {
                let reason = format!("{} GPUs begin with it: {found:?}", found.len());
                return Err(VisibleError { entry: entry.to_owned(), reason });
            }
        }
    }
    Ok(seen)
}
