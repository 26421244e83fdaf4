// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use super::file::file_name;
use super::*;

fn names(devices: &[&str]) -> Vec<String> {
    devices.iter().map(|d| (*d).to_owned()).collect()
}

fn take(folder: &Folder, devices: &[&str], limit_ms: u64) -> Result<Lease, LeaseError> {
    lease(folder, &names(devices), Duration::from_millis(limit_ms), &Interrupt::default(), &mut |_| {})
}

fn open(path: &Path) -> Folder {
    Folder::open(path).unwrap()
}

#[test]
fn c18_one_holds_and_the_other_is_told_who() {
    let root = tempfile::tempdir().unwrap();
    let folder = open(&root.path().join("locks"));
    let first = take(&folder, &["GPU-b", "GPU-a"], 0).unwrap();
    assert_eq!(first.devices().collect::<Vec<_>>(), ["GPU-a", "GPU-b"]);
    let mut told = Vec::new();
    let wait = Duration::from_millis(250);
    let error = lease(&folder, &names(&["GPU-b"]), wait, &Interrupt::default(), &mut |who| told.push(who.to_owned()));
    let error = error.unwrap_err();
    assert!(matches!(&error, LeaseError::Held { device, .. } if device == "GPU-b"), "{error}");
    assert!(error.to_string().contains(&format!("held by process {}", std::process::id())), "{error}");
    assert_eq!(told.len(), 1, "said once: {told:?}");
    take(&folder, &["GPU-c"], 0).unwrap();
    drop(first);
    take(&folder, &["GPU-b"], 0).unwrap();
}

#[test]
fn several_devices_are_leased_all_or_none() {
    let root = tempfile::tempdir().unwrap();
    let folder = open(root.path());
    let b = take(&folder, &["b"], 0).unwrap();
    assert!(take(&folder, &["a", "b", "c"], 0).is_err());
    // What was free before the one that was not is free again.
    take(&folder, &["a", "c"], 0).unwrap();
    drop(b);
    take(&folder, &["a", "b", "c"], 0).unwrap();
}

#[test]
fn c18_two_that_want_the_same_devices_in_opposite_orders_both_get_them() {
    let root = tempfile::tempdir().unwrap();
    let folder = open(root.path());
    std::thread::scope(|scope| {
        for order in [["a", "b"], ["b", "a"], ["a", "b"], ["b", "a"]] {
            let folder = &folder;
            scope.spawn(move || {
                for _ in 0..5 {
                    drop(take(folder, &order, 60_000).unwrap());
                }
            });
        }
    });
}

#[test]
fn the_largest_that_waits_comes_first() {
    let root = tempfile::tempdir().unwrap();
    let folder = open(root.path());
    let held = take(&folder, &["a", "b"], 0).unwrap();
    let (say, order) = channel();
    std::thread::scope(|scope| {
        let wait = |devices: &'static [&'static str]| {
            let (folder, say) = (&folder, say.clone());
            scope.spawn(move || {
                let got = take(folder, devices, 60_000).unwrap();
                say.send(devices.len()).unwrap();
                drop(got);
            });
        };
        wait(&["a"]);
        std::thread::sleep(Duration::from_millis(50));
        wait(&["a", "b"]);
        // Both wait by now.
        while std::fs::read_dir(root.path())
            .unwrap()
            .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with("waiting-"))
            .count()
            < 2
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(held);
    });
    assert_eq!([order.recv().unwrap(), order.recv().unwrap()], [2, 1]);
}

#[test]
fn a_wait_can_be_cancelled() {
    let root = tempfile::tempdir().unwrap();
    let folder = open(root.path());
    let _held = take(&folder, &["a"], 0).unwrap();
    let stop = Interrupt::default();
    stop.request();
    let error = lease(&folder, &names(&["a"]), Duration::from_secs(60), &stop, &mut |_| {}).unwrap_err();
    assert!(matches!(error, LeaseError::Cancelled { .. }), "{error}");
}

#[test]
fn c18_a_folder_that_cannot_lock_is_refused_with_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Folder::open(&file.join("locks")).unwrap_err().to_string();
    assert!(error.contains("OPWEAVE_LOCK_DIR") && error.contains("--no-lease"), "{error}");
}

#[cfg(unix)]
#[test]
fn c18_the_folder_and_its_files_are_for_every_user() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("locks");
    let folder = open(&path);
    let _held = take(&folder, &["GPU-a"], 0).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&path), 0o1777);
    assert_eq!(mode(&path.join("GPU-a.lock")), 0o666);
    // A file of another user that may only be read locks as well.
    std::fs::write(path.join("b.lock"), "").unwrap();
    std::fs::set_permissions(path.join("b.lock"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let b = take(&folder, &["b"], 0).unwrap();
    assert!(take(&folder, &["b"], 0).is_err());
    drop(b);
}

#[test]
fn identities_stay_apart_as_file_names() {
    let all = ["GPU-1", "GPU_1", "GPU/1", "../GPU-1", "GPU 1", ""].map(file_name);
    assert!(all.iter().all(|name| !name.contains('/') && name.ends_with(".lock")), "{all:?}");
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len(), "{all:?}");
}

/// A holder in a process of its own: this test again, with a folder in its environment.
#[test]
fn c18_a_holder_that_is_killed_frees_the_device_at_once() {
    if let Some(path) = std::env::var_os("OPWEAVE_TEST_HOLD") {
        let _held = take(&open(Path::new(&path)), &["GPU-a"], 0).unwrap();
        println!("held");
        std::thread::sleep(Duration::from_secs(600));
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let folder = open(root.path());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lease::tests::c18_a_holder_that_is_killed_frees_the_device_at_once", "--nocapture"])
        .env("OPWEAVE_TEST_HOLD", root.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert!(lines.any(|line| line.unwrap().contains("held")));
    let error = take(&folder, &["GPU-a"], 0).unwrap_err().to_string();
    assert!(error.contains(&format!("process {}", child.id())), "{error}");
    child.kill().unwrap();
    child.wait().unwrap();
    take(&folder, &["GPU-a"], 0).unwrap();
}
