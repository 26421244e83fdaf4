// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Unknown names end with the nearest spelling and what is known.

use crate::exit::Failure;

/// A usage error for a name that is not among `known`.
pub(crate) fn unknown(what: &str, given: &str, known: &[&str]) -> Failure {
    let nearest = opweave_contract::nearest(given, known.iter().copied());
    let hint = nearest.map_or_else(String::new, |n| format!(", did you mean `{n}`?"));
    // A long list hides the hint; the catalogue shows all of it.
    let list = match known {
        [] => "there is none".to_owned(),
        _ if known.len() <= 24 => format!("known are {}", known.join(", ")),
        _ => format!("{} are known, `opweave catalog` lists them", known.len()),
    };
    Failure::usage(format_args!("there is no {what} `{given}`{hint}\n{list}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_shows_the_nearest_and_the_known() {
        let text = unknown("operation", "rms_nrom", &["layer_norm", "rms_norm"]).to_string();
        assert_eq!(text, "there is no operation `rms_nrom`, did you mean `rms_norm`?\nknown are layer_norm, rms_norm");
        assert_eq!(unknown("suite", "x", &[]).to_string(), "there is no suite `x`\nthere is none");
    }
}
