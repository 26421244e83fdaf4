//! opweave contract
