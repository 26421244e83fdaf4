// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::path::{Path, PathBuf};

use opweave_numerics::suite::Glob;

use super::*;

const GOOD: &str = r#"
kernel = "rms_norm"
[defaults]
repeat_ms = 20
optional_references = ["torch_eager"]
[[config]]
label = "t16_h4096_bf16"
default = true
[[config]]
label = "t1_h4096_bf16"
default = false
repeat_ms = 5
optional_references = []
[config.implementation]
"cpu:x86_64" = "cpu.native.rms_norm.portable"
"#;

fn read(text: &str) -> Result<Vec<Entry>, String> {
    parse(Path::new("suites/normalization/rms_norm.toml"), text).map_err(|e| e.to_string())
}

#[test]
fn a_config_inherits_what_it_does_not_say() {
    let entries = read(GOOD).unwrap();
    let said: Vec<_> = entries.iter().map(|e| (e.repeat_ms, e.optional_references.len(), e.default)).collect();
    assert_eq!(said, [(Some(20.0), 1, true), (Some(5.0), 0, false)]);
    assert_eq!(entries[1].implementation["cpu:x86_64"], "cpu.native.rms_norm.portable");
}

#[test]
fn what_a_file_may_not_say_is_refused_with_the_legal_set() {
    let edits: [(&str, &str, &str); 15] = [
        ("kernel = \"rms_norm\"", "kernel = \"layer_norm\"", "the file's stem is `rms_norm`"),
        ("[defaults]", "[defaults]\nspeed = 1", "unknown field `speed`"),
        ("kernel = \"rms_norm\"", "kernel = \"rms_norm\"\nkernal = 1", "unknown field `kernal`"),
        ("label = \"t1_h4096_bf16\"", "label = \"t16_h4096_bf16\"", "occurs twice"),
        ("label = \"t1_h4096_bf16\"", "label = \"small\"", "says its dimensions"),
        ("default = false\n", "", "missing field `default`"),
        ("default = true", "default = false", "no config has default = true"),
        ("repeat_ms = 20", "repeat_ms = 0", "repeat_ms is 0"),
        ("repeat_ms = 20", "repeat_ms = nan", "repeat_ms is NaN"),
        ("repeat_ms = 20", "warmup_ms = -1", "warmup_ms is -1"),
        ("repeat_ms = 20", "timer = \"cuda\"", "known are kernel"),
        ("repeat_ms = 20", "timer = \"distributed\"\nrepeat_ms = 20", "fixed counts"),
        ("repeat_ms = 20", "scope = \"end_to_end\"", "has no timer yet"),
        ("repeat_ms = 20", "devices = 2", "devices is 2"),
        ("repeat_ms = 20", "references = [\"torch_eager\"]", "occurs twice"),
    ];
    for (from, to, wanted) in edits {
        assert!(GOOD.contains(from), "{from}");
        let error = read(&GOOD.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(wanted) && error.contains("rms_norm.toml"), "{to}: {error}");
    }
    assert!(read("kernel = \"rms_norm\"").unwrap_err().contains("no [[config]]"));
    assert!(read("kernel = ").unwrap_err().starts_with("read workloads "));
}

fn tree() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../suites")
}

#[test]
fn every_operator_has_a_workload_file_of_cases_that_exist() {
    let suites = opweave_numerics::suites::builtin().unwrap();
    let (entries, findings) = check(&tree(), &suites, None);
    let text: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(text.is_empty(), "{}", text.join("\n"));
    assert!(entries.len() >= 4 * suites.operations().count());
}

