// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Adapters that are right, wrong, unwilling, slow or broken, as processes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::tests::{Deed, Scene, config};
use crate::measurement::Cache;
use crate::report::{Row, RowStatus};
use crate::run::{BenchConfig, greet};

/// `rms_norm` of f32 in plain Python. The file's name says what goes wrong.
const ADAPTER: &str = r#"
import array, json, math, os, struct, sys, time
deed = os.path.splitext(os.path.basename(__file__))[0]
def say(**words):
    print(json.dumps(words), flush=True)
if deed == "absent":
    say(answer="failed", reason="import torch: no such module")
    sys.exit()
if deed == "shown":
    say(answer="failed", reason="shown " + os.environ.get("CUDA_VISIBLE_DEVICES", "all"))
    sys.exit()
if deed == "garbled":
    print("loading weights", flush=True)
say(answer="hello", dialogue=2 if deed == "stranger" else 1, name="python." + deed, provenance="Python 3")
def read(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    body = data[8 + size:]
    return {name: array.array("f", body[slice(*of["data_offsets"])]) for name, of in header.items()}
def write(path, name, shape, values):
    header = json.dumps({name: {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * len(values)]}}).encode()
    open(path, "wb").write(struct.pack("<Q", len(header)) + header + array.array("f", values).tobytes())
for line in sys.stdin:
    ask = json.loads(line)
    if ask["ask"] == "prepare":
        if deed == "unwilling":
            say(answer="refused", reason="no " + ask["operation"])
            continue
        given = read(ask["inputs_file"])
        shape = ask["outputs"][0]["shape"]
        assert [t["name"] for t in ask["inputs"]] == ["input", "weight"] and ask["problem"]["dtype"] == "f32"
        out = []
        for row in range(shape[0]):
            x = given["input"][row * shape[1]:(row + 1) * shape[1]]
            scale = 1 / math.sqrt(sum(v * v for v in x) / shape[1] + ask["scalars"]["epsilon"])
            out += [v * scale * w for v, w in zip(x, given["weight"])]
        if deed == "wrong":
            out[-1] += 1
        write(ask["outputs_file"], "out", [shape[1], shape[0]] if deed == "turned" else shape, out)
        say(answer="prepared", notes=["by the interpreter"])
    elif ask["ask"] == "series":
        assert ask["timer"] == "wall" and ask["calls"] == 1 and ask["turns"] >= 1, ask
        say(answer="ready")
    elif ask["ask"] == "measure":
        if deed == "dies":
            print("the driver is gone", file=sys.stderr, flush=True)
            os._exit(3)
        if deed == "sleeps":
            time.sleep(60)
        say(answer="sample", us=1000.0)
    else:
        break
"#;

/// A run of one case with adapters of these names: its rows, and where they were to keep things.
fn run(names: &[&str]) -> (Vec<Row>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let programs = names.iter().map(|name| {
        let path = folder.path().join(format!("{name}.py"));
        std::fs::write(&path, ADAPTER).unwrap();
        path
    });
    let mut config = adapters(programs.collect(), folder.path());
    if names.contains(&"sleeps") {
        config.selectors.case_limit_ms = 2_000;
    }
    let rows = Scene::new(Deed::Right, Deed::Right).run(&config).rows;
    (rows, folder)
}

fn adapters(references: Vec<PathBuf>, folder: &Path) -> BenchConfig {
    let caches = vec![Cache::Cold, Cache::Hot];
    BenchConfig { references, reference_cache: folder.join("cache"), caches, ..config("rms_norm") }
}

#[test]
fn a_library_outside_takes_turns_and_gives_a_ratio() {
    let (rows, folder) = run(&["right", "unwilling"]);
    let [ours, right, unwilling] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((ours.status, right.status, unwilling.status), (RowStatus::Ok, RowStatus::Ok, RowStatus::Skip));
    assert_eq!((&*right.implementation.name, &*right.implementation.solution), ("python.right", "external"));
    assert_eq!(right.notes, ["python.right: Python 3", "by the interpreter"]);
    assert_eq!(unwilling.reason.as_deref(), Some("no rms_norm"));
    assert_eq!((ours.order.as_deref(), right.series.len()), (Some("A B B A, 8 times"), 2));
    assert!(right.series.iter().all(|s| (s.measurement.impl_us - 1000.0).abs() < 1e-9));
    assert_eq!(ours.against.len(), 2, "cold and hot");
    for against in &ours.against {
        let ours = ours.series.iter().find(|s| s.measurement.kind().to_string() == against.series).unwrap();
        assert_eq!(against.implementation, "python.right");
        assert!((against.ratio * ours.measurement.impl_us / 1000.0 - 1.0).abs() < 1e-9, "{against:?}");
    }
    assert!(folder.path().join("cache/right").is_dir());
}

