// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Bars of an operator's cases: how much faster than the fastest reference, or how near to the device's own copy.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::PageError;
use super::plots::{GRID, INK, OURS, THEIRS, failed};
use crate::record::Row;

/// Pixels of a bar.
const BAR: u32 = 24;
/// Pixels of the names.
const NAMES: i32 = 220;

/// Whether the rows have references.
fn by_ratio(rows: &[&Row]) -> bool {
    rows.iter().any(|row| row.ratio.is_some())
}

/// What the bars are.
pub(super) fn caption(rows: &[&Row]) -> &'static str {
    if by_ratio(rows) {
        "fastest reference over ours; beyond the line ours is faster"
    } else {
        "share of the rate of the device's own copy of as many bytes"
    }
}

/// The value of a bar.
fn value(row: &Row, by_ratio: bool) -> f64 {
    let share = || {
        let ours = row.ours()?;
        Some(ours.gb_per_s? / ours.ceiling_gb_per_s.filter(|c| *c > 0.0)?)
    };
    let value = if by_ratio { row.ratio } else { share() };
    value.filter(|v| v.is_finite()).unwrap_or(0.0)
}

/// One bar for each case.
pub(super) fn speed_up(kernel: &str, rows: &[&Row]) -> Result<String, PageError> {
    let by_ratio = by_ratio(rows);
    let most = rows.iter().map(|row| value(row, by_ratio)).fold(1.0, f64::max) * 1.1;
    let (width, height) = (560_u32, BAR * rows.len() as u32 + 40);
    let failed = failed::<DrawingAreaErrorKind<_>>(kernel);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        let x = |value: f64| NAMES + (f64::from(width as i32 - NAMES - 50) * value / most) as i32;
        let bottom = (BAR * rows.len() as u32 + 8) as i32;
        let text =
            |size: f64, h: HPos| ("sans-serif", size).into_text_style(&root).color(&INK).pos(Pos::new(h, VPos::Center));
        for tick in [0.0, 0.25, 0.5, 0.75, 1.0].map(|t| t * most) {
            root.draw(&PathElement::new(vec![(x(tick), 4), (x(tick), bottom)], GRID)).map_err(&failed)?;
            root.draw(&Text::new(format!("{tick:.2}"), (x(tick), bottom + 14), text(12.0, HPos::Center)))
                .map_err(&failed)?;
        }
        for (at, row) in rows.iter().enumerate() {
            let middle = (BAR * at as u32 + BAR / 2 + 4) as i32;
            let value = value(row, by_ratio);
            let corners = [(x(0.0), middle - 7), (x(value), middle + 7)];
            root.draw(&Rectangle::new(corners, OURS.filled())).map_err(&failed)?;
            root.draw(&Text::new(row.label.clone(), (NAMES - 6, middle), text(12.0, HPos::Right))).map_err(&failed)?;
            let shown = if value > 0.0 { format!("{value:.2}") } else { "-".to_owned() };
            root.draw(&Text::new(shown, (x(value) + 5, middle), text(12.0, HPos::Left))).map_err(&failed)?;
        }
        root.draw(&PathElement::new(vec![(x(1.0), 2), (x(1.0), bottom)], THEIRS.stroke_width(2))).map_err(&failed)?;
        root.present().map_err(&failed)?;
    }
    Ok(svg)
}
