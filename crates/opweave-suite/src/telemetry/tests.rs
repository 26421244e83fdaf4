// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

use std::path::Path;

use super::*;

/// A `/proc` of two processors: busy, stolen and idle ticks, and processes with their group and ticks.
fn write(path: &Path, (busy, stolen, idle): (u64, u64, u64), processes: &[(u32, &str, u32, u64)]) {
    let _ = std::fs::remove_dir_all(path);
    std::fs::create_dir_all(path).unwrap();
    let stat = format!("cpu  {busy} 0 0 {idle} 0 0 0 {stolen} 0 0\ncpu0 1 2\ncpu1 1 2\nintr 5\n");
    std::fs::write(path.join("stat"), stat).unwrap();
    std::fs::write(path.join("loadavg"), "1.25 0.5 0.1 1/100 4242\n").unwrap();
    for (pid, name, group, ticks) in processes {
        std::fs::create_dir_all(path.join(pid.to_string())).unwrap();
        let line = format!("{pid} ({name}) R 1 {group} 1 0 -1 4194304 0 0 0 0 {ticks} 0 0 0 20 0 1 0");
        std::fs::write(path.join(pid.to_string()).join("stat"), line).unwrap();
    }
}

fn looks(
    first: (u64, u64, u64),
    second: (u64, u64, u64),
    then: &[(u32, &str, u32, u64)],
    now: &[(u32, &str, u32, u64)],
) -> Sighting {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("proc");
    let mut probe = HostProbe::new(Proc::at(&path));
    let own = Own { group: Some(500) };
    write(&path, first, then);
    assert_eq!(probe.look(&own).unwrap().foreign_work, None, "the first look compares with nothing");
    write(&path, second, now);
    probe.look(&own).unwrap()
}

#[test]
fn work_of_others_is_what_ours_did_not_do() {
    // 100 ticks of each processor pass; ours take 90 in two processes of the group.
    let then: &[_] = &[(10, "init", 10, 5), (500, "opweave", 500, 1000), (501, "py) thon", 500, 0)];
    let quiet: &[_] = &[(10, "init", 10, 7), (500, "opweave", 500, 1080), (501, "py) thon", 500, 10)];
    let seen = looks((1000, 0, 1000), (1092, 0, 1108), then, quiet);
    assert_eq!((seen.foreign_work, seen.steal, seen.load), (Some(0.02), Some(0.0), Some(1.25)));
    assert_eq!(Limits::HOST.judge(&seen), None);
    let loud: &[_] = &[(10, "init", 10, 7), (500, "opweave", 500, 1090), (700, "cc1 (x)", 700, 60)];
    let seen = looks((1000, 0, 1000), (1152, 0, 1048), then, loud);
    assert_eq!(seen.foreign_work, Some(0.62));
    let why = Limits::HOST.judge(&seen).unwrap();
    assert!(why.contains("62 %") && why.contains("process 700 (cc1 (x))"), "{why}");
}

#[test]
fn c16_work_without_a_visible_process_is_seen() {
    let ours: &[_] = &[(500, "opweave", 500, 0)];
    let seen = looks((0, 0, 0), (150, 0, 50), ours, &[(500, "opweave", 500, 100)]);
    assert_eq!((seen.foreign_work, seen.foreign.len()), (Some(0.5), 0));
    assert!(Limits::HOST.judge(&seen).is_some());
}

#[test]
fn stolen_time_disturbs() {
    let ours: &[_] = &[(500, "opweave", 500, 0)];
    let seen = looks((0, 0, 0), (100, 20, 80), ours, &[(500, "opweave", 500, 100)]);
    assert_eq!(seen.steal, Some(0.1));
    assert!(Limits::HOST.judge(&seen).unwrap().contains("stolen"));
}

#[test]
fn looks_of_other_groups_or_too_soon_compare_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("proc");
    let mut probe = HostProbe::new(Proc::at(&path));
    write(&path, (0, 0, 0), &[]);
    probe.look(&Own::default()).unwrap();
    write(&path, (200, 0, 0), &[]);
    assert_eq!(probe.look(&Own { group: Some(7) }).unwrap().foreign_work, None, "another group began");
    write(&path, (210, 0, 0), &[]);
    assert_eq!(probe.look(&Own { group: Some(7) }).unwrap().foreign_work, None, "five ticks each");
    write(&path, (400, 0, 0), &[]);
    assert_eq!(probe.look(&Own { group: Some(7) }).unwrap().foreign_work, Some(2.0), "since the look that counted");
}

