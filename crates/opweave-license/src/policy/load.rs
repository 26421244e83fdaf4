// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Reading a policy: every value is checked here, once, and what is wrong is shown with what is legal.

use std::ops::Range;

use spdx::{Licensee, ParseMode};
use toml::Spanned;

use super::globs::{Globs, LEGAL};
use super::raw::{self, Raw, Text};
use super::{
    Annotation, At, Bucket, Case, Exception, Located, Native, Override, Policy, PolicyError, Recorded, Source,
};
use crate::citation::Shape;
use crate::expr::Expr;
use crate::style::{STYLES, named};

const VERSION: i64 = 1;

impl Policy {
    /// Reads a policy; `name` is what messages call the file.
    ///
    /// # Errors
    /// At the first key, value, glob or expression that is wrong, with its line and what is legal.
    pub fn parse(name: &str, text: &str) -> Result<Self, PolicyError> {
        let source = Source { name: name.to_owned(), text: text.to_owned() };
        let raw: Raw = toml::from_str(text)
            .map_err(|error| source.error(&error.span().unwrap_or(0..0), error.message().replace('\n', " ")))?;
        Reader { source }.policy(raw)
    }
}

struct Reader {
    source: Source,
}

type Read<T> = Result<T, PolicyError>;

impl Reader {
    fn policy(self, raw: Raw) -> Read<Policy> {
        if *raw.schema_version.get_ref() != VERSION {
            return Err(self.error(&raw.schema_version, format!("schema_version is {VERSION}")));
        }
        let native = self.native(raw.native)?;
        let mut allow = Vec::new();
        for text in &raw.allow {
            allow.push(self.licensee(text)?);
        }
        let licenses_dir = match &raw.licenses_dir {
            Some(dir) => self.path(dir)?,
            None => "licenses".to_owned(),
        };
        let shape = match &raw.port_citation {
            Some(text) => Shape::parse(text.get_ref()).map_err(|reason| self.error(text, reason))?,
            None => Shape::default(),
        };
        let mut styles = std::collections::BTreeMap::new();
        for (extension, style) in &raw.styles {
            let known = named(style.get_ref()).ok_or_else(|| {
                let names: Vec<&str> = STYLES.iter().map(|style| style.name).collect();
                self.error(
                    style,
                    format!("there is no comment style {:?}; known are {}", style.get_ref(), names.join(", ")),
                )
            })?;
            styles.insert(extension.trim_start_matches('.').to_owned(), known);
        }
        let texts = raw.texts.iter().map(|(path, sha)| self.recorded(path.clone(), sha)).collect::<Read<Vec<_>>>()?;
        let map = raw
            .map
            .files
            .iter()
            .map(|file| Ok(Located { value: self.path(file)?, at: self.at(file) }))
            .collect::<Read<Vec<_>>>()?;
        let buckets = raw.buckets.iter().map(|bucket| self.bucket(bucket)).collect::<Read<Vec<_>>>()?;
        for (index, bucket) in buckets.iter().enumerate() {
            if buckets[..index].iter().any(|other| other.name == bucket.name) {
                let name = raw.buckets[index].get_ref();
                return Err(
                    self.error(&name.name, format!("there are two buckets {:?}; names are unique", bucket.name))
                );
            }
        }
        let overrides = raw.overrides.iter().map(|entry| self.override_(entry)).collect::<Read<Vec<_>>>()?;
        let exceptions = raw.exceptions.iter().map(|entry| self.exception(entry)).collect::<Read<Vec<_>>>()?;
        let annotations = raw.annotations.iter().map(|entry| self.annotation(entry)).collect::<Read<Vec<_>>>()?;
        let cases = raw.cases.into_iter().map(|case| self.case(case)).collect::<Read<Vec<_>>>()?;
        let (bucket_globs, bucket_of) = together(buckets.iter().map(|bucket| &bucket.paths));
        let (annotation_globs, annotation_of) = together(annotations.iter().map(|entry| &entry.paths));
        Ok(Policy {
            ignore: self.globs(&raw.ignore)?,
            native,
            allow,
            licenses_dir,
            shape,
            map,
            texts,
            styles,
            buckets,
            overrides,
            exceptions,
            annotations,
            cases,
            bucket_globs,
            bucket_of,
            annotation_globs,
            annotation_of,
            source: self.source,
        })
    }

