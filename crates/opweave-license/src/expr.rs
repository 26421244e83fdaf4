// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! SPDX expressions: grammar, spelling, comparison, and whether an allow-list satisfies one.
//!
//! The grammar is the `spdx` crate's. What is added: a word that is almost right is named with what was meant (case,
//! Cargo's old slash, deprecated ids and their successors), and two expressions are compared by their terms.

use std::collections::BTreeSet;

use spdx::expression::{ExprNode, Operator};
use spdx::{Expression, LicenseItem, Licensee, ParseMode};

/// Longer ones are refused unread: no licence needs them, and nesting could be as deep as they are long.
const LONGEST: usize = 4096;

/// Deprecated ids whose successor no rule gives.
const SUCCESSORS: [(&str, &str); 13] = [
    ("GPL-2.0-with-autoconf-exception", "GPL-2.0-only WITH Autoconf-exception-2.0"),
    ("GPL-2.0-with-bison-exception", "GPL-2.0-only WITH Bison-exception-2.2"),
    ("GPL-2.0-with-classpath-exception", "GPL-2.0-only WITH Classpath-exception-2.0"),
    ("GPL-2.0-with-font-exception", "GPL-2.0-only WITH Font-exception-2.0"),
    ("GPL-2.0-with-GCC-exception", "GPL-2.0-only WITH GCC-exception-2.0"),
    ("GPL-3.0-with-autoconf-exception", "GPL-3.0-only WITH Autoconf-exception-3.0"),
    ("GPL-3.0-with-GCC-exception", "GPL-3.0-only WITH GCC-exception-3.1"),
    ("BSD-2-Clause-FreeBSD", "BSD-2-Clause-Views"),
    ("BSD-2-Clause-NetBSD", "BSD-2-Clause"),
    ("Nunit", "zlib-acknowledgement"),
    ("StandardML-NJ", "SMLNJ"),
    ("bzip2-1.0.5", "bzip2-1.0.6"),
    ("wxWindows", "GPL-2.0-or-later WITH WxWindows-exception-3.1"),
];

/// A valid expression.
#[derive(Clone, Debug)]
pub struct Expr {
    parsed: Expression,
    normal: String,
    ids: BTreeSet<String>,
}

/// Why a text is no valid expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the licence expression {text:?}: {reason}")]
pub struct ExprError {
    /// The text.
    pub text: String,
    /// Byte offset in it.
    pub offset: usize,
    /// Bytes that are meant.
    pub length: usize,
    /// What is wrong, and what was meant if that is known.
    pub reason: String,
}

impl Expr {
    /// Reads an expression.
    ///
    /// # Errors
    /// If the text does not follow the grammar, misspells an id or names a deprecated one.
    pub fn parse(text: &str) -> Result<Self, ExprError> {
        let fail = |offset: usize, length: usize, reason: String| {
            let shown = if text.len() > 80 {
                format!("{}...", text.chars().take(80).collect::<String>())
            } else {
                text.to_owned()
            };
            Err(ExprError { text: shown, offset, length, reason })
        };
        if text.trim().is_empty() {
            return fail(0, text.len(), "it is empty; a licence id such as Apache-2.0 is wanted".into());
        }
        if text.len() > LONGEST {
            return fail(0, text.len(), format!("it is longer than {LONGEST} bytes"));
        }
        if let Some((offset, length, reason)) = misspelt(text) {
            return fail(offset, length, reason);
        }
        match Expression::parse_mode(text, ParseMode::STRICT) {
            Ok(parsed) => Ok(Self { normal: normal(&parsed), ids: ids(&parsed), parsed }),
            Err(error) => {
                let length = error.span.end.saturating_sub(error.span.start).max(1);
                fail(error.span.start, length, error.reason.to_string())
            }
        }
    }

    /// The terms in a fixed order, without needless parentheses: equal for equal expressions.
    #[must_use]
    pub fn normal(&self) -> &str {
        &self.normal
    }