#[test]
fn a_host_that_cannot_be_read_is_no_free_host() {
    let folder = tempfile::tempdir().unwrap();
    let mut probe = HostProbe::new(Proc::at(&folder.path().join("nowhere")));
    assert!(probe.look(&Own::default()).unwrap_err().to_string().contains("sample the host"));
    let path = folder.path().join("proc");
    write(&path, (0, 0, 0), &[]);
    std::fs::write(path.join("stat"), "cpu  1 2 3\n").unwrap();
    assert!(HostProbe::new(Proc::at(&path)).look(&Own::default()).unwrap_err().reason.contains("eight numbers"));
}

/// A GPU whose readings are written down.
#[derive(Clone)]
struct Fake {
    processes: Result<Vec<BoardProcess>, String>,
    used: u64,
    utilisation: u32,
    clocks: Result<Clocks, String>,
}

impl Default for Fake {
    fn default() -> Self {
        let clocks = Clocks { mhz: 1980.0, max_mhz: 1980.0, reasons: Vec::new() };
        Fake { processes: Ok(Vec::new()), used: 0, utilisation: 0, clocks: Ok(clocks) }
    }
}

impl Board for Fake {
    fn uuid(&self) -> &str {
        "GPU-fake"
    }
    fn processes(&mut self) -> Result<Vec<BoardProcess>, String> {
        self.processes.clone()
    }
    fn used_bytes(&mut self) -> Result<u64, String> {
        Ok(self.used)
    }
    fn utilisation(&mut self) -> Result<u32, String> {
        Ok(self.utilisation)
    }
    fn clocks(&mut self) -> Result<Clocks, String> {
        self.clocks.clone()
    }
    fn power_w(&mut self) -> Result<f64, String> {
        Ok(350.0)
    }
    fn temperature_c(&mut self) -> Result<f64, String> {
        Err("not supported".to_owned())
    }
}

fn at(pid: u32, mib: u64, utilisation: u32) -> BoardProcess {
    BoardProcess { pid, bytes: Some(mib << 20), utilisation: Some(utilisation) }
}

/// A probe of a fake GPU on a host where process 900 is the row's, in group 900.
fn gpu(folder: &Path) -> GpuProbe<Fake> {
    write(folder, (0, 0, 0), &[(900, "opweave", 900, 0), (77, "other", 77, 0)]);
    GpuProbe::new(Fake::default(), Proc::at(folder))
}

#[test]
fn c16_others_on_a_gpu_are_seen_by_process_by_work_and_by_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (free, ours) = (Own::default(), Own { group: Some(900) });
    let judged = |own: &Own, fake: Fake| {
        let mut probe = gpu(folder.path());
        probe.board = fake;
        probe.quiet_bytes = Some(500 << 20);
        let mut seen = probe.look(own).unwrap();
        seen.load = None;
        Limits::GPU.judge(&seen)
    };
    let fake = |processes: &[BoardProcess], mib: u64, utilisation: u32| Fake {
        processes: Ok(processes.to_vec()),
        used: mib << 20,
        utilisation,
        ..Fake::default()
    };
    // Before: nothing, an idle display's memory, work by nobody visible, a process with memory.
    assert_eq!(judged(&free, fake(&[], 0, 0)), None);
    assert_eq!(judged(&free, fake(&[], 500, 0)), None);
    assert!(judged(&free, fake(&[], 0, 40)).unwrap().contains("40 %"));
    assert!(judged(&free, fake(&[at(77, 1300, 0)], 1300, 0)).unwrap().contains("1300 MiB"));
    // During: ours alone at full load, one more process, memory that nobody claims, work of another.
    assert_eq!(judged(&ours, fake(&[at(900, 4000, 98)], 4500, 98)), None);
    assert!(judged(&ours, fake(&[at(900, 4000, 90), at(77, 1300, 9)], 5800, 99)).unwrap().contains("process 77"));
    assert!(judged(&ours, fake(&[at(900, 4000, 98)], 5800, 98)).unwrap().contains("1300 MiB"));
    assert!(judged(&ours, fake(&[at(900, 4000, 60), at(31337, 0, 40)], 4500, 99)).unwrap().contains("40 %"));
}

