//! opweave registry
