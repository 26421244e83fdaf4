//! opweave cpu
