// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! An engine on opweave's operators, small enough to read: it loads a Llama model, keeps a paged cache of keys and values,
//! and decodes. What is here is an engine's business and none of the library's: model structure, batching, the cache's life,
//! and how a token is sampled.

pub mod checkpoint;
pub mod engine;
pub mod tokenizer;
