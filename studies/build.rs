//! The papers and the traces they replay are compiled in: a change of one of these files is a change of this crate.

fn main() {
    println!("cargo:rerun-if-changed=../papers");
    println!("cargo:rerun-if-changed=../scenarios/traces");
}
