//! opweave
