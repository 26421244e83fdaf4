// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Licence and provenance lint for kernel code.
//!
//! Kernels are the code most often ported from elsewhere. This lint keeps native and ported files apart and proves
//! where ports came from: every file has a header, a port cites project, URL, commit, path and copyright of its source,
//! every licence has its text, and what a project tells its users about all that agrees with the tree.
//!
//! A [`policy::Policy`] says which files are what. [`lint::lint`] looks at a [`tree::Tree`], asks the [`rules`] and
//! returns sorted findings, which [`mod@format`] writes for people, for machines and for review tools. Nothing here knows
//! the rest of opweave: it runs on any repository, without a network.

pub mod citation;
pub mod expr;
pub mod finding;
pub mod fix;
pub mod format;
pub mod head;
pub mod init;
pub mod lint;
mod manifest;
pub mod map;
pub mod opening;
pub mod policy;
pub mod rules;
pub mod selftest;
pub mod style;
pub mod template;
pub mod text;
pub mod tree;
pub mod view;
pub mod walk;
