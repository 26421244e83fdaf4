// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! CANN in this process, and what it says there is.

use std::ffi::{CStr, c_char, c_int};
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::Library;
use opweave_device::{Backend, BackendState, DeviceError, DeviceInfo, DeviceKey, Limits};
use opweave_tensor::{DeviceId, DeviceKind};

use crate::acl::{Acl, PackageVersion};
use crate::library::{LoadError, Missing, Place, Places};
use crate::meta::Meta;
use crate::status::{NO_DEVICE, REPEAT_INITIALIZE, SUCCESS};
use crate::version::Version;

/// `aclrtDevAttr`.
mod attribute {
    pub(super) const AI_CORES: i32 = 101;
    pub(super) const VECTOR_CORES: i32 = 201;
    pub(super) const UNIFIED_BUFFER: i32 = 204;
    pub(super) const MEMORY_BYTES: i32 = 301;
}

/// `ACL_PKG_NAME_CANN` and `ACL_PKG_NAME_RUNTIME`.
const PACKAGES: [c_int; 2] = [0, 1];

/// The files that operators are in: one until CANN 8.3, several by family since.
const OPERATOR_FILES: [&str; 4] = ["libopapi.so", "libopapi_nn.so", "libopapi_math.so", "libopapi_transformer.so"];

/// CANN's libraries, loaded; nothing is initialised by that.
pub struct Cann {
    acl: Acl,
    meta: Result<Meta, LoadError>,
    operators: Vec<Library>,
    /// Why there are none, for whoever asks for one.
    without: Option<LoadError>,
    place: Place,
    version: Version,
    initialised: Mutex<bool>,
}

