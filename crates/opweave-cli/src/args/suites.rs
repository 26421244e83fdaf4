// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Arguments that the suites bring along: known from metadata alone, so that `--help` lists them anywhere.

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches, Command};
use opweave_numerics::suite::SuiteSet;

/// The commands that take them.
const COMMANDS: [&str; 2] = ["numerics", "bench"];

/// Adds the suites' arguments to the commands that run suites. Several suites may share an argument.
pub(crate) fn extend(command: Command, suites: &SuiteSet) -> Command {
    let mut arguments: BTreeMap<&'static str, (String, Vec<&'static str>)> = BTreeMap::new();
    for suite in suites.iter() {
        for argument in suite.arguments() {
            let help = format!("{} ({})", argument.help, argument.kind.legal());
            arguments.entry(argument.name).or_insert_with(|| (help, Vec::new())).1.push(suite.operation());
        }
    }
    COMMANDS.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |mut sub| {
            for (name, (help, operations)) in &arguments {
                let help = format!("{help}; suites of {}", operations.join(", "));
                let argument =
                    Arg::new(*name).long(name.replace('_', "-")).help(help).help_heading("Arguments of the suites");
                sub = sub.arg(argument.value_name("VALUE"));
            }
            sub
        })
    })
}

/// The values given to suites' arguments.
pub(crate) fn values(matches: &ArgMatches, suites: &SuiteSet) -> Vec<(String, String)> {
    let Some((_, sub)) = matches.subcommand().filter(|(name, _)| COMMANDS.contains(name)) else { return Vec::new() };
    let mut values: Vec<(String, String)> = Vec::new();
    for argument in suites.iter().flat_map(|suite| suite.arguments()) {
        if let Some(value) = sub.get_one::<String>(argument.name)
            && !values.iter().any(|(name, _)| name == argument.name)
        {
            values.push((argument.name.to_owned(), value.clone()));
        }
    }
    values
}
