// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Libraries whose functions are looked up by name when they are first needed.

use std::ffi::OsStr;

use libloading::Library;

/// Why there is no library to call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It is not installed.
    #[error("{library} was not found: {reason}")]
    Absent {
        /// The names that were tried.
        library: String,
        /// What the loader said.
        reason: String,
    },
    /// It is a file that does not load.
    #[error("{library} does not load: {reason}")]
    Broken {
        /// The file.
        library: String,
        /// What the loader said.
        reason: String,
    },
    /// It is older than every one that opweave can use.
    #[error("{library} has no symbol `{symbol}`: it is too old")]
    Symbol {
        /// The file.
        library: String,
        /// The symbol.
        symbol: String,
    },
}

/// A struct of a library's functions, each of which returns a status: its name in Rust, its symbol, its arguments. All are
/// looked up at once, so that a library which lacks one is refused with that name instead of failing at the first call.
macro_rules! foreign_functions {
    ($(#[$about:meta])* pub struct $library:ident { $($field:ident = $symbol:literal($($argument:ty),*);)* }) => {
        $(#[$about])*
        pub struct $library {
            // Behind the functions, which are its.
            _library: libloading::Library,
            name: String,
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> std::ffi::c_int,)*
        }

        impl $library {
            fn resolve(library: libloading::Library, name: &str) -> Result<Self, $crate::library::LoadError> {
                $(
                    // SAFETY: the symbol is a function of this type by the library's reference.
                    let $field = unsafe {
                        library.get::<unsafe extern "C" fn($($argument),*) -> std::ffi::c_int>(concat!($symbol, "\0").as_bytes())
                    };
                    let $field = match $field {
                        Ok(symbol) => *symbol,
                        Err(_) => return Err($crate::library::LoadError::Symbol { library: name.to_owned(), symbol: $symbol.to_owned() }),
                    };
                )*
                Ok($library { _library: library, name: name.to_owned(), $($field,)* })
            }

            /// The symbols that the library must have.
            pub const SYMBOLS: &[&str] = &[$($symbol),*];

            /// Loads the library from this file, or by this name on the system's search path.
            ///
            /// # Errors
            /// [`LoadError`](crate::LoadError).
            pub fn open(name: impl AsRef<std::ffi::OsStr>) -> Result<Self, $crate::library::LoadError> {
                let name = name.as_ref();
                Self::resolve($crate::library::open(name)?, &name.to_string_lossy())
            }

            /// The file or name that it was loaded by.
            pub fn name(&self) -> &str {
                &self.name
            }
        }
    };
}
pub(crate) use foreign_functions;

/// Opens a library by its file, or by its name on the system's search path.
pub(crate) fn open(name: &OsStr) -> Result<Library, LoadError> {
    // SAFETY: the libraries that opweave names have initialisers that may run in any program.
    unsafe { Library::new(name) }.map_err(|error| refused(name.to_string_lossy().into_owned(), &error))
}

/// Opens the first of these that is there; one that is there and no good ends the search.
pub(crate) fn first<T>(names: &[String], open: impl Fn(&str) -> Result<T, LoadError>) -> Result<T, LoadError> {
    let mut reasons = Vec::new();
    for name in names {
        match open(name) {
            Err(LoadError::Absent { reason, .. }) => reasons.push(reason),
            found => return found,
        }
    }
    Err(LoadError::Absent { library: names.join(", "), reason: reasons.join("; ") })
}

/// Whether the file is missing, or there and no good: the loader's text is all there is to tell.
fn refused(library: String, error: &libloading::Error) -> LoadError {
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        reason = inner.to_string();
        source = inner.source();
    }
    let missing_itself = reason.contains(&format!("{library}: cannot open shared object file"));
    if missing_itself && !std::path::Path::new(&library).exists() {
        LoadError::Absent { library, reason }
    } else {
        LoadError::Broken { library, reason }
    }
}
