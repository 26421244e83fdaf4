// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! CANN's libraries: where they are looked for, and functions that each may lack.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use libloading::Library;

/// A function that an installed library does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("symbol `{symbol}` is not in library `{library}`")]
pub struct Missing {
    /// The library.
    pub library: String,
    /// The symbol.
    pub symbol: String,
}

impl From<Missing> for opweave_device::DeviceError {
    fn from(missing: Missing) -> Self {
        opweave_device::DeviceError::MissingSymbol { library: missing.library, symbol: missing.symbol }
    }
}

/// Why there is no library to call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It is not installed.
    #[error("{library} was not found in {places}")]
    Absent {
        /// The library.
        library: String,
        /// Where it was looked for.
        places: String,
    },
    /// It is a file that does not load.
    #[error("{library} does not load: {reason}; its toolkit's set_env.sh may have to be sourced first")]
    Broken {
        /// The file.
        library: String,
        /// What the loader said.
        reason: String,
    },
    /// It is older than every version that opweave can use, or does not say what it is.
    #[error("CANN is {has}; needs {needs} or newer")]
    Version {
        /// The version found, or why there is none.
        has: String,
        /// The oldest that will do.
        needs: String,
    },
    /// It lacks what no program can do without.
    #[error(transparent)]
    Symbol(#[from] Missing),
}

/// Where CANN's libraries are looked for, in this order: `lib64` of `ASCEND_HOME_PATH`, `lib64` of `ASCEND_TOOLKIT_HOME`, the
/// system's search path (which begins with `LD_LIBRARY_PATH`), and the folders that the installer proposes. A folder that a
/// variable names and that holds no library is passed over: toolkits set both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places(Vec<Place>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Folder(PathBuf),
    SearchPath,
}

impl Places {
    /// The places by the variables of this process.
    pub fn of_process() -> Self {
        Places::of(|name| std::env::var_os(name))
    }

    /// The places by these variables.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = |root: PathBuf| Place::Folder(root.join("lib64"));
        let named = ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"].into_iter().filter_map(set);
        let mut places: Vec<Place> = named.map(folder).collect();
        places.push(Place::SearchPath);
        let system = PathBuf::from("/usr/local/Ascend");
        for root in [Some(system), set("HOME").map(|home| home.join("Ascend"))].into_iter().flatten() {
            places.extend(["ascend-toolkit/latest", "cann", "latest"].map(|part| folder(root.join(part))));
        }
        places.dedup();
        Places(places)
    }

    /// The first place that has `library`, opened. One that is there and does not load ends the search.
    pub(crate) fn open(&self, library: &str) -> Result<(Library, Place), LoadError> {
        for place in &self.0 {
            if let Some(opened) = place.open(library)? {
                return Ok((opened, place.clone()));
            }
        }
        Err(LoadError::Absent { library: library.to_owned(), places: self.to_string() })
    }
}

impl std::fmt::Display for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<String> = self.0.iter().map(Place::words).collect();
        f.pad(&words.join(", "))
    }
}

impl Place {
    pub(crate) fn words(&self) -> String {
        match self {
            Place::Folder(folder) => folder.display().to_string(),
            Place::SearchPath => "the system's search path".to_owned(),
        }
    }

    /// The library in this place; `None` where there is none.
    pub(crate) fn open(&self, library: &str) -> Result<Option<Library>, LoadError> {
        let file = match self {
            Place::Folder(folder) => folder.join(library),
            Place::SearchPath => PathBuf::from(library),
        };
        if matches!(self, Place::Folder(_)) && !Path::exists(&file) {
            return Ok(None);
        }
        // SAFETY: the libraries that opweave names have initialisers that may run in any program.
        match unsafe { Library::new(&file) } {
            Ok(opened) => Ok(Some(opened)),
            Err(error) => {
                let reason = words_of(&error);
                let itself = reason.contains(&format!("{library}: cannot open shared object file"));
                if *self == Place::SearchPath && itself {
                    Ok(None)
                } else {
                    Err(LoadError::Broken { library: file.display().to_string(), reason })
                }
            }
        }
    }
}

/// What the loader itself said.
fn words_of(error: &libloading::Error) -> String {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        reason = inner.to_string();
        source = inner.source();
    }
    reason
}

/// A struct of a library's functions, each of which may be missing: its name in Rust, its symbol, arguments and result. A method
/// of that name gives the function or says which symbol is not there.
macro_rules! optional_functions {
    ($(#[$about:meta])* pub struct $library:ident of $file:literal {
        $($field:ident = $symbol:literal($($argument:ty),* $(,)?) -> $result:ty;)*
    }) => {
        $(#[$about])*
        pub struct $library {
            // Behind the functions, which are its.
            _library: libloading::Library,
            $($field: Option<unsafe extern "C" fn($($argument),*) -> $result>,)*
        }

        impl $library {
            /// The symbols that are looked up.
            pub const SYMBOLS: &[&str] = &[$($symbol),*];
            /// The file's name.
            pub const FILE: &str = $file;

            pub(crate) fn resolve(library: libloading::Library) -> Self {
                $(
                    // SAFETY: the symbol is a function of this type by the library's reference.
                    let $field = unsafe {
                        library.get::<unsafe extern "C" fn($($argument),*) -> $result>(concat!($symbol, "\0").as_bytes())
                    }.ok().map(|symbol| *symbol);
                )*
                $library { _library: library, $($field,)* }
            }

            $(
                #[inline]
                pub(crate) fn $field(&self) -> Result<unsafe extern "C" fn($($argument),*) -> $result, $crate::Missing> {
                    self.$field.ok_or_else(|| $crate::Missing { library: $file.to_owned(), symbol: $symbol.to_owned() })
                }
            )*

            /// Which of the symbols that are looked up the library lacks.
            pub fn missing(&self) -> Vec<&'static str> {
                let found = [$((self.$field.is_some(), $symbol)),*];
                found.into_iter().filter_map(|(there, symbol)| (!there).then_some(symbol)).collect()
            }
        }

        impl std::fmt::Debug for $library {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{} without {:?}", $file, self.missing())
            }
        }
    };
}
pub(crate) use optional_functions;
