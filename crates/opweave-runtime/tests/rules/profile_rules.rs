// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! The measured profile: format, loader, staleness, and how it decides.

use std::sync::Arc;

use opweave_contract::Operator;
use opweave_device::{BackendState, DeviceKey, DeviceKind, Platform, noop};
use opweave_registry::{Bucket, Domain, ExecutionMode, FrozenRegistry, KernelSpec, Needs, Reject};
use opweave_runtime::{
    Config, Demands, Entry, Evidence, Override, OverrideSource, PROFILE_FILE, Profile, ProfileError, Query, Request,
    SCHEMA_VERSION, Winner, digest, select,
};

use crate::noop_chain::norm;
use crate::registry_rules::{open, row};
use crate::selection_rules::{frozen, problem, query};
use crate::support::operators::*;
use crate::support::world::{NOOP, runtime};

fn entry(bucket: &str, implementation: &str) -> Entry {
    Entry {
        operation: "test_norm".into(),
        device: "noop".into(),
        problem: TestNorm::all_facts(&norm()).to_string(),
        bucket: bucket.into(),
        implementation: implementation.into(),
        evidence: Evidence {
            numerics: "0123".into(),
            run: "a run".into(),
            timer: "host".into(),
            median_us: 1.5,
            spread_us: 0.25,
        },
    }
}

fn profile(digest: String, entries: Vec<Entry>) -> Profile {
    Profile { schema_version: SCHEMA_VERSION, digest, entries }
}

fn platform() -> Platform {
    Platform::new(vec![noop::backend(2, &[])])
}

/// The digest of a runtime that [`runtime`] makes.
fn current() -> String {
    digest(&runtime().registry().unwrap(), &platform())
}

const TEXT: &str = r#"schema_version = 1
digest = "abc"

[[entry]]
operation = "test_norm"
device = "noop"
problem = "hidden_size=64 dtype=f32 weight_dtype=none mode=fast"
bucket = "all"
implementation = "noop.native.test_norm.atomic"

[entry.evidence]
numerics = "0123"
run = "a run"
timer = "host"
median_us = 1.5
spread_us = 0.25
"#;

#[test]
fn the_format_is_read_and_written() {
    let read = Profile::parse(TEXT, "p.toml").unwrap();
    assert_eq!(read, profile("abc".into(), vec![entry("all", "noop.native.test_norm.atomic")]));
    let written = toml::to_string(&read).unwrap();
    assert_eq!(Profile::parse(&written, "p.toml").unwrap(), read);
    assert!(Profile::parse("schema_version = 1\ndigest = \"abc\"\n", "p.toml").unwrap().entries.is_empty());
}

#[test]
fn the_loader_reads_a_file_and_says_which_one_it_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(PROFILE_FILE);
    let error = Profile::load(&path).unwrap_err();
    assert!(matches!(&error, ProfileError::Read { path: named, .. } if named.ends_with(PROFILE_FILE)), "{error}");
    std::fs::write(&path, TEXT).unwrap();
    assert_eq!(Profile::load(&path).unwrap(), Profile::parse(TEXT, "x").unwrap());
    std::fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(matches!(Profile::load(&path).unwrap_err(), ProfileError::Read { .. }));
}

#[test]
fn what_is_no_profile_is_refused_with_the_place() {
    let cases = [
        ("not toml", TEXT.replace("digest =", "digest"), "p.toml is not valid"),
        ("an unknown key", TEXT.replace("bucket =", "bukket ="), "unknown field `bukket`"),
        ("an unknown key at the top", format!("colour = \"red\"\n{TEXT}"), "unknown field `colour`"),
        ("an unknown key of the evidence", format!("{TEXT}mean_us = 1.0\n"), "unknown field `mean_us`"),
        ("no digest", TEXT.replace("digest = \"abc\"\n", ""), "missing field `digest`"),
        ("no version", TEXT.replace("schema_version = 1\n", ""), "missing field `schema_version`"),
        ("a median in words", TEXT.replace("1.5", "\"fast\""), "invalid type"),
    ];
    for (name, text, expected) in cases {
        let error = Profile::parse(&text, "p.toml").unwrap_err();
        assert!(matches!(error, ProfileError::Format { .. }), "{name}: {error}");
        assert!(error.to_string().contains(expected), "{name}: {error}");
    }
}

