//! Compiles the law's C headers, instantiated by `src/face.c` and `src/thesis_face.c`.

fn main() {
    println!("cargo:rerun-if-changed=include");
    for file in ["src/face.h", "src/face.c", "src/thesis_face.c"] {
        println!("cargo:rerun-if-changed={file}");
    }
    cc::Build::new()
        .files(["src/face.c", "src/thesis_face.c"])
        .include("include")
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .flag_if_supported("-Wconversion")
        .flag_if_supported("-ffreestanding")
        .opt_level(3)
        .compile("rapid_law");
}
