// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The opweave authors

//! `config.json`.

use std::io::Cursor;

use opweave_decode::checkpoint::{Checkpoint, Config, Encoding, Stretch};
use serde_json::{Value, json};

use crate::support::files::safetensors;
use crate::support::{config, oracle};

/// The configuration with one key changed, or left out where the value is null.
fn with(key: &str, value: Value) -> Result<Config, String> {
    let mut json = oracle()["config"].clone();
    match value {
        Value::Null => drop(json.as_object_mut().unwrap().remove(key)),
        value => json[key] = value,
    }
    let file = Box::new(Cursor::new(safetensors(Encoding::Bf16)));
    let checkpoint = Checkpoint::from_safetensors(json.to_string().as_bytes(), file);
    checkpoint.map(|c| c.config().clone()).map_err(|defect| defect.to_string())
}

#[test]
fn keys_that_may_be_absent_have_their_defaults() {
    for key in ["rope_theta", "hidden_act", "tie_word_embeddings", "eos_token_id"] {
        assert_eq!(with(key, Value::Null), Ok(config()), "{key}");
    }
    let parameters = json!({"rope_type": "default", "rope_theta": 50_000.0});
    assert_eq!(with("rope_parameters", parameters).unwrap().rope_theta, 50_000.0);
    assert!(with("num_key_value_heads", Value::Null).unwrap_err().contains("has shape [128, 96]"));
    assert!(with("head_dim", Value::Null).unwrap_err().contains("asks for [96, 96]"));
}

#[test]
fn scaling_is_read_or_refused() {
    let scaled = |value| with("rope_scaling", value).map(|config| config.rope_stretch);
    let llama3 = json!({"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192});
    let wanted = Stretch::Llama3 { factor: 32.0, low: 1.0, high: 4.0, original: 8192 };
    assert_eq!(scaled(llama3.clone()), Ok(wanted));
    assert_eq!(scaled(json!({"type": "linear", "factor": 2.0})), Ok(Stretch::Linear(2.0)));
    assert_eq!(scaled(json!({"rope_type": "default"})), Ok(Stretch::None));
    let mut crossed = llama3;
    crossed["high_freq_factor"] = json!(0.5);
    let table = [
        (scaled(crossed), "high_freq_factor is 0.5, expected more than 1"),
        (scaled(json!({"type": "linear"})), "there is no factor of the rotary scaling"),
        (
            scaled(json!({"type": "linear", "factor": -1.0})),
            "the rotary factor is -1, expected a finite number above 0",
        ),
        (scaled(json!({"type": "yarn", "factor": 2.0})), "the rotary scaling is \"yarn\", expected \"default\""),
    ];
    for (found, wanted) in table {
        let found = found.unwrap_err();
        assert!(found.contains(wanted), "{found:?} does not say {wanted:?}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let table = [
        ("model_type", json!("mistral"), "the architecture is \"mistral\", "),
        ("architectures", json!(["Qwen2ForCausalLM"]), "[\"Qwen2ForCausalLM\"], expected \"llama\""),
        ("hidden_act", json!("gelu"), "hidden_act is \"gelu\", expected \"silu\""),
        ("attention_bias", json!(true), "attention_bias is true, expected false"),
        ("mlp_bias", json!(true), "mlp_bias is true, expected false"),
        ("hidden_size", json!(-96), "config.json: invalid value"),
        ("hidden_size", json!(0), "the hidden size is 0, expected 1 to"),
        ("hidden_size", json!(u64::MAX), "the hidden size is 18446744073709551615, expected 1 to"),
        ("hidden_size", Value::Null, "missing field `hidden_size`"),
        ("num_attention_heads", json!(0), "the number of heads is 0"),
        ("num_key_value_heads", json!(0), "the number of key-value heads is 0"),
        ("rms_norm_eps", json!(-1.0), "the epsilon of norms is -1, expected a finite number of at least 0"),
        ("rms_norm_eps", json!(1e300), "the epsilon of norms is inf, expected"),
        ("rope_theta", json!(0.5), "the rotary base is 0.5, expected a finite number above 1"),
        ("vocab_size", json!(321), "has shape [320, 96], the configuration asks for [321, 96]"),
        ("eos_token_id", json!(320), "the token that ends a text is 320, expected below 320"),
        ("eos_token_id", json!("</s>"), "eos_token_id is \"</s>\", expected a token or a list of tokens"),
    ];
    for (key, value, wanted) in table {
        let found = with(key, value).err().unwrap_or_else(|| panic!("nothing is wrong with {key}"));
        assert!(found.contains(wanted), "{found:?} does not say {wanted:?}");
    }
}
