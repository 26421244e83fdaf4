//! developer commands
fn main() {}