    /// Whether both say the same: order and parentheses do not matter, terms do.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        self.normal == other.normal
    }

    /// Ids of licences and exceptions, each with a text of its own.
    #[must_use]
    pub fn ids(&self) -> &BTreeSet<String> {
        &self.ids
    }

    /// Whether the allowed licences satisfy it: an OR by either side, an AND by both, a pair with an exception only by
    /// the same pair.
    #[must_use]
    pub fn satisfied_by(&self, allow: &[Licensee]) -> bool {
        self.parsed.evaluate(|required| allow.iter().any(|licensee| licensee.satisfies(required)))
    }

    /// The AND of several expressions.
    #[must_use]
    pub fn all<'a>(several: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let terms: BTreeSet<&str> = several.into_iter().map(Self::normal).collect();
        let text: Vec<String> = terms.iter().map(|term| format!("({term})")).collect();
        Self::parse(&text.join(" AND ")).ok()
    }
}

impl std::fmt::Display for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.parsed.fmt(f)
    }
}

/// The first word that is almost right: offset, length, what was meant.
fn misspelt(text: &str) -> Option<(usize, usize, String)> {
    let breaks = |c: char| c.is_whitespace() || matches!(c, '(' | ')');
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let skip = rest.len() - rest.trim_start_matches(breaks).len();
        at += skip;
        let word = text[at..].split(breaks).next().unwrap_or_default();
        if let Some(reason) = almost(word) {
            return Some((at, word.len().max(1), reason));
        }
        at += word.len();
    }
    None
}

fn almost(word: &str) -> Option<String> {
    if word.is_empty() {
        return None;
    }
    if word.contains('/') && !word.starts_with("http") {
        let meant: Vec<&str> = word.split('/').map(str::trim).filter(|part| !part.is_empty()).collect();
        return Some(match meant[..] {
            [] | [_] => "a slash is no operator; write OR".into(),
            _ => format!("a slash is no operator; write {}", meant.join(" OR ")),
        });
    }
    if let Some(operator) = ["AND", "OR", "WITH"].into_iter().find(|op| op.eq_ignore_ascii_case(word) && *op != word) {
        return Some(format!("operators are upper case; write {operator}"));
    }
    if word == "NOASSERTION" || word == "NONE" {
        return Some(format!("{word} states no licence"));
    }
    let (id, later) = word.strip_suffix('+').map_or((word, false), |id| (id, true));
    if let Some(license) = spdx::license_id(id).filter(|license| license.name == id) {
        return license.is_deprecated().then(|| deprecated(id, later));
    }
    if let Some(exception) = spdx::exception_id(id).filter(|exception| exception.name == id) {
        return exception.is_deprecated().then(|| format!("exception {id} is deprecated"));
    }
    let known = spdx::identifiers::LICENSES.iter().map(|license| license.name);
    let known = known.chain(spdx::identifiers::EXCEPTIONS.iter().map(|exception| exception.name));
    known.clone().find(|name| name.eq_ignore_ascii_case(id)).map(|name| format!("the id is spelt {name}"))
}

fn deprecated(id: &str, later: bool) -> String {
    let successor = SUCCESSORS.iter().find(|(old, _)| *old == id).map(|(_, new)| (*new).to_owned());
    let bare = id.trim_end_matches('+');
    let gnu = ["GPL-", "LGPL-", "AGPL-", "GFDL-"].iter().any(|family| bare.starts_with(family));
    let suffix = if later || id.ends_with('+') { "or-later" } else { "only" };
    match successor.or_else(|| gnu.then(|| format!("{bare}-{suffix}"))) {
        Some(new) => format!("{id} is deprecated; its successor is {new}"),
        None => format!("{id} is deprecated"),
    }
}

fn ids(parsed: &Expression) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for required in parsed.requirements() {
        ids.insert(match &required.req.license {
            LicenseItem::Spdx { id, .. } => id.name.to_owned(),
            LicenseItem::Other(reference) => reference.to_string(),
        });
        ids.extend(required.req.addition.as_ref().map(ToString::to_string));
    }
    ids
}