    fn native(&self, raw: raw::Native) -> Read<Native> {
        let copyright = raw.copyright.get_ref().trim().to_owned();
        if copyright.is_empty() || copyright.contains(['\n', '\r']) {
            return Err(self.error(&raw.copyright, "the copyright is one line, such as `Copyright {year} The authors`"));
        }
        let year = match &raw.year {
            None if copyright.contains("{year}") => {
                return Err(self.error(&raw.copyright, "a copyright with {year} needs `year`, which new headers get"));
            }
            None => 0,
            Some(year) if (1900..2200).contains(year.get_ref()) => *year.get_ref(),
            Some(year) => return Err(self.error(year, "a year lies from 1900 to 2199")),
        };
        let text = raw.expression.get_ref().clone();
        Ok(Native {
            expression: self.expression(&raw.expression)?,
            text,
            copyright,
            copyright_first: raw.copyright_first,
            year,
        })
    }

    fn bucket(&self, raw: &Spanned<raw::Bucket>) -> Read<Bucket> {
        let bucket = raw.get_ref();
        let url = bucket.url.get_ref().clone();
        let plain = url.starts_with("https://")
            && !url.contains(char::is_whitespace)
            && !url.ends_with('/')
            && !url.ends_with(".git");
        if !plain {
            return Err(
                self.error(&bucket.url, "a canonical URL starts with https:// and ends with neither / nor .git")
            );
        }
        let copyright: Vec<String> = match &bucket.copyright {
            raw::OneOrMore::One(line) => vec![line.clone()],
            raw::OneOrMore::More(lines) => lines.clone(),
        };
        if copyright.is_empty() || copyright.iter().any(|line| line.trim().is_empty()) {
            return Err(self.error_at(&raw.span(), "`copyright` is the upstream's line, or a list of its lines"));
        }
        let required_files = bucket
            .required_files
            .iter()
            .map(|file| self.recorded(self.path(&file.path)?, &file.sha256))
            .collect::<Read<Vec<_>>>()?;
        Ok(Bucket {
            name: self.filled(&bucket.name, "a name")?,
            paths: self.paths(&bucket.paths)?,
            project: self.filled(&bucket.project, "the upstream project's name")?,
            url,
            expression: self.expression(&bucket.expression)?,
            copyright,
            sources: if bucket.sources.is_empty() { None } else { Some(self.globs(&bucket.sources)?) },
            texts: bucket.texts.iter().map(|path| self.path(path)).collect::<Read<Vec<_>>>()?,
            required_files,
            at: self.source.at(raw.span().start),
        })
    }

    fn override_(&self, raw: &raw::Override) -> Read<Override> {
        let required_text = match (&raw.required_text, &raw.required_text_file) {
            (Some(_), Some(file)) => {
                return Err(self.error(file, "`required_text` and `required_text_file` exclude each other"));
            }
            (Some(text), None) => Some(self.filled(text, "the text that travels in the file")?),
            // Read when the tree is at hand.
            (None, Some(file)) => Some(format!("{}{}", super::check::FROM_FILE, self.path(file)?)),
            (None, None) => None,
        };
        Ok(Override {
            path: self.path(&raw.path)?,
            expression: self.expression(&raw.expression)?,
            required_text,
            at: self.at(raw.required_text_file.as_ref().unwrap_or(&raw.path)),
        })
    }

    fn exception(&self, raw: &raw::Exception) -> Read<Exception> {
        let reason = self.filled(&raw.reason, "why a native file lies inside a bucket")?;
        Ok(Exception { path: self.path(&raw.path)?, reason, at: self.at(&raw.path) })
    }

    fn annotation(&self, raw: &raw::Annotate) -> Read<Annotation> {
        Ok(Annotation {
            paths: self.paths(&raw.paths)?,
            expression: std::sync::Arc::new(self.expression(&raw.expression)?),
            copyright: self.filled(&raw.copyright, "a copyright line")?,
        })
    }

