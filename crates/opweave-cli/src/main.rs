//! the binary
fn main() {}
