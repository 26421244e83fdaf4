// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The roofline of a family.

use plotters::prelude::*;

use super::PageError;
use crate::record::Row;

/// Colours that the page's style replaces: the drawing library writes numbers, and a page has a light and a dark face.
pub(super) const INK: RGBColor = RGBColor(1, 2, 3);
/// Ours.
pub(super) const OURS: RGBColor = RGBColor(1, 2, 4);
/// References and ceilings.
pub(super) const THEIRS: RGBColor = RGBColor(1, 2, 5);
/// Lines behind the data.
pub(super) const GRID: RGBColor = RGBColor(1, 2, 6);

/// The drawing library's error as ours.
pub(super) fn failed<E: std::fmt::Display>(plot: &str) -> impl Fn(E) -> PageError + '_ {
    move |error| PageError { plot: plot.to_owned(), reason: error.to_string() }
}

/// The roofline of rows that compute; `None` where none does.
pub(super) fn roofline(family: &str, rows: &[&Row]) -> Result<Option<String>, PageError> {
    let dots: Vec<(f64, f64)> = rows
        .iter()
        .filter_map(|row| {
            let (work, ours) = (row.work?, row.ours()?);
            let intensity = work.flops as f64 / work.bytes() as f64;
            Some((intensity, ours.gflop_per_s?)).filter(|(x, y)| x.is_finite() && *x > 0.0 && *y > 0.0)
        })
        .collect();
    let most = |values: &mut dyn Iterator<Item = f64>| values.filter(|v| v.is_finite() && *v > 0.0).reduce(f64::max);
    let memory = most(&mut rows.iter().filter_map(|row| row.ours()?.ceiling_gb_per_s));
    let compute = most(&mut rows.iter().filter_map(|row| row.multiply_add_gflop_per_s));
    let (Some(first), Some(memory)) = (dots.first(), memory) else { return Ok(None) };
    let ridge = compute.map(|compute| compute / memory);
    let span = |values: &mut dyn Iterator<Item = f64>, start: f64| {
        values.fold((start, start), |(low, high), v| (low.min(v), high.max(v)))
    };
    let (low_x, high_x) = span(&mut dots.iter().map(|d| d.0).chain(ridge), first.0);
    let (low_x, high_x) = (low_x / 2.0, high_x * 4.0);
    let roof = |x: f64| compute.map_or(memory * x, |compute| compute.min(memory * x));
    let (low_y, high_y) = span(&mut dots.iter().map(|d| d.1).chain([roof(low_x), roof(high_x)]), first.1);
    let (low_y, high_y) = (low_y / 2.0, high_y * 2.0);
    let failed = failed::<DrawingAreaErrorKind<_>>(family);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (640, 360)).into_drawing_area();
        let mut chart = ChartBuilder::on(&root)
            .margin(10)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d((low_x..high_x).log_scale(), (low_y..high_y).log_scale())
            .map_err(&failed)?;
        chart
            .configure_mesh()
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(GRID.mix(0.3))
            .label_style(("sans-serif", 13, &INK))
            .x_desc("operations per byte")
            .y_desc("10^9 operations/s")
            .x_label_formatter(&|x| short(*x))
            .y_label_formatter(&|y| short(*y))
            .draw()
            .map_err(&failed)?;
        let mut line = vec![(low_x, roof(low_x))];
        line.extend(ridge.filter(|x| (low_x..high_x).contains(x)).map(|x| (x, roof(x))));
        line.push((high_x, roof(high_x)));
        chart.draw_series([PathElement::new(line, THEIRS.stroke_width(2))]).map_err(&failed)?;
        chart.draw_series(dots.iter().map(|dot| Circle::new(*dot, 4, OURS.filled()))).map_err(&failed)?;
        root.present().map_err(&failed)?;
    }
    Ok(Some(svg))
}

/// A number on an axis.
fn short(value: f64) -> String {
    if value >= 1000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}
