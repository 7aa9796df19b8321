//! Writes the page of example results to the file named on the command line, for viewing.
#[path = "../tests/example/mod.rs"]
mod example;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().unwrap_or_else(|| "report.html".to_string());
    let results = match arguments.next().as_deref() {
        Some("sweep") => example::sweep(),
        Some("hostile") => example::hostile(),
        _ => example::demo(),
    };
    std::fs::write(file, packetscale_report::page(&results))
}
