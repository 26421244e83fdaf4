//! opweave bench
