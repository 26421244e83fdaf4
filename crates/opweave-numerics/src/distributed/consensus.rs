// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! What the verdicts of all ranks on a case come to.

use crate::report::RankVerdict;
use crate::verdict::Verdict;

/// One verdict out of all: an error if any rank has one, failed if any failed, not applicable only if it is so everywhere.
/// Where it is so for some, the ranks did not do the same, which is a failure. What keeps a run from success on one rank
/// does so for all. The order of the ranks decides nothing but which reason is told.
pub fn consensus(ranks: &[RankVerdict]) -> Verdict {
    let having = |is: fn(&Verdict) -> bool| ranks.iter().find(|r| is(&r.verdict));
    if let Some(first) = having(|v| matches!(v, Verdict::Error { .. })) {
        return Verdict::Error { reason: told(first) };
    }
    if having(|v| *v == Verdict::Failed).is_some() {
        return Verdict::Failed;
    }
    if let Some(first) = having(|v| matches!(v, Verdict::NotApplicable { .. })) {
        let everywhere = ranks.iter().all(|r| matches!(r.verdict, Verdict::NotApplicable { .. }));
        return if everywhere { first.verdict.clone() } else { Verdict::Failed };
    }
    if let Some(first) = having(|v| matches!(v, Verdict::TimedOut { .. })) {
        return first.verdict.clone();
    }
    if let Some(first) = having(|v| matches!(v, Verdict::Mistrusted { .. })) {
        return Verdict::Mistrusted { reason: told(first) };
    }
    if let Some(first) = having(|v| matches!(v, Verdict::NotRun { .. })) {
        return Verdict::NotRun { reason: told(first) };
    }
    match ranks {
        [] => Verdict::NotRun { reason: "there is no rank".to_owned() },
        _ => Verdict::Passed,
    }
}

/// A reason with the rank that has it.
fn told(of: &RankVerdict) -> String {
    format!("rank {}: {}", of.rank, of.verdict.reason().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all() -> [Verdict; 7] {
        let reason = String::from("r");
        [
            Verdict::Passed,
            Verdict::Failed,
            Verdict::NotApplicable { reason: reason.clone() },
            Verdict::NotRun { reason: reason.clone() },
            Verdict::Error { reason: reason.clone() },
            Verdict::Mistrusted { reason },
            Verdict::TimedOut { limit_ms: 3 },
        ]
    }

    fn of(verdicts: &[Verdict]) -> Verdict {
        let one = |(rank, verdict): (usize, &Verdict)| RankVerdict { rank, verdict: verdict.clone(), finding: None };
        consensus(&verdicts.iter().enumerate().map(one).collect::<Vec<_>>())
    }

    #[test]
    fn the_table_of_two_verdicts() {
        let [passed, failed, not_applicable, not_run, error, mistrusted, timed_out] = all();
        let table = [
            (&passed, &passed, "passed"),
            (&passed, &failed, "failed"),
            (&passed, &error, "error"),
            (&passed, &not_applicable, "failed"),
            (&passed, &not_run, "not_run"),
            (&passed, &mistrusted, "mistrusted"),
            (&passed, &timed_out, "timed_out"),
            (&failed, &error, "error"),
            (&failed, &not_applicable, "failed"),
            (&failed, &timed_out, "failed"),
            (&not_applicable, &not_applicable, "not_applicable"),
            (&not_applicable, &error, "error"),
            (&not_applicable, &not_run, "failed"),
            (&not_applicable, &mistrusted, "failed"),
        ];
        for (a, b, expected) in table {
            for pair in [[a.clone(), b.clone()], [b.clone(), a.clone()]] {
                assert_eq!(of(&pair).name(), expected, "{pair:?}");
            }
        }
        assert_eq!(of(&[]).name(), "not_run");
        assert_eq!(of(&[passed, error]).reason().as_deref(), Some("rank 1: r"));
    }

    proptest! {
        #[test]
        fn a_run_passes_only_where_all_do(picks in prop::collection::vec(0usize..7, 1..6), by in 0usize..6) {
            let verdicts: Vec<Verdict> = picks.iter().map(|&i| all()[i].clone()).collect();
            let agreed = of(&verdicts);
            prop_assert_eq!(agreed == Verdict::Passed, verdicts.iter().all(|v| *v == Verdict::Passed));
            prop_assert!(!agreed.is_acceptable() || verdicts.iter().all(Verdict::is_acceptable));
            let mut turned = verdicts.clone();
            turned.rotate_left(by % verdicts.len());
            prop_assert_eq!(of(&turned).name(), agreed.name());
        }
    }
}
