//! opweave numerics
