// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! Checkpoints: a GGUF file, or a folder with safetensors and `config.json`.

mod config;
mod encoding;
mod error;
pub mod gguf;
mod json;
pub mod safetensors;
mod store;
mod weights;

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde::Deserialize;

pub use self::config::{Config, Stretch};
pub use self::encoding::Encoding;
pub use self::error::{Defect, LoadError};
pub use self::store::{Entry, Source, Store, Tensor};
pub use self::weights::{Convention, Global, PerLayer, Weight};

use crate::tokenizer::{self, Tokenizer};

/// GGUF's factors of the rotary frequencies, one for each pair.
const ROPE_FACTORS: &str = "rope_freqs.weight";
/// No configuration or tokeniser of a model is longer.
const LONGEST_JSON: u64 = 64 << 20;

/// A model on disk: all of it checked, weights not yet read.
pub struct Checkpoint {
    config: Config,
    convention: Convention,
    store: Store,
    tokenizer: Option<Tokenizer>,
    end: Vec<u32>,
}

impl Checkpoint {
    /// Opens a GGUF file, or a folder that holds `config.json` and safetensors.
    ///
    /// # Errors
    /// [`LoadError`] with the file and what is wrong with it.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        if path.is_dir() {
            return Self::open_folder(path);
        }
        let file = File::open(path).map_err(|e| Defect::Io(e).of(path))?;
        Self::from_gguf(Box::new(file)).map_err(|what| what.of(path))
    }

    /// Reads a GGUF file from anything that can be read and sought in.
    ///
    /// # Errors
    /// [`Defect`].
    pub fn from_gguf(mut source: Box<dyn Source>) -> Result<Self, Defect> {
        let (metadata, entries) = gguf::read(source.as_mut())?;
        let mut store = Store::new();
        store.add(source, entries)?;
        let factors = match store.entry(ROPE_FACTORS) {
            // As many as fit are read: the configuration says how many there must be.
            Some(entry) if entry.shape.len() == 1 && entry.encoding == Encoding::F32 => {
                Some(store.read(ROPE_FACTORS)?.to_f32())
            }
            Some(entry) => {
                let found = format!("{:?} of {}", entry.shape, entry.encoding.name());
                return Err(Defect::unknown(ROPE_FACTORS, found, "a list of f32"));
            }
            None => None,
        };
        let head = Weight::Global(Global::Head).name(Convention::Gguf);
        let config = gguf::config(&metadata, store.entry(&head).is_none(), factors)?;
        let tokenizer = tokenizer::from_gguf(&metadata, config.vocab_size)?;
        let end = tokenizer.as_ref().map(|t| t.end().to_vec()).unwrap_or_default();
        Self::new(config, Convention::Gguf, store, tokenizer, end)
    }

    fn open_folder(folder: &Path) -> Result<Self, LoadError> {
        let path = folder.join("config.json");
        let text = small_file(&path).map_err(|what| what.of(&path))?;
        let json::FromJson { config, begin, end } = json::read(&text).map_err(|what| what.of(&path))?;
        let mut store = Store::new();
        for name in shards(folder)? {
            let path = folder.join(name);
            let mut add = || {
                let mut file: Box<dyn Source> = Box::new(File::open(&path)?);
                let entries = safetensors::read(file.as_mut())?;
                store.add(file, entries)
            };
            add().map_err(|what: Defect| what.of(&path))?;
        }
        // A table of so many rows is what justifies memory for as many tokens.
        weights::check(&store, Convention::Transformers, &config).map_err(|what| what.of(folder))?;
        let path = folder.join("tokenizer.json");
        let tokenizer = if path.exists() {
            let read = small_file(&path).and_then(|text| tokenizer::from_json(&text, config.vocab_size, &begin, &end));
            Some(read.map_err(|what| what.of(&path))?)
        } else {
            None
        };
        Self::new(config, Convention::Transformers, store, tokenizer, end).map_err(|what| what.of(folder))
    }

    /// A checkpoint of a configuration and safetensors in memory or anywhere else.
    ///
    /// # Errors
    /// [`Defect`].
    pub fn from_safetensors(config: &[u8], mut source: Box<dyn Source>) -> Result<Self, Defect> {
        let json::FromJson { config, end, .. } = json::read(config)?;
        let entries = safetensors::read(source.as_mut())?;
        let mut store = Store::new();
        store.add(source, entries)?;
        Self::new(config, Convention::Transformers, store, None, end)
    }

    fn new(
        config: Config,
        convention: Convention,
        store: Store,
        tokenizer: Option<Tokenizer>,
        end: Vec<u32>,
    ) -> Result<Self, Defect> {
        weights::check(&store, convention, &config)?;
        if let Some(token) = end.iter().find(|token| **token as usize >= config.vocab_size) {
            return Err(Defect::unknown("the token that ends a text", token, format!("below {}", config.vocab_size)));
        }
        Ok(Checkpoint { config, convention, store, tokenizer, end })
    }

    /// What the model is made of.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Whose conventions the file follows.
    pub fn convention(&self) -> Convention {
        self.convention
    }

    /// The vocabulary's tokeniser, if there is one beside the weights.
    pub fn tokenizer(&self) -> Option<&Tokenizer> {
        self.tokenizer.as_ref()
    }

    /// Tokens that end a text.
    pub fn end(&self) -> &[u32] {
        &self.end
    }

    /// How a weight is stored.
    ///
    /// # Errors
    /// [`Defect::Missing`].
    pub fn encoding(&self, weight: Weight) -> Result<Encoding, Defect> {
        let name = weight.name(self.convention);
        let entry = self.store.entry(&name).ok_or_else(|| Defect::missing(format!("tensor {name}")))?;
        Ok(entry.encoding)
    }

    /// Reads a weight. The rows of query and key projections come in the order of rotary halves, whatever the file's is.
    ///
    /// # Errors
    /// [`Defect`].
    pub fn read(&mut self, weight: Weight) -> Result<Tensor, Defect> {
        weights::read(&mut self.store, self.convention, &self.config, weight)
    }
}

/// The safetensors files of a folder: those that an index names, or the one of the usual name.
fn shards(folder: &Path) -> Result<BTreeSet<String>, LoadError> {
    #[derive(Deserialize)]
    struct Index {
        weight_map: HashMap<String, String>,
    }
    let path = folder.join("model.safetensors.index.json");
    if !path.exists() {
        return Ok(BTreeSet::from(["model.safetensors".to_owned()]));
    }
    let read = || {
        let parsed = serde_json::from_slice::<Index>(&small_file(&path)?);
        let index = parsed.map_err(|source| Defect::Json { what: "the index".into(), source })?;
        let names: BTreeSet<String> = index.weight_map.into_values().collect();
        match names.iter().find(|name| Path::new(name).components().count() != 1 || name.starts_with('.')) {
            Some(name) => Err(Defect::unknown("a file of the index", format!("{name:?}"), "a name within the folder")),
            None => Ok(names),
        }
    };
    read().map_err(|what: Defect| what.of(&path))
}

fn small_file(path: &Path) -> Result<Vec<u8>, Defect> {
    let file = File::open(path)?;
    let length = fs::metadata(path)?.len();
    if length > LONGEST_JSON {
        return Err(Defect::unknown("the file's length", length, format!("at most {LONGEST_JSON}")));
    }
    let mut text = Vec::new();
    // What grows while it is read is cut, and then does not parse.
    file.take(LONGEST_JSON).read_to_end(&mut text)?;
    Ok(text)
}
