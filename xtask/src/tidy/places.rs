// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! No file tells of one machine: neither its folders nor the package registry that it happens to use.

use super::Finding;
use super::tree::Tree;

/// Folders that exist on one machine and not on the next.
const FOLDERS: [&str; 4] = ["/work/", "/root/", "/home/", "/Users/"];

/// Hosts of package registries and their mirrors: names of packages travel, addresses do not.
const HOSTS: [&str; 7] =
    ["crates.io", "pypi.org", "pythonhosted.org", "npmjs.org", "npmjs.com", "golang.org", "debian.org"];

/// Files that must say such a word, each with its reason.
const ALLOWED: [(&str, &str); 1] = [("xtask/src/tidy/places.rs", "the words of this rule and its tests")];

/// Checks every file of the tree.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| ALLOWED.iter().all(|(path, _)| file.path != *path)) {
        for (at, line) in file.text.lines().enumerate() {
            if let Some(folder) = FOLDERS.iter().find(|folder| names_folder(line, folder)) {
                findings.push(Finding::new(&file.path, at + 1, format!("names the machine's folder {folder}")));
            }
            if let Some(host) = HOSTS.iter().find(|host| names_host(line, host)) {
                findings.push(Finding::new(&file.path, at + 1, format!("names the registry host {host}")));
            }
        }
    }
    for (path, _) in ALLOWED.iter().filter(|(path, _)| !tree.has(path)) {
        findings.push(Finding::new(path, 0, "is excepted from the rule on places but does not exist".into()));
    }
    findings
}

/// Whether an absolute path into `folder` stands in `line`: `a/work/b` is none.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | '*' | '/'))
    })
}

/// Whether a URL with that host or a host under it stands in `line`.
fn names_host(line: &str, host: &str) -> bool {
    line.match_indices("://").any(|(at, _)| {
        let authority = line[at + 3..].split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '@'))).next();
        let name = authority.unwrap_or_default().rsplit('@').next().unwrap_or_default();
        name == host || name.strip_suffix(host).is_some_and(|rest| rest.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree_of;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let tree = tree_of(&[("a.md", text), ("xtask/src/tidy/places.rs", "/work/")]);
        check(&tree).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn machine_folders_are_found() {
        assert_eq!(found("see /work/notes"), ["names the machine's folder /work/"]);
        assert_eq!(found("see \"/root/x\""), ["names the machine's folder /root/"]);
        assert!(found("a/work/b and ../work/ and work/").is_empty());
    }

    #[test]
    fn registry_hosts_are_found_in_addresses_only() {
        assert_eq!(found("https://index.crates.io/a"), ["names the registry host crates.io"]);
        assert_eq!(found("http://user@pypi.org:80/simple"), ["names the registry host pypi.org"]);
        assert!(found("registry+https://github.com/rust-lang/crates.io-index").is_empty());
        assert!(found("the PyPI package, see https://notpypi.org").is_empty());
    }

    #[test]
    fn an_exception_for_no_file_is_found() {
        assert!(check(&tree_of(&[]))[0].message.contains("does not exist"));
    }
}