#[test]
fn another_version_is_refused_before_its_fields_are_looked_at() {
    let text = "schema_version = 2\nshape = \"unheard of\"\n";
    let error = Profile::parse(text, "p.toml").unwrap_err();
    assert_eq!(error.to_string(), "profile p.toml has schema_version 2; this library reads 1");
}

#[test]
fn two_entries_for_one_thing_are_refused() {
    let (_, one) = TEXT.split_once("[[entry]]").unwrap();
    let twice = format!("{TEXT}\n[[entry]]{}", one.replace("atomic", "wide"));
    let error = Profile::parse(&twice, "p.toml").unwrap_err();
    assert!(matches!(error, ProfileError::Duplicate { .. }), "{error}");
    assert!(error.to_string().contains("two entries for test_norm [hidden_size=64"), "{error}");
    let other = format!("{TEXT}\n[[entry]]{}", one.replace("\"all\"", "\"0..=8\""));
    assert_eq!(Profile::parse(&other, "p.toml").unwrap().entries.len(), 2);
}

#[test]
fn a_profile_names_the_winner_of_its_bucket() {
    let entries = vec![entry("0..=8", "noop.reference.test_norm"), entry("9..", "noop.native.test_norm.atomic")];
    let config = Config::new()
        .device(NOOP)
        .request(Request::<TestNorm>::new(norm()).buckets("tokens", &[8]).unwrap())
        .profile(profile(current(), entries));
    let bindings = runtime().initialize(&config).unwrap();
    let prepared = bindings.prepared::<TestNorm>(NOOP, &norm()).unwrap();
    let rows: Vec<&str> = prepared.records().iter().map(|r| r.spec.name.as_str()).collect();
    assert_eq!(rows, ["noop.reference.test_norm", "noop.native.test_norm.atomic"]);
    assert_eq!(prepared.records()[0].because, "the measured profile names it");
    assert!(bindings.notes().is_empty(), "{:?}", bindings.notes());
}

#[test]
fn a_stale_profile_is_refused_visibly_and_selection_goes_by_rank() {
    let stale = profile("0000".into(), vec![entry("all", "noop.native.test_norm.atomic")]);
    let config = Config::new().device(NOOP).request(Request::<TestNorm>::new(norm())).profile(stale);
    let bindings = runtime().initialize(&config).unwrap();
    let prepared = bindings.prepared::<TestNorm>(NOOP, &norm()).unwrap();
    assert_eq!(prepared.records()[0].spec.name, "noop.native.test_norm.wide");
    let expected = format!(
        "the measured profile is stale: it was measured with digest 0000, this process has {}; selection goes by rank",
        current()
    );
    assert_eq!(bindings.notes(), [expected]);
}

#[test]
fn a_profile_beats_rank_an_override_beats_the_profile_and_filters_beat_both() {
    let registry = frozen([row("a", 9), row("b", 1), KernelSpec { deterministic: false, ..row("c", 0) }]);
    let named = |implementation: &str| profile("d".into(), vec![entry("all", implementation)]).accept("d").unwrap();
    let (problem, key) = (problem(), DeviceKey::noop(&[]));
    let chosen = |profile: Option<_>, overriding: Option<&Override>, demands| {
        let query = Query { profile, overriding, demands, ..query(Some(&problem), &key) };
        let selection = select(&registry, &query).unwrap();
        (selection.row.spec().name.clone(), selection.winner)
    };
    let (b, c, gone) = (named("b"), named("c"), named("gone"));
    let none = Demands::default();
    let deterministic = Demands { deterministic: true, batch_invariant: false };
    let over = |name: &str| Winner::RankOver { measured: name.to_owned() };
    assert_eq!(chosen(None, None, none), ("a".into(), Winner::Rank));
    assert_eq!(chosen(Some(&b), None, none), ("b".into(), Winner::Profile));
    let a = Override { value: "a".into(), source: OverrideSource::Argument };
    assert_eq!(chosen(Some(&b), Some(&a), none), ("a".into(), Winner::Override(a.clone())));
    // A solution names several rows: among them rank decides, not the profile (rule O5).
    let native = Override { value: "native".into(), source: OverrideSource::Argument };
    assert_eq!(chosen(Some(&b), Some(&native), none), ("a".into(), Winner::Override(native.clone())));
    assert_eq!(chosen(Some(&c), None, none), ("c".into(), Winner::Profile));
    assert_eq!(chosen(Some(&c), None, deterministic), ("a".into(), over("c")), "a row that does not apply");
    assert_eq!(chosen(Some(&gone), None, none), ("a".into(), over("gone")));
    assert!(over("c").to_string().ends_with("the measured profile names c, which does not apply"));
    assert_eq!(b.profile().entries.len(), 1);
}

