//! opweave device
