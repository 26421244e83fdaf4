// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors
//! Whether an image is what its sources, flags and compiler would give.

use opweave_kernels_cuda::ImageFacts;

/// An image's state; all but fresh ones are built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Fresh,
    Missing,
    Stale(&'static str),
}

/// What an image should have been made of.
pub(crate) struct Wanted<'a> {
    pub source_hash: &'a str,
    pub targets: &'a [String],
    /// `None` where no compiler is at hand: any will do.
    pub compiler: Option<&'a str>,
}

impl State {
    /// The state of an image with these facts, whose file has this hash.
    pub(crate) fn of(facts: Option<&ImageFacts>, file: Option<&str>, wanted: &Wanted<'_>) -> State {
        let Some(facts) = facts else { return State::Missing };
        let Some(file) = file else { return State::Missing };
        // More targets than wanted are no harm.
        let lacks = |target: &String| !facts.targets.contains(target);
        let reasons = [
            (file != facts.sha256, "its file is not the one in the index"),
            (facts.source_hash != wanted.source_hash, "its sources changed"),
            (facts.flags != flags(&facts.targets), "the flags changed"),
            (wanted.targets.iter().any(lacks), "it lacks a target"),
            (wanted.compiler.is_some_and(|version| version != facts.compiler), "the compiler changed"),
        ];
        reasons.into_iter().find(|(holds, _)| *holds).map_or(State::Fresh, |(_, why)| State::Stale(why))
    }

    /// In words.
    pub(crate) fn text(&self) -> &'static str {
        match self {
            State::Fresh => "fresh",
            State::Missing => "missing",
            State::Stale(why) => why,
        }
    }
}

/// The compiler's flags for these targets, but for paths.
pub(crate) fn flags(targets: &[String]) -> Vec<String> {
    let mut flags: Vec<String> =
        ["-std=c++17", "-O3", "-Xptxas=-v", "-Werror=all-warnings", "--compress-mode=size", "-fatbin"]
            .map(String::from)
            .into();
    // Machine code is compiled through the virtual target of its own capability; PTX stands for itself.
    flags.extend(targets.iter().map(|target| match target.strip_prefix("sm_") {
        Some(capability) => format!("-gencode=arch=compute_{capability},code={target}"),
        None => format!("-gencode=arch={target},code={target}"),
    }));
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn each_reason_is_found_alone() {
        let both = targets(&["sm_90a", "compute_80"]);
        let facts = ImageFacts {
            stem: "a".into(),
            file: "a.fatbin".into(),
            bytes: 1,
            sha256: "file".into(),
            source_hash: "source".into(),
            flags: flags(&both),
            compiler: "13.0".into(),
            targets: both.clone(),
            kernels: vec![],
        };
        let state = |facts: &ImageFacts, file, source_hash, targets: &[&str], compiler| {
            let targets = self::targets(targets);
            State::of(Some(facts), file, &Wanted { source_hash, targets: &targets, compiler })
        };
        let one = &["sm_90a"][..];
        assert_eq!(state(&facts, Some("file"), "source", &["sm_90a", "compute_80"], Some("13.0")), State::Fresh);
        assert_eq!(state(&facts, Some("file"), "source", one, None), State::Fresh, "more targets than wanted");
        assert_eq!(state(&facts, None, "source", one, None), State::Missing);
        assert_eq!(
            State::of(None, Some("file"), &Wanted { source_hash: "", targets: &[], compiler: None }),
            State::Missing
        );
        for (found, wanted) in [
            (state(&facts, Some("else"), "source", one, None), "its file is not the one in the index"),
            (state(&facts, Some("file"), "else", one, None), "its sources changed"),
            (state(&facts, Some("file"), "source", &["sm_80"], None), "it lacks a target"),
            (state(&facts, Some("file"), "source", one, Some("13.1")), "the compiler changed"),
            (
                state(&ImageFacts { flags: vec!["-O0".into()], ..facts.clone() }, Some("file"), "source", one, None),
                "the flags changed",
            ),
        ] {
            assert_eq!(found.text(), wanted);
        }
    }

    #[test]
    fn a_target_is_compiled_from_its_own_capability() {
        let flags = flags(&targets(&["sm_90a", "compute_80"]));
        assert!(flags.contains(&"-gencode=arch=compute_90a,code=sm_90a".to_owned()));
        assert!(flags.contains(&"-gencode=arch=compute_80,code=compute_80".to_owned()));
    }
}
