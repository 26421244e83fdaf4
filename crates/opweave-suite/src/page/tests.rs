// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::path::PathBuf;
use std::process::Command;

use super::*;
use crate::baseline::{Baseline, Options, judge};
use crate::record::sample::{device, row, run};
use crate::record::{Planned, Status};

/// Rows of two families, with and without a reference, one that failed with a reason that would be markup.
fn rows() -> Vec<Row> {
    let mut rows = vec![
        row("rms_norm", "t1_h4096_bf16", &[10.0, 10.4, 9.6], Some(&[20.0, 20.0, 20.0])),
        row("rms_norm", "t64_h8192_bf16", &[300.0, 301.0, 299.0], Some(&[150.0, 150.0, 150.0])),
        row("softmax", "t1_h128256_bf16", &[42.0, 42.0, 42.0], None),
    ];
    let planned = Planned { kernel: "l2_norm".into(), label: "t1_h4096_bf16".into() };
    rows.push(Row::blank(&planned, &device(), Status::Fail, Some("<b>3 & 4</b> differ".into())));
    for row in &mut rows {
        row.multiply_add_gflop_per_s = Some(90.0);
    }
    rows
}

fn page() -> String {
    let run = run("1790000000-1", rows());
    let mut base = Baseline::of(&run);
    for one in base.rows[1].impls.iter_mut().filter(|one| one.ours) {
        one.us /= 2.0;
        one.round_us.iter_mut().for_each(|us| *us /= 2.0);
    }
    base.rows[1].ratio = base.rows[1].ratio.map(|ratio| ratio * 2.0);
    base.rows[1].ratio_rounds.iter_mut().for_each(|ratio| *ratio *= 2.0);
    let judgement = judge(&base, &run, &Options::default()).unwrap();
    assert!(judgement.regressed);
    let at = |unix_s: u64, us: f64| Point {
        unix_s,
        source: "baseline 0123abcd".into(),
        device: "a processor".into(),
        revision: None,
        kernel: "softmax".into(),
        label: "t1_h128256_bf16".into(),
        implementation: None,
        status: Status::Ok,
        us: Some(us),
        low_us: None,
        high_us: None,
        ratio: None,
    };
    html(&run, Some(&judgement), &[at(1_780_000_000, 50.0), at(1_785_000_000, 45.0), at(1_790_000_000, 42.0)]).unwrap()
}

#[test]
fn the_page_holds_every_row_and_reaches_for_nothing() {
    let page = page();
    for word in
        ["t64_h8192_bf16", "Regressed", "&lt;b&gt;3 &amp; 4&lt;/b&gt; differ", "aria-sort", "3 times", "<polyline"]
    {
        assert!(page.contains(word), "{word}");
    }
    assert_eq!(page.matches("<tr data-status").count(), 4);
    // A roofline for each family that computes, bars for each operator that was timed, a range for each timed row.
    assert_eq!(page.matches("<figure>").count(), 4);
    assert_eq!(page.matches("class=\"interval\"").count(), 3);
    for reach in ["src=", "url(", "http://", "https://", "@import", "fetch("] {
        let found: Vec<_> = page.match_indices(reach).map(|(at, _)| &page[at..(at + 60).min(page.len())]).collect();
        // The name of SVG's own namespace is no address.
        assert!(found.iter().all(|text| text.starts_with("http://www.w3.org/2000/svg")), "{found:?}");
    }
}

#[test]
fn an_empty_run_has_a_page() {
    assert!(html(&run("1", Vec::new()), None, &[]).unwrap().contains("No row matches"));
}

#[test]
fn markdown_says_what_fell() {
    let run = run("1", rows());
    let base = Baseline::of(&run);
    let judgement = judge(&base, &run, &Options::default()).unwrap();
    let text = markdown(&run, Some(&judgement));
    assert!(
        text.contains("# Suite run 1") && text.contains("No regression") && text.contains("| 2.00 | ok |"),
        "{text}"
    );
}

/// What the browser is asked to do once the page is there, as a reader would: filter, sort, choose a face.
const ACTIONS: &str = r##"<script>
const said = [];
const visible = () => [...document.querySelectorAll("#rows tbody tr")].filter((r) => !r.hidden).map((r) => r.cells[0].textContent + "/" + r.cells[1].textContent);
const type = (text) => { const f = document.getElementById("filter"); f.value = text; f.dispatchEvent(new Event("input")); };
const press = (name) => [...document.querySelectorAll("thead button")].find((b) => b.textContent === name).click();
said.push("all " + visible().length);
type("rms 8192"); said.push("filtered " + visible().join());
type("nothing at all"); said.push("none " + visible().length + " " + !document.getElementById("none").hidden);
type("");
const s = document.getElementById("status"); s.value = "fail"; s.dispatchEvent(new Event("change")); said.push("failed " + visible().join());
s.value = ""; s.dispatchEvent(new Event("change"));
press("us"); said.push("up " + visible().join());
press("us"); said.push("down " + visible().join());
said.push("sorted " + document.querySelector('th[aria-sort="descending"]').textContent);
const back = () => getComputedStyle(document.body).backgroundColor;
const light = back(); document.getElementById("theme").click(); said.push("themes " + (light !== back()));
const svg = document.querySelector("figure svg"); said.push("drawn " + (svg.getBoundingClientRect().width > 100));
said.push("fits " + (document.documentElement.scrollWidth <= window.innerWidth));
said.push("resources " + performance.getEntriesByType("resource").length);
const p = document.createElement("pre"); p.id = "said"; p.textContent = said.join("\n"); document.body.append(p);
</script></body>"##;

fn browser() -> Option<&'static str> {
    let there = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(there)
}

#[test]
fn a_browser_filters_sorts_and_has_nothing_to_complain_about() {
    let Some(browser) = browser() else {
        println!("not run: there is no Chromium");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("page.html");
    std::fs::write(&path, page().replace("</body>", ACTIONS)).unwrap();
    for size in ["1280,900", "500,800"] {
        let mut command = Command::new(browser);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
        ]);
        command
            .arg(format!("--window-size={size}"))
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()));
        let output = command.arg("--dump-dom").arg(format!("file://{}", path.display())).output().unwrap();
        let (dom, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let said = dom.split("<pre id=\"said\">").nth(1).unwrap_or_else(|| panic!("{log}{dom}"));
        let said: Vec<&str> = said.split("</pre>").next().unwrap().lines().collect();
        let (one, two, three, bad) =
            ("rms_norm/t1_h4096_bf16", "softmax/t1_h128256_bf16", "rms_norm/t64_h8192_bf16", "l2_norm/t1_h4096_bf16");
        let wanted = [
            "all 4".to_owned(),
            format!("filtered {three}"),
            "none 0 true".to_owned(),
            format!("failed {bad}"),
            format!("up {one},{two},{three},{bad}"),
            format!("down {three},{two},{one},{bad}"),
            "sorted us".to_owned(),
            "themes true".to_owned(),
            "drawn true".to_owned(),
            "fits true".to_owned(),
            "resources 0".to_owned(),
        ];
        assert_eq!(said, wanted, "{size}");
        assert!(!log.contains("CONSOLE"), "{log}");
    }
}
