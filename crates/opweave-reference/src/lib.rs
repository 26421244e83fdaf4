//! opweave reference
