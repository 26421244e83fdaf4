//! opweave runtime