#[test]
fn memory_from_before_the_run_is_no_sign_of_work() {
    let folder = tempfile::tempdir().unwrap();
    let mut probe = gpu(folder.path());
    probe.board.used = 700 << 20;
    assert_eq!(Limits::GPU.judge(&probe.look(&Own::default()).unwrap()), None);
    probe.board.used = 4700 << 20;
    probe.board.processes = Ok(vec![at(900, 4000, 90)]);
    assert_eq!(Limits::GPU.judge(&probe.look(&Own { group: Some(900) }).unwrap()), None);
}

#[test]
fn a_gpu_that_cannot_be_sampled_is_not_free() {
    let folder = tempfile::tempdir().unwrap();
    let mut probe = gpu(folder.path());
    probe.board.processes = Err("insufficient permissions".to_owned());
    assert_eq!(probe.look(&Own::default()).unwrap_err().to_string(), "sample GPU-fake: insufficient permissions");
}

fn sighted(mhz: Option<f64>, reasons: &[&str]) -> Sighting {
    let reasons = reasons.iter().map(|r| (*r).to_owned()).collect();
    Sighting { clocks: mhz.map(|mhz| Clocks { mhz, max_mhz: 1980.0, reasons }), ..Sighting::default() }
}

#[test]
fn c04_clocks_capped_by_the_operator_are_marked_and_end_nothing() {
    let of = |looks: &[Sighting]| {
        let mut telemetry = Telemetry::default();
        looks.iter().for_each(|seen| telemetry.add(seen));
        telemetry
    };
    // 59 % of the peak all the time.
    let capped = of(&vec![sighted(Some(0.59 * 1980.0), &["sw_power_cap"]); 6]);
    assert_eq!(capped.marks(), ["clocks capped at 6 of 6 looks"]);
    assert!(capped.always_capped() && capped.throttled_by == ["sw_power_cap"]);
    // Three looks, then free.
    let mut looks = vec![sighted(Some(0.59 * 1980.0), &[]); 3];
    looks.extend(vec![sighted(Some(1980.0), &[]); 7]);
    let dropped = of(&looks);
    assert_eq!((dropped.capped, dropped.always_capped()), (3, false));
    assert_eq!(dropped.marks(), ["clocks capped at 3 of 10 looks"]);
    // No telemetry.
    assert_eq!(of(&[sighted(None, &[])]).marks(), ["clocks unknown"]);
    assert!(of(&[sighted(Some(1980.0), &[])]).marks().is_empty());
    // A clock that cannot be read as a number is no free clock.
    assert!(Clocks { mhz: f64::NAN, max_mhz: 1980.0, reasons: Vec::new() }.capped());
}

#[test]
fn c17_the_variable_names_gpus_by_the_drivers_order_by_uuid_or_by_prefix() {
    let driver: Vec<String> = ["GPU-b0b0", "GPU-af7b61d8-1", "GPU-af7b9999-2"].map(str::to_owned).into();
    let seen = |variable: &str| visible(Some(variable), &driver).map_err(|e| e.to_string());
    let names = |names: &[&str]| Ok(names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
    assert_eq!(visible(None, &driver).unwrap(), driver);
    // The order of the management library plays no part: index 1 is the driver's second.
    assert_eq!(seen("1"), names(&["GPU-af7b61d8-1"]));
    assert_eq!(seen("2,0"), names(&["GPU-af7b9999-2", "GPU-b0b0"]));
    assert_eq!(seen("GPU-af7b61d8"), names(&["GPU-af7b61d8-1"]));
    assert_eq!(seen("GPU-b0b0, 1"), names(&["GPU-b0b0", "GPU-af7b61d8-1"]));
    assert!(seen("GPU-af7b").unwrap_err().contains("2 GPUs begin with it"));
    assert!(seen("MIG-1234").unwrap_err().contains("no GPU has it"));
    for none in ["", "-1", "7"] {
        assert_eq!(seen(none), names(&[]), "{none}");
    }
    assert_eq!(seen("0,-1,1"), names(&["GPU-b0b0"]));
}