/// Joins of one operator are flattened, and their terms sorted without repetition.
fn normal(parsed: &Expression) -> String {
    enum Node {
        Term(String),
        Join(Operator, BTreeSet<String>),
    }
    let text = |node: Node, outer: Option<Operator>| match node {
        Node::Term(term) => term,
        Node::Join(operator, terms) => {
            let word = if operator == Operator::And { " AND " } else { " OR " };
            let joined = terms.into_iter().collect::<Vec<_>>().join(word);
            // AND binds tighter, so only an OR within an AND needs parentheses.
            if outer == Some(Operator::And) && operator == Operator::Or { format!("({joined})") } else { joined }
        }
    };
    let mut stack: Vec<Node> = Vec::new();
    for node in parsed.iter() {
        match node {
            ExprNode::Req(required) => stack.push(Node::Term(required.req.to_string())),
            ExprNode::Op(operator) => {
                let mut terms = BTreeSet::new();
                for side in [stack.pop(), stack.pop()].into_iter().flatten() {
                    match side {
                        Node::Join(inner, more) if inner == *operator => terms.extend(more),
                        other => {
                            terms.insert(text(other, Some(*operator)));
                        }
                    }
                }
                let single = if terms.len() == 1 { terms.pop_first() } else { None };
                stack.push(single.map_or_else(|| Node::Join(*operator, terms), Node::Term));
            }
        }
    }
    stack.pop().map_or_else(String::new, |node| text(node, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> String {
        Expr::parse(text).unwrap_err().reason
    }

    #[test]
    fn order_and_parentheses_do_not_matter_and_terms_do() {
        let same = |a: &str, b: &str| Expr::parse(a).unwrap().same_as(&Expr::parse(b).unwrap());
        assert!(same("MIT OR Apache-2.0", "(Apache-2.0) OR (MIT)"));
        assert!(same("MIT AND (ISC AND Zlib)", "Zlib AND ISC AND MIT"));
        assert!(same("MIT AND MIT", "MIT"));
        assert!(same("(MIT OR ISC) AND Zlib", "Zlib AND (ISC OR MIT)"));
        assert!(!same("MIT OR ISC AND Zlib", "(MIT OR ISC) AND Zlib"));
        assert!(!same("ISC OR MIT AND Zlib", "(ISC OR MIT) AND Zlib"));
        assert!(!same("MIT AND ISC", "MIT OR ISC"));
        assert!(!same("Apache-2.0", "Apache-2.0 WITH LLVM-exception"));
        assert!(!same("MPL-2.0", "MPL-2.0+"));
    }

    #[test]
    fn almost_right_words_are_named_with_what_was_meant() {
        for (text, wanted) in [
            ("GPL-2.0+", "GPL-2.0-or-later"),
            ("GPL-2.0", "GPL-2.0-only"),
            ("LGPL-2.1", "LGPL-2.1-only"),
            ("GPL-2.0-with-classpath-exception", "GPL-2.0-only WITH Classpath-exception-2.0"),
            ("MIT/Apache-2.0", "MIT OR Apache-2.0"),
            ("MIT / Apache-2.0", "write OR"),
            ("mit", "spelt MIT"),
            ("MIT or ISC", "write OR"),
            ("NOASSERTION", "no licence"),
            ("Apache 2.0", "unknown"),
        ] {
            assert!(reason(text).contains(wanted), "{text}: {}", reason(text));
        }
        for good in ["MPL-2.0+", "Apache-2.0+", "LicenseRef-Mine", "Apache-2.0 WITH LLVM-exception"] {
            assert!(Expr::parse(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn ids_hold_licences_and_exceptions() {
        let ids = Expr::parse("Apache-2.0 WITH LLVM-exception OR LicenseRef-X").unwrap().ids;
        assert_eq!(ids.into_iter().collect::<Vec<_>>(), ["Apache-2.0", "LLVM-exception", "LicenseRef-X"]);
    }
}
