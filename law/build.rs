//! Compiles the laws' C headers, instantiated by the files below.

const SOURCES: [&str; 3] = ["src/face.c", "src/thesis_face.c", "src/queueing_face.c"];

fn main() {
    println!("cargo:rerun-if-changed=include");
    println!("cargo:rerun-if-changed=src/face.h");
    for file in SOURCES {
        println!("cargo:rerun-if-changed={file}");
    }
    cc::Build::new()
        .files(SOURCES)
        .include("include")
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .flag_if_supported("-Wconversion")
        .flag_if_supported("-ffreestanding")
        .opt_level(3)
        .compile("rapid_law");
}
