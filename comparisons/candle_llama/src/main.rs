// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! candle's Llama on the CPU, for `comparisons/llama_cpp/race.py --candle`: reads commands from standard input, so that it can take
//! turns with others, and answers each with tokens per second.
//!
//! `candle-llama MODEL.gguf`, then lines `prefill TOKENS` or `decode PROMPT TOKENS`. Threads are rayon's: `RAYON_NUM_THREADS`.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead};
use std::time::Instant;

use candle_core::quantized::gguf_file::Content;
use candle_core::{Device, Tensor};
use candle_transformers::models::quantized_llama::ModelWeights;

/// The made-up tokens that the race gives to everybody.
fn token(at: usize, vocab_size: usize) -> u32 {
    ((at * 7919 + 17) % vocab_size) as u32
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a GGUF file")?;
    let mut file = File::open(path)?;
    let content = Content::read(&mut file)?;
    let vocab_size = content.tensor_infos["token_embd.weight"].shape.dims()[0];
    let mut model = ModelWeights::from_gguf(content, &mut file, &Device::Cpu)?;
    let mut pass = |tokens: &[u32], at: usize| -> Result<f32, Box<dyn Error>> {
        let logits = model.forward(&Tensor::new(tokens, &Device::Cpu)?.unsqueeze(0)?, at)?;
        // What is not looked at might not be computed.
        Ok(logits.flatten_all()?.get(0)?.to_scalar()?)
    };
    println!("ready");
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let (kind, numbers) = words.split_first().ok_or("an empty command")?;
        let numbers: Vec<usize> = numbers.iter().map(|word| word.parse()).collect::<Result<_, _>>()?;
        let text: Vec<u32> = (0..numbers[0]).map(|at| token(at, vocab_size)).collect();
        let mut begin = Instant::now();
        pass(&text, 0)?;
        let mut tokens = text.len();
        if *kind == "decode" {
            (begin, tokens) = (Instant::now(), numbers[1]);
            for at in 0..tokens {
                pass(&[text[at % text.len()]], text.len() + at)?;
            }
        }
        println!("{}", tokens as f64 / begin.elapsed().as_secs_f64());
    }
    Ok(())
}
