//! What scenarios can name.

use crate::args::Listed;

pub fn list(what: Listed) -> String {
    match what {
        Listed::Controllers => controllers(),
        Listed::Queues => lines(queueing::registry().iter().map(|entry| (entry.name, entry.summary))),
        Listed::Traffic => lines(scenario::TRAFFIC_KINDS.iter().copied()),
    }
}

fn lines<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    entries.map(|(name, summary)| format!("{name:<20} {summary}\n")).collect()
}

fn controllers() -> String {
    let entries = congestion::registry().iter().map(|entry| {
        let settings = entry.parameters.iter().map(|parameter| {
            let written = format!("{} = {}", parameter.name, parameter.default);
            format!("    {written:<36} {}\n", parameter.doc)
        });
        format!("{:<20} {}\n{}", entry.name, entry.summary, settings.collect::<String>())
    });
    entries.collect()
}
