// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Real folders: what git tracks and ignores, links, revisions.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use opweave_license::lint::{Report, Scope, lint};
use opweave_license::policy::Policy;
use opweave_license::rules::RULES;
use opweave_license::tree::Tree;
use opweave_license::walk::Disk;

use crate::lab::{POLICY, brief, native, text};

fn git(root: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(root)
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn run(root: &Path, scope: &Scope) -> Report {
    let policy =
        POLICY.to_owned() + "[[annotate]]\npaths = [\".gitignore\"]\nexpression = \"MIT\"\ncopyright = \"Us\"\n";
    let mut policy = Policy::parse("license.toml", &policy).unwrap();
    lint(&mut policy, &Disk::new(root), RULES, scope).unwrap()
}

/// A repository with one commit.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    git(root, &["init", "-q"]);
    write(root, ".gitignore", "target\n*.log\n");
    write(root, "src/good.rs", &native("//"));
    write(root, "src/bad.rs", "fn f() {}\n");
    write(root, "kept.log", "x\n");
    write(root, "target/x.rs", "fn f() {}\n");
    write(root, "LICENSE", text("MIT"));
    write(root, "licenses/MIT.txt", text("MIT"));
    git(root, &["add", "-A"]);
    git(root, &["add", "-f", "kept.log"]);
    git(root, &["commit", "-qm", "one"]);
    folder
}

#[test]
fn tracked_and_untracked_files_count_and_ignored_ones_do_not() {
    let folder = repository();
    let root = folder.path();
    write(root, "new.rs", "fn f() {}\n");
    write(root, "gone.log", "x\n");
    fs::remove_file(root.join("src/good.rs")).unwrap();
    // Another repository within is its own business.
    write(root, "vendor/inner/x.rs", "fn f() {}\n");
    git(&root.join("vendor/inner"), &["init", "-q"]);
    let paths: Vec<String> = Disk::new(root).entries().unwrap().into_iter().map(|entry| entry.path).collect();
    assert_eq!(paths, [".gitignore", "LICENSE", "kept.log", "licenses/MIT.txt", "new.rs", "src/bad.rs"]);
}

#[test]
fn a_folder_without_git_is_linted_whole() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), ".gitignore", "a.rs\n");
    write(folder.path(), "a.rs", "fn f() {}\n");
    write(folder.path(), ".hidden/b.rs", "fn f() {}\n");
    let found = brief(&run(folder.path(), &Scope::All).findings);
    assert!(found.iter().any(|f| f.contains("a.rs")) && found.iter().any(|f| f.contains(".hidden/b.rs")), "{found:?}");
}

#[test]
fn links_and_unreadable_files() {
    let folder = repository();
    let root = folder.path();
    symlink("/etc", root.join("outside")).unwrap();
    symlink("../..", root.join("src/up")).unwrap();
    symlink("src/good.rs", root.join("inside.rs")).unwrap();
    symlink("nothing", root.join("dangling")).unwrap();
    write(root, "locked.rs", "x");
    fs::set_permissions(root.join("locked.rs"), fs::Permissions::from_mode(0o000)).unwrap();
    let found = brief(&run(root, &Scope::All).findings);
    let has = |text: &str| found.iter().any(|f| f == text);
    assert!(has("L018 outside:1:1") && has("L018 src/up:1:1") && has("L017 dangling:1:1"), "{found:?}");
    assert!(!found.iter().any(|f| f.contains("inside.rs")), "{found:?}");
    // Whoever may read everything, as root may, reads this too and finds no header.
    assert!(has("L017 locked.rs:1:1") || has("L001 locked.rs:1:1"), "{found:?}");
    fs::set_permissions(root.join("locked.rs"), fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_revision_narrows_the_report_to_what_changed() {
    let folder = repository();
    let root = folder.path();
    let disk = Disk::new(root);
    write(root, "src/new.rs", "fn f() {}\n");
    write(root, "src/good.rs", &(native("//") + "// changed\n"));
    let changed = disk.changed("HEAD").unwrap();
    assert_eq!(changed.iter().map(String::as_str).collect::<Vec<_>>(), ["src/good.rs", "src/new.rs"]);
    let found = run(root, &Scope::Changed(changed)).findings;
    // The texts have no digest, which is about the tree; the old file without a header is not shown.
    assert_eq!(brief(&found), ["L020 licenses/MIT.txt:1:1", "L001 src/new.rs:1:1"]);
    for bad in ["nonesuch", "--output=x", ""] {
        assert!(disk.changed(bad).is_err_and(|error| error.contains("no revision")), "{bad}");
    }
    let found = run(root, &Scope::Paths(vec!["src".into()])).findings;
    assert_eq!(brief(&found), ["L001 src/bad.rs:1:1", "L001 src/new.rs:1:1"]);
    assert!(run(root, &Scope::Paths(vec!["sr".into()])).findings.is_empty());
}