#[test]
fn a_missing_file_a_wrong_label_and_a_wrong_folder_are_found() {
    let suites = opweave_numerics::suites::builtin().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (path, _) in read_tree(&tree()).unwrap() {
        let to = folder.path().join(path.strip_prefix(tree()).unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(&path, to).unwrap();
    }
    let at = |name: &str| folder.path().join("normalization").join(name);
    let text = std::fs::read_to_string(at("rms_norm.toml")).unwrap();
    std::fs::write(at("rms_norm.toml"), text.replace("t1_h4096_bf16", "t1_h4096_bf17")).unwrap();
    std::fs::remove_file(at("l2_norm.toml")).unwrap();
    std::fs::create_dir(folder.path().join("softmax2")).unwrap();
    std::fs::rename(folder.path().join("softmax/softmax.toml"), folder.path().join("softmax2/softmax.toml")).unwrap();
    let found: Vec<String> = check(folder.path(), &suites, None).1.iter().map(ToString::to_string).collect();
    let has = |a: &str, b: &str| found.iter().any(|f| f.contains(a) && f.contains(b));
    assert!(has("normalization/l2_norm.toml", "has no workload file"), "{found:#?}");
    assert!(has("rms_norm.toml", "did you mean `t1_h4096_bf16`?"), "{found:#?}");
    assert!(has("softmax2/softmax.toml", "belongs to family softmax"), "{found:#?}");
}

#[test]
fn selection_is_asked_where_a_file_states_its_choice() {
    let suites = opweave_numerics::suites::builtin().unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("normalization")).unwrap();
    std::fs::write(folder.path().join("normalization/rms_norm.toml"), GOOD.replace("[\"torch_eager\"]", "[]")).unwrap();
    let findings = |choice: Result<&str, &str>| {
        let choice = choice.map(str::to_owned).map_err(str::to_owned);
        let choose = |_: &dyn opweave_numerics::suite::DynCase, _: &str| choice.clone();
        let all = check(folder.path(), &suites, Some(&choose)).1;
        all.into_iter().filter(|f| f.path.ends_with("rms_norm.toml")).map(|f| f.message).collect::<Vec<_>>()
    };
    assert!(findings(Ok("cpu.native.rms_norm.portable")).is_empty());
    assert!(findings(Ok("cpu.native.rms_norm.avx2"))[0].contains("selection chooses `cpu.native.rms_norm.avx2`"));
    assert!(findings(Err("no row"))[0].contains("no row"));
}

#[test]
fn shards_are_disjoint_and_together_whole() {
    let entries: Vec<Entry> = read_tree(&tree()).unwrap().into_iter().flat_map(|(_, e)| e).collect();
    let whole = sweep(entries.clone(), &Filter::default(), false).unwrap();
    assert!(whole.partial.is_none() && whole.entries.iter().all(|e| e.default));
    let mut joined = Vec::new();
    for index in 1..=3 {
        let shard = Filter { shard: Some(Shard { index, of: 3 }), ..Filter::default() };
        let part = sweep(entries.clone(), &shard, false).unwrap();
        assert_eq!((part.whole, part.partial.as_deref()), (whole.entries.len(), Some(&*format!("--shard {index}/3"))));
        joined.extend(part.entries);
    }
    let key = |e: &Entry| (e.kernel.clone(), e.label.clone());
    let (mut a, mut b): (Vec<_>, Vec<_>) = (joined.iter().map(key).collect(), whole.entries.iter().map(key).collect());
    a.sort();
    b.sort();
    assert_eq!(a, b);
    for wrong in ["0/3", "4/3", "1", "a/b", "1/0", ""] {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
}

#[test]
fn filters_make_a_run_partial_and_may_not_leave_nothing() {
    let entries = read(GOOD).unwrap();
    let filter = |kernel: &str| Filter { kernel: Some(Glob::new(kernel)), ..Filter::default() };
    let some = sweep(entries.clone(), &filter("rms_*"), false).unwrap();
    assert_eq!((some.entries.len(), some.partial.as_deref()), (1, Some("--kernel rms_*")));
    let error = sweep(entries.clone(), &filter("rms_nrom"), false).unwrap_err().to_string();
    assert!(error.contains("did you mean --kernel rms_norm?"), "{error}");
    let all = sweep(entries.clone(), &Filter { all: true, ..Filter::default() }, false).unwrap();
    assert_eq!((all.entries.len(), all.partial), (2, None));
    let label = Filter { label: Some(Glob::new("t1_h4096_bf16")), ..Filter::default() };
    assert_eq!(sweep(entries, &label, false).unwrap().entries.len(), 1);
}

#[test]
fn a_flat_list_names_its_kernels() {
    let text = "[[config]]\nkernel = \"rms_norm\"\nlabel = \"t1_h8_bf16\"\n[[config]]\nkernel = \"l2_norm\"\nlabel = \"t1_h8_bf16\"\n";
    let list = |text: &str| flat(Path::new("list.toml"), text).map_err(|e| e.to_string());
    let entries = list(text).unwrap();
    assert_eq!(entries.iter().map(|e| e.kernel.as_str()).collect::<Vec<_>>(), ["rms_norm", "l2_norm"]);
    assert_eq!(sweep(entries, &Filter::default(), true).unwrap().partial.as_deref(), Some("--workloads"));
    assert!(list(&text.replace("l2_norm", "rms_norm")).unwrap_err().contains("occurs twice"));
    assert!(list(&text.replace("kernel = \"rms_norm\"\n", "")).unwrap_err().contains("names no kernel"));
    assert!(list(&format!("{text}speed = 1\n")).unwrap_err().contains("unknown field `speed`"));
    assert!(list("").unwrap_err().contains("no [[config]]"));
}