#[test]
fn a_greeting_tells_what_a_machine_has_from_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    for (name, why) in [
        ("right", None),
        // It has the library, and not this operator: each case asks for itself.
        ("unwilling", None),
        ("absent", Some("import torch: no such module")),
        ("garbled", Some("`loading weights`")),
        ("stranger", Some("version 2 of the dialogue, wanted 1")),
    ] {
        let path = folder.path().join(format!("{name}.py"));
        std::fs::write(&path, ADAPTER).unwrap();
        let outcome = greet(&path, &folder.path().join("cache"), "cpu", Duration::from_secs(30));
        match (outcome, why) {
            (Ok(()), None) => {}
            (Err(said), Some(why)) if said.contains(why) => {}
            (outcome, _) => panic!("{name}: {outcome:?}"),
        }
    }
    assert!(folder.path().join("cache/right").is_dir());
}

#[test]
fn a_program_sees_no_other_gpu_than_the_one_it_is_to_measure_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shown.py");
    std::fs::write(&path, ADAPTER).unwrap();
    let said = |device| greet(&path, folder.path(), device, Duration::from_secs(30)).unwrap_err();
    // Where the tests themselves are shown some devices, the last is one of them or none.
    match std::env::var("CUDA_VISIBLE_DEVICES") {
        Err(_) => assert_eq!((said("cuda:1"), said("cpu")), ("failed to shown 1".into(), "failed to shown all".into())),
        Ok(list) => assert_eq!(said("cpu"), format!("failed to shown {list}")),
    }
}

#[test]
fn what_goes_wrong_outside_leaves_ours_measured_and_says_why() {
    for (name, why) in [
        ("wrong", "`out`"),
        ("turned", "`out` is F32 [4096, 16], wanted"),
        ("absent", "import torch: no such module"),
        ("garbled", "`loading weights`"),
        ("stranger", "version 2 of the dialogue, wanted 1"),
        ("dies", "it ended; the driver is gone"),
        ("sleeps", "no answer within 2 s"),
    ] {
        let (rows, _folder) = run(&[name, "right"]);
        let [ours, broken, right] = &rows[..] else { panic!("{name}: {rows:?}") };
        assert_eq!((ours.status, right.status), (RowStatus::BaselineError, RowStatus::Ok), "{name}");
        assert_eq!((broken.status, broken.series.len()), (RowStatus::Fail, 0), "{name}");
        for text in [&ours.reason, &broken.reason] {
            assert!(text.as_ref().unwrap().contains(why), "{name}: {text:?}");
        }
        // Enqueueing is timed too where the host's clock is the timer.
        assert_eq!((ours.series.len(), right.series.len()), (4, 2), "{name}");
        assert_eq!(ours.against.len(), 2, "{name}: the other reference still has its ratios");
    }
}

#[test]
fn nothing_is_left_running() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stubborn.py");
    let text = format!(
        "import os\nopen({:?}, 'w').write(str(os.getpid()))\n{ADAPTER}\nimport time\ntime.sleep(600)\n",
        folder.path().join("pid")
    );
    std::fs::write(&path, text).unwrap();
    Scene::new(Deed::Right, Deed::Right).run(&adapters(vec![path], folder.path()));
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    // Killed and waited for: not even a zombie.
    assert!(!Path::new("/proc").join(pid).exists());
}

#[test]
fn adapters_that_are_not_there_or_share_a_name_are_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |references: Vec<PathBuf>| {
        let scene = Scene::new(Deed::Right, Deed::Right);
        let error = crate::run::run(&adapters(references, folder.path()), &scene.ground(), &mut crate::run::Quiet);
        let error = error.unwrap_err();
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    };
    assert!(refused(vec!["/nowhere/torch.py".into()]).ends_with("there is no such file"));
    let twice = folder.path().join("a.py");
    std::fs::write(&twice, "").unwrap();
    assert!(refused(vec![twice.clone(), twice]).ends_with("another reference has the same name"));
}

#[test]
fn an_adapter_that_is_no_program_is_an_error_of_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    std::fs::write(&path, "no program").unwrap();
    let rows = Scene::new(Deed::Right, Deed::Right).run(&adapters(vec![path], folder.path())).rows;
    assert!(rows[1].reason.as_ref().unwrap().starts_with("failed to start"), "{:?}", rows[1].reason);
}
