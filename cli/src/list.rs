//! Lists the names that scenarios and methods can use.

use crate::Failure;
use crate::args::Listed;
use papers::{Library, Paper};
use settings::Parameters;

pub fn list(what: Listed) -> Result<String, Failure> {
    Ok(match what {
        Listed::Controllers => congestion::registry().iter().map(|e| entry(e.name, e.summary, e.parameters)).collect(),
        Listed::Queues => queueing::registry().iter().map(|e| entry(e.name, e.summary, e.parameters)).collect(),
        Listed::Traffic => scenario::TRAFFIC_KINDS.iter().map(|(name, summary)| entry(name, summary, &[])).collect(),
        Listed::Estimators => estimation::estimators().iter().map(|e| entry(e.name, e.summary, e.parameters)).collect(),
        Listed::Denoisers => estimation::denoisers().iter().map(|e| entry(e.name, e.summary, e.parameters)).collect(),
        Listed::Papers => papers()?,
    })
}

/// A line for the entry, and one for each setting: its default, what it does, and which values it accepts.
fn entry(name: &str, summary: &str, parameters: Parameters) -> String {
    let settings = parameters.iter().map(|parameter| {
        let written = format!("{} = {}", parameter.name(), parameter.default());
        let range = Some(parameter.range()).filter(|range| !range.is_empty());
        let range = range.map_or(String::new(), |range| format!(" [{range}]"));
        format!("    {written:<36} {}{range}\n", parameter.doc())
    });
    format!("{name:<20} {summary}\n{}", settings.collect::<String>())
}

/// Lists each paper, and under it the names of its figures for `packetscale reproduce`.
fn papers() -> Result<String, Failure> {
    let library = Library::embedded().map_err(|error| Failure::Input(error.to_string()))?;
    let paper = |paper: &Paper| {
        let figures = paper.figures().into_iter().map(|figure| {
            let title = paper.title_of(&figure).unwrap_or_default();
            format!("    {:<40} {title}\n", format!("{}/{figure}", paper.name))
        });
        format!("{:<24} {}\n{}", paper.name, paper.title(), figures.collect::<String>())
    };
    Ok(library.papers().iter().map(paper).collect())
}