#[test]
fn an_entry_is_for_its_operation_device_problem_and_bucket() {
    let registry = frozen([row("a", 9), row("b", 1)]);
    let loaded = profile("d".into(), vec![entry("0..=8", "b")]).accept("d").unwrap();
    let small = Bucket { dim: Some(0), low: 0, high: 8 };
    let problem = problem();
    let other = opweave_contract::DynProblem::new::<TestNorm>(TestNormProblem::new(72, opweave_tensor::DType::F32));
    let (key, named) = (DeviceKey::noop(&[]), DeviceKey::noop(&[]).with_name("another product"));
    let chosen =
        |q: Query<'_>| select(&registry, &Query { profile: Some(&loaded), ..q }).unwrap().row.spec().name.clone();
    assert_eq!(chosen(Query { bucket: small, ..query(Some(&problem), &key) }), "b");
    assert_eq!(chosen(query(Some(&problem), &key)), "a", "another bucket");
    assert_eq!(chosen(Query { bucket: small, ..query(Some(&other), &key) }), "a", "another problem");
    assert_eq!(chosen(Query { bucket: small, ..query(Some(&problem), &named) }), "a", "another product");
    assert_eq!(chosen(Query { bucket: small, ..query(None, &key) }), "a", "no problem");
    assert_eq!(chosen(Query { bucket: small, mode: ExecutionMode::Eager, ..query(Some(&problem), &key) }), "b");
}

#[test]
fn the_digest_changes_with_rows_and_drivers_and_with_nothing_else() {
    let of = |registry: &FrozenRegistry| digest(registry, &platform());
    let base = of(&frozen([row("a", 0), row("b", 0)]));
    assert_eq!(base.len(), 64);
    assert_eq!(base, of(&frozen([row("b", 0), row("a", 0)])), "the order of registration is no difference");
    type Change = fn(&mut KernelSpec);
    let changes: &[(&str, Change)] = &[
        ("name", |s| s.name = "z".into()),
        ("needs", |s| s.needs = Needs::default().with(Domain::Multiple("hidden_size", 8))),
        ("library", |s| s.needs = Needs::default().library("vendor", "2.0")),
        ("contracts", |s| s.contracts = vec![&FAST]),
        ("modes", |s| s.modes = vec![ExecutionMode::Graph]),
        ("solution", |s| s.solution = "vendor".into()),
        ("variant", |s| s.variant = Some("v".into())),
        ("binding", |s| s.binding = "cuda".into()),
        ("device", |s| s.device = DeviceKind::Cpu),
        ("priority", |s| s.priority = 1),
        ("deterministic", |s| s.deterministic = false),
        ("batch_invariant", |s| s.batch_invariant = false),
    ];
    let mut seen = vec![base.clone()];
    for (name, change) in changes {
        let mut spec = row("b", 0);
        change(&mut spec);
        let digest = of(&frozen([row("a", 0), spec]));
        assert!(!seen.contains(&digest), "{name} does not change the digest");
        seen.push(digest);
    }
    let mut registry = open();
    crate::registry_rules::register(&mut registry, row("a", 0)).unwrap();
    let reason = Reject::MissingLibrary { library: "l".into(), reason: "not found".into() };
    registry.register_unavailable::<TestNorm>(row("b", 0), reason).unwrap();
    assert_ne!(base, of(&registry.freeze()), "availability");

    let rows: Arc<FrozenRegistry> = frozen([row("a", 0), row("b", 0)]);
    for change in 0..3 {
        let mut backend = noop::backend(2, &[]);
        let BackendState::Present(devices) = &mut backend.state else { panic!() };
        match change {
            0 => devices[0].driver = Some("580.1".into()),
            1 => devices[1].runtime = Some("13.0".into()),
            _ => devices[0].key = DeviceKey::noop(&["fast"]),
        }
        assert_ne!(base, digest(&rows, &Platform::new(vec![backend])), "platform change {change}");
    }
}