    fn case(&self, raw: raw::Case) -> Read<Case> {
        let path = self.path(&raw.path)?;
        let mut expect = Vec::new();
        for rule in &raw.expect {
            if crate::rules::find(rule.get_ref()).is_none() {
                return Err(self.error(rule, format!("there is no rule {:?}; rules are L001 to L020", rule.get_ref())));
            }
            expect.push(rule.get_ref().clone());
        }
        Ok(Case { name: raw.name, path, text: raw.text, expect })
    }

    fn expression(&self, text: &Text) -> Read<Expr> {
        Expr::parse(text.get_ref()).map_err(|error| {
            self.error(
                text,
                format!(
                    "licence expression {:?}: {}; legal are ids of the SPDX list and LicenseRef-..., joined by AND, OR, WITH and parentheses",
                    error.text, error.reason
                ),
            )
        })
    }

    fn licensee(&self, text: &Text) -> Read<Licensee> {
        // The expression's own errors say more than the licensee's.
        self.expression(text)?;
        Licensee::parse_mode(text.get_ref(), ParseMode::STRICT).map_err(|_| {
            self.error(
                text,
                "`allow` lists single licences, each an SPDX id, a LicenseRef-... or a pair `ID WITH EXCEPTION`",
            )
        })
    }

    fn recorded(&self, path: String, sha: &Text) -> Read<Recorded> {
        let digest = sha.get_ref();
        if digest.len() != 64 || !digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(self.error(sha, "a SHA-256 is 64 lower-case hexadecimal digits"));
        }
        Ok(Recorded { path, sha256: digest.clone(), at: self.at(sha) })
    }

    fn paths(&self, texts: &[Text]) -> Read<Vec<Located<String>>> {
        self.globs(texts)?;
        Ok(texts.iter().map(|text| Located { value: text.get_ref().clone(), at: self.at(text) }).collect())
    }

    fn globs(&self, texts: &[Text]) -> Read<Globs> {
        Globs::new(texts.iter().map(|text| text.get_ref().as_str())).map_err(|(index, reason)| match texts.get(index) {
            Some(text) => self.error(text, format!("glob {:?}: {reason}; legal is {LEGAL}", text.get_ref())),
            None => PolicyError::whole(&self.source.name, reason),
        })
    }

    /// One file, not a glob.
    fn path(&self, text: &Text) -> Read<String> {
        let path = text.get_ref();
        let plain = !path.is_empty()
            && !path.starts_with('/')
            && !path.contains(['\\', '*', '?'])
            && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if plain {
            Ok(path.clone())
        } else {
            Err(self.error(
                text,
                format!(
                    "path {path:?}: legal is one path relative to the policy, with forward slashes and no wildcard"
                ),
            ))
        }
    }

    fn filled(&self, text: &Text, what: &str) -> Read<String> {
        let value = text.get_ref().trim();
        if value.is_empty() {
            Err(self.error(text, format!("it is empty; {what} is wanted")))
        } else {
            Ok(value.to_owned())
        }
    }

    fn at<T>(&self, value: &Spanned<T>) -> At {
        self.source.at(value.span().start)
    }

    fn error<T>(&self, value: &Spanned<T>, message: impl Into<String>) -> PolicyError {
        self.error_at(&value.span(), message)
    }

    fn error_at(&self, span: &Range<usize>, message: impl Into<String>) -> PolicyError {
        self.source.error(span, message)
    }
}

/// One set of all globs, and whose each is.
fn together<'a>(lists: impl Iterator<Item = &'a Vec<Located<String>>>) -> (Globs, Vec<usize>) {
    let mut texts = Vec::new();
    let mut owners = Vec::new();
    for (owner, list) in lists.enumerate() {
        for glob in list {
            texts.push(glob.value.as_str());
            owners.push(owner);
        }
    }
    let globs = Globs::new(texts).expect("each glob was read by itself before");
    (globs, owners)
}
