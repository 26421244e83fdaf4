// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Standard output: colours only for a terminal, and a reader that goes away is no error.

use std::io::{BufWriter, IsTerminal, Stdout, Write};

use clap::ValueEnum;
use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use serde::Serialize;

use crate::exit::Failure;

/// Version of what `--json` writes. The schemas are committed under `docs/schemas/`.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// Tables have one rule, under the header.
pub(crate) const LINES: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Where a command's result goes.
pub(crate) struct Output {
    out: BufWriter<Stdout>,
    color: bool,
    width: Option<u16>,
}

/// What a piece of text says, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// All is well.
    Good,
    /// Look at this.
    Warn,
    /// This is wrong.
    Bad,
}

impl Output {
    /// Standard output.
    pub(crate) fn stdout(color: Color) -> Self {
        let terminal = std::io::stdout().is_terminal();
        // https://no-color.org: any value but an empty one.
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let color = match color {
            Color::Auto => terminal && !no_color,
            Color::Always => true,
            Color::Never => false,
        };
        // A pipe gets whole lines.
        let width = terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0);
        Self { out: BufWriter::new(std::io::stdout()), color, width }
    }

    /// Width to wrap tables at; `None` leaves lines as long as they are.
    pub(crate) fn width(&self) -> Option<u16> {
        self.width
    }

    /// Text in its tone.
    pub(crate) fn tone(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => 32,
            Tone::Warn => 33,
            Tone::Bad => 31,
        };
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Lets a table wrap at the terminal's width; a pipe gets whole lines.
    pub(crate) fn fit(&self, table: &mut Table) {
        if let Some(width) = self.width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
    }

    /// A table without the blanks that fill its last column.
    pub(crate) fn table(&mut self, table: &Table) -> Result<(), Failure> {
        for line in table.lines() {
            self.line(line.trim_end())?;
        }
        Ok(())
    }

    /// One line, or several.
    pub(crate) fn line(&mut self, text: impl std::fmt::Display) -> Result<(), Failure> {
        Ok(writeln!(self.out, "{text}")?)
    }

    /// Text that brings its own line breaks.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Whether colours are written.
    pub(crate) fn color(&self) -> bool {
        self.color
    }

    /// A value as JSON, pretty, with a final line break.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut self.out, value)?;
        self.line("")
    }

    /// Hands everything to the system.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}
