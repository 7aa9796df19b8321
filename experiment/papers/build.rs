//! The papers are compiled in: a change of one of their files is a change of this crate.

fn main() {
    println!("cargo:rerun-if-changed=../../papers");
}
