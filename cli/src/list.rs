//! Lists the names that scenarios and methods can use.

use crate::Failure;
use crate::args::Listed;
use congestion::Parameter;
use papers::{Library, Paper};

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

fn entry(name: &str, summary: &str, parameters: &[Parameter]) -> String {
    let settings = parameters.iter().map(|parameter| {
        let written = format!("{} = {}", parameter.name, parameter.default);
        format!("    {written:<36} {}\n", parameter.doc)
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
