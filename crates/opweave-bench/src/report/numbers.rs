// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! How numbers look in tables: three or four digits that mean something.

/// A time in microseconds.
#[must_use]
pub fn us(value: f64) -> String {
    digits(value)
}

/// A rate or ratio with as many decimals as leave at least three digits.
pub(crate) fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// A share as a percentage.
#[must_use]
pub fn share(value: f64) -> String {
    format!("{:.0} %", value * 100.0)
}

/// Bytes in binary units, exact where that is short: `64 MiB`, `1.5 KiB`.
pub(crate) fn bytes(n: u64) -> String {
    let mut value = n as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 || unit == "GiB" {
            let text = if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") };
            return format!("{text} {unit}");
        }
        value /= 1024.0;
    }
    format!("{n} B")
}

/// A missing value is shown as such.
pub(crate) fn or_dash(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let shown: Vec<String> = [0.0, 0.0312, 1.234, 12.34, 123.4, 12345.6].map(digits).into();
        assert_eq!(shown, ["0.000", "0.031", "1.23", "12.3", "123", "12346"]);
        assert_eq!(share(0.876), "88 %");
        let sizes: Vec<String> = [0, 1023, 1536, 64 << 20, 5 << 40].map(bytes).into();
        assert_eq!(sizes, ["0 B", "1023 B", "1.5 KiB", "64 MiB", "5120 GiB"]);
    }
}