impl Cann {
    /// Loads the libraries from the first of these places that has `libascendcl`; all others come from the same one, so that two
    /// installations are never mixed.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn load(places: &Places) -> Result<Self, LoadError> {
        let (library, place) = places.open(Acl::FILE)?;
        let acl = Acl::resolve(library);
        let version = version_of(&acl)?;
        let absent = |library: &str| LoadError::Absent { library: library.to_owned(), places: place.words() };
        let meta = match place.open(Meta::FILE) {
            Ok(Some(library)) => Ok(Meta::resolve(library)),
            Ok(None) => Err(absent(Meta::FILE)),
            Err(error) => Err(error),
        };
        let (mut operators, mut without) = (Vec::new(), None);
        for file in OPERATOR_FILES {
            match place.open(file) {
                Ok(Some(library)) => operators.push(library),
                Ok(None) => {}
                Err(error) => without = Some(error),
            }
        }
        if operators.is_empty() && without.is_none() {
            without = Some(absent(OPERATOR_FILES[0]));
        }
        Ok(Cann { acl, meta, operators, without, place, version, initialised: Mutex::new(false) })
    }

    /// The runtime's functions.
    pub(crate) fn acl(&self) -> &Acl {
        &self.acl
    }

    /// Descriptors and executors.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn meta(&self) -> Result<&Meta, LoadError> {
        self.meta.as_ref().map_err(Clone::clone)
    }

    /// Which version of CANN this is.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Where it was found.
    pub fn place(&self) -> String {
        self.place.words()
    }

    /// A function of the operator libraries.
    ///
    /// # Errors
    /// [`LoadError`]: no operator library, or none that has the symbol.
    ///
    /// # Safety
    /// - `F` is the type of a pointer to the function, as the vendor's reference has it.
    pub unsafe fn operator<F: Copy>(&self, symbol: &str) -> Result<F, LoadError> {
        let terminated = format!("{symbol}\0");
        for library in &self.operators {
            // SAFETY: the caller's clause.
            if let Ok(found) = unsafe { library.get::<F>(terminated.as_bytes()) } {
                return Ok(*found);
            }
        }
        match &self.without {
            Some(error) => Err(error.clone()),
            None => Err(Missing { library: "libopapi".to_owned(), symbol: symbol.to_owned() }.into()),
        }
    }

    /// A status as an error of `device`, with what the library last said on this thread.
    ///
    /// # Errors
    /// [`DeviceError::Driver`] for any status but success.
    #[inline]
    pub fn check(&self, device: DeviceId, status: crate::Status) -> Result<(), DeviceError> {
        if status == SUCCESS { Ok(()) } else { Err(self.error(device, status)) }
    }

    #[cold]
    fn error(&self, device: DeviceId, status: crate::Status) -> DeviceError {
        DeviceError::Driver { device, code: i64::from(status), message: self.acl.explain(status) }
    }

    /// Initialises the runtime, once. A process that has done so already keeps its own initialisation; nobody finalises it, since
    /// it could not be initialised again.
    pub(crate) fn initialise(&self) -> Result<(), DeviceError> {
        let mut initialised = self.initialised.lock().unwrap_or_else(PoisonError::into_inner);
        if *initialised {
            return Ok(());
        }
        let init = self.acl.init()?;
        // SAFETY: without a configuration file.
        match unsafe { init(std::ptr::null()) } {
            SUCCESS | REPEAT_INITIALIZE => *initialised = true,
            status => {
                let reason = format!("aclInit: status {status}, {}", self.acl.explain(status));
                return Err(DeviceError::MissingLibrary { library: Acl::FILE.to_owned(), reason });
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Cann {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CANN {} of {}", self.version, self.place.words())
    }
}

fn version_of(acl: &Acl) -> Result<Version, LoadError> {
    let refused = |has: String| LoadError::Version { has, needs: Version::OLDEST.to_owned() };
    let text = version_text(acl).map_err(|why| refused(format!("of an unknown version ({why})")))?;
    let version = Version::parse(&text).map_err(|error| refused(error.to_string()))?;
    match Version::parse(Version::OLDEST) {
        Ok(oldest) if version.is_at_least(&oldest) => Ok(version),
        _ => Err(refused(version.to_string())),
    }
}

/// The version of the package, or of the runtime where the installation records no other; newer libraries have another function.
fn version_text(acl: &Acl) -> Result<String, String> {
    let mut why = match acl.package_version() {
        Ok(package_version) => {
            let mut why = String::new();
            for package in PACKAGES {
                let mut found = PackageVersion { version: [0; 128], parts: [[0; 64]; 4], reserved: [0; 128] };
                // SAFETY: writes the struct.
                match acl.said("aclsysGetCANNVersion", unsafe { package_version(package, &raw mut found) }) {
                    Ok(()) => return Ok(text_of(&found.version)),
                    Err(said) => why = said,
                }
            }
            why
        }
        Err(missing) => missing.to_string(),
    };
    if let Ok(version_text) = acl.version_text() {
        let (mut package, mut text) = (*b"runtime\0", [0 as c_char; 128]);
        // SAFETY: a string with its end, and as many bytes as the reference asks for.
        let status = unsafe { version_text(package.as_mut_ptr().cast(), text.as_mut_ptr()) };
        match acl.said("aclsysGetVersionStr", status) {
            Ok(()) => return Ok(text_of(&text)),
            Err(said) => why = said,
        }
    }
    Err(why)
}

fn text_of(characters: &[c_char]) -> String {
    let bytes: Vec<u8> = characters.iter().map(|&c| c as u8).take_while(|&b| b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn instance() -> &'static Result<Box<Cann>, LoadError> {
    static INSTANCE: OnceLock<Result<Box<Cann>, LoadError>> = OnceLock::new();
    INSTANCE.get_or_init(|| Cann::load(&Places::of_process()).map(Box::new))
}

/// The libraries of this process, or why there are none. Initialises nothing.
///
/// # Errors
/// [`LoadError`], the same for as long as the process lives.
pub fn installed() -> Result<&'static Cann, LoadError> {
    instance().as_ref().map(|cann| &**cann).map_err(Clone::clone)
}

/// CANN, for work on a device.
///
/// # Errors
/// [`DeviceError::MissingLibrary`] where there is none, or none that works.
pub fn cann() -> Result<&'static Cann, DeviceError> {
    installed().map_err(|error| match error {
        LoadError::Symbol(missing) => missing.into(),
        error => DeviceError::MissingLibrary { library: "libascendcl".to_owned(), reason: error.to_string() },
    })
}

/// The NPUs of this machine, or why there are none. Creates no context.
pub fn backend() -> Backend {
    let state = match installed() {
        Ok(cann) => match devices(cann) {
            Ok(devices) if devices.is_empty() => BackendState::NoDevice("the runtime counts no device".to_owned()),
            Ok(devices) => BackendState::Present(devices),
            Err(Failed::NoDevice(reason)) => BackendState::NoDevice(reason),
            Err(Failed::Broken(reason)) => BackendState::Broken(reason),
        },
        Err(error @ LoadError::Absent { .. }) => BackendState::Absent(error.to_string()),
        Err(error) => BackendState::Broken(error.to_string()),
    };
    Backend { kind: DeviceKind::Npu, state }
}

pub(crate) enum Failed {
    NoDevice(String),
    Broken(String),
}

impl From<Missing> for Failed {
    fn from(missing: Missing) -> Self {
        Failed::Broken(missing.to_string())
    }
}

fn devices(cann: &Cann) -> Result<Vec<DeviceInfo>, Failed> {
    let mut count = 0;
    // SAFETY: writes one integer.
    let status = unsafe { cann.acl.device_count()?(&raw mut count) };
    let said = cann.acl.said("aclrtGetDeviceCount", status);
    said.map_err(if status == NO_DEVICE { Failed::NoDevice } else { Failed::Broken })?;
    (0..count).map(|index| info(cann, index)).collect()
}

/// The name that selection knows a chip by: `ascend910b` for the name `Ascend910B3` that the runtime gives, `ascend910_93` for
/// `Ascend910_9391`. The digits and letters behind it tell grades of the same chip apart.
pub fn chip_of(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    ["ascend910b", "ascend910_93"]
        .iter()
        .find(|chip| name.starts_with(**chip))
        .map_or(name.clone(), |c| (*c).to_owned())
}

/// What the runtime knows of a device.
pub(crate) fn info(cann: &Cann, index: u32) -> Result<DeviceInfo, Failed> {
    let acl = &cann.acl;
    // SAFETY: takes no argument; null or static text.
    let name = unsafe { acl.chip_name()?() };
    if name.is_null() {
        return Err(Failed::Broken("aclrtGetSocName does not know the chip".to_owned()));
    }
    // SAFETY: not null, and static text with its end.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
    // Older runtimes know fewer numbers; one that is not known is none.
    let number = |what: i32| {
        let mut value = 0;
        // SAFETY: writes one integer.
        let status = unsafe { acl.device_attribute().ok()?(index, what, &raw mut value) };
        (status == SUCCESS).then_some(value).and_then(|value| u64::try_from(value).ok()).filter(|&value| value > 0)
    };
    let cores = number(attribute::VECTOR_CORES).or_else(|| number(attribute::AI_CORES));
    let key = DeviceKey::npu(&chip_of(&name))
        .with_limits(Limits { shared_memory: number(attribute::UNIFIED_BUFFER).unwrap_or(UNIFIED_BUFFER) })
        .with_name(name.clone());
    let index = u16::try_from(index).map_err(|_| Failed::Broken(format!("device {index} is out of range")))?;
    Ok(DeviceInfo {
        id: DeviceId::new(DeviceKind::Npu, index),
        key,
        name,
        uuid: None,
        memory_bytes: number(attribute::MEMORY_BYTES),
        multiprocessors: cores.and_then(|cores| u32::try_from(cores).ok()),
        driver: None,
        runtime: Some(format!("CANN {}", cann.version)),
        graphs: acl.has_graphs(),
    })
}

/// Bytes of the unified buffer of a vector core of the 910B and 910_93, by the vendor's description of the chips.
const UNIFIED_BUFFER: u64 = 192 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_are_known_by_their_family() {
        for (name, chip) in [
            ("Ascend910B3", "ascend910b"),
            ("Ascend910B4-1", "ascend910b"),
            ("Ascend910_9391", "ascend910_93"),
            ("Ascend310P3", "ascend310p3"),
        ] {
            assert_eq!(chip_of(name), chip);
        }
    }
}
