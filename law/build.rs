//! Compiles the law's C headers, instantiated by `src/face.c`.

fn main() {
    println!("cargo:rerun-if-changed=include");
    println!("cargo:rerun-if-changed=src/face.c");
    cc::Build::new()
        .file("src/face.c")
        .include("include")
        .std("c11")
        .warnings(true)
        .extra_warnings(true)
        .flag_if_supported("-Wconversion")
        .flag_if_supported("-ffreestanding")
        .opt_level(3)
        .compile("rapid_law");
}
