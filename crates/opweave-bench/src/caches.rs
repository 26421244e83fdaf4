// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Sizes of the host's caches, read from the system.
//!
//! A cold series must move more than the last level holds, so a size that is too small would report a cache's speed as
//! memory's. Where the system does not say, the fallback is large on purpose and the report names it.

use std::path::Path;

use crate::report::CacheSizes;

/// Assumed where the system is silent: at least as large as the caches of most hosts.
const FALLBACK: (u64, u64, u64) = (32 << 10, 1 << 20, 64 << 20);

/// Caches of the first processor of this host.
#[must_use]
pub fn host_caches() -> CacheSizes {
    from_sysfs(Path::new("/sys/devices/system/cpu/cpu0/cache")).unwrap_or_else(fallback)
}

fn fallback() -> CacheSizes {
    let (l1_bytes, l2_bytes, last_level_bytes) = FALLBACK;
    CacheSizes { l1_bytes, l2_bytes, last_level_bytes, source: "assumed, the system does not say".to_owned() }
}

/// Reads the `index*` folders; `None` unless there is a data cache with a size.
fn from_sysfs(folder: &Path) -> Option<CacheSizes> {
    let mut by_level = [0_u64; 8];
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let field = |name: &str| std::fs::read_to_string(entry.path().join(name)).ok().map(|s| s.trim().to_owned());
        let (Some(level), Some(kind), Some(size)) = (field("level"), field("type"), field("size")) else { continue };
        let (Ok(level), Some(bytes)) = (level.parse::<usize>(), parse_size(&size)) else { continue };
        if kind != "Instruction" && (1..by_level.len()).contains(&level) {
            by_level[level] = by_level[level].max(bytes);
        }
    }
    let last = by_level.iter().copied().rfind(|b| *b > 0)?;
    Some(CacheSizes {
        l1_bytes: by_level[1],
        l2_bytes: by_level[2],
        last_level_bytes: last,
        source: "sysfs".to_owned(),
    })
}

/// `32K`, `1024K`, `8M`.
fn parse_size(text: &str) -> Option<u64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_by_level_and_instruction_caches_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        for (index, (level, kind, size)) in
            [("1", "Data", "48K"), ("1", "Instruction", "64K"), ("2", "Unified", "2M"), ("3", "Unified", "33792K")]
                .into_iter()
                .enumerate()
        {
            let path = folder.path().join(format!("index{index}"));
            std::fs::create_dir(&path).unwrap();
            for (name, value) in [("level", level), ("type", kind), ("size", size)] {
                std::fs::write(path.join(name), format!("{value}\n")).unwrap();
            }
        }
        let caches = from_sysfs(folder.path()).unwrap();
        assert_eq!((caches.l1_bytes, caches.l2_bytes, caches.last_level_bytes), (48 << 10, 2 << 20, 33 << 20));
        assert_eq!(caches.source, "sysfs");
    }

    #[test]
    fn a_silent_system_gives_the_stated_fallback() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(from_sysfs(folder.path()), None);
        assert_eq!(from_sysfs(Path::new("/nowhere")), None);
        assert!(fallback().source.starts_with("assumed"));
        assert!(host_caches().last_level_bytes > 0);
    }

    #[test]
    fn odd_sizes_are_no_sizes() {
        for bad in ["", "K", "12X", "-1K", "99999999999G"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }
}
