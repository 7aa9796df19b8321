//! Lists the names that scenarios and methods can use, the papers, and examples of scenarios: for people, or as JSON.

use crate::args::Listed;
use crate::outcome::Failure;
use packetscale_models::settings::Parameters;
use serde::Serialize;
use std::path::PathBuf;
use studies::papers::{Library, Paper};

/// A name and what it stands for.
#[derive(Serialize)]
struct Entry {
    name: String,
    summary: String,
    /// What can be set, of an entry of a registry.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    settings: Vec<Setting>,
    /// What it consists of, of a paper.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    figures: Vec<Entry>,
}

/// A setting: its default and the values it accepts, as text.
#[derive(Serialize)]
struct Setting {
    name: &'static str,
    default: String,
    summary: &'static str,
    range: String,
}

/// Width of the column of names.
const NAMES: usize = 20;
/// The same for papers and scenarios, whose names are longer.
const LONG_NAMES: usize = 24;

/// `files`: those of controllers that users bring, listed behind the registry's.
pub fn list(what: Listed, files: &[PathBuf], json: bool) -> Result<String, Failure> {
    if let (Some(file), false) = (files.first(), matches!(what, Listed::Controllers)) {
        let found = file.display();
        return Err(Failure::Input(format!("FILE: found {found}; expected it with \"list controllers\" only")));
    }
    let entries = match what {
        Listed::Controllers => {
            let of_files = files.iter().map(|file| {
                let object = experiment::plugins::open(file).map_err(|error| Failure::Input(error.to_string()))?;
                Ok(entry(object.name, object.summary, object.parameters))
            });
            let own = packetscale_models::congestion::registry().iter().map(|e| entry(e.name, e.summary, e.parameters));
            own.map(Ok).chain(of_files).collect::<Result<Vec<Entry>, Failure>>()?
        }
        Listed::Queues => {
            let kernels = experiment::scenario::KERNEL_QUEUES.iter().map(|(name, summary)| entry(name, summary, &[]));
            packetscale_models::queueing::registry()
                .iter()
                .map(|e| entry(e.name, e.summary, e.parameters))
                .chain(kernels)
                .collect()
        }
        Listed::Traffic => {
            experiment::scenario::TRAFFIC_KINDS.iter().map(|(name, summary)| entry(name, summary, &[])).collect()
        }
        Listed::Estimators => packetscale_models::estimation::estimators()
            .iter()
            .map(|e| entry(e.name, e.summary, e.parameters))
            .collect(),
        Listed::Denoisers => {
            packetscale_models::estimation::denoisers().iter().map(|e| entry(e.name, e.summary, e.parameters)).collect()
        }
        Listed::Papers => papers()?,
        Listed::Scenarios => SCENARIOS.iter().map(|(name, text)| entry(name, &first_sentence(text), &[])).collect(),
    };
    if json {
        let list = serde_json::to_string(&entries).map_err(|error| Failure::Machine(error.to_string()))?;
        return Ok(list + "\n");
    }
    let width = if matches!(what, Listed::Papers | Listed::Scenarios) { LONG_NAMES } else { NAMES };
    let lines: String = entries.iter().map(|entry| shown(entry, width)).collect();
    let where_they_are =
        "In the folder scenarios/ of packetscale\u{2019}s source. For one of your own: packetscale new scenario\n";
    Ok(if matches!(what, Listed::Scenarios) { lines + where_they_are } else { lines })
}

fn entry(name: &str, summary: &str, parameters: Parameters) -> Entry {
    let setting = |parameter: &&dyn packetscale_models::settings::Described| Setting {
        name: parameter.name(),
        default: parameter.default().to_string(),
        summary: parameter.doc(),
        range: parameter.range().to_string(),
    };
    let settings = parameters.iter().map(setting).collect();
    Entry { name: name.to_string(), summary: summary.to_string(), settings, figures: Vec::new() }
}

/// A line for the entry, and one for each setting (its default, what it does, which values it accepts) or figure.
fn shown(entry: &Entry, width: usize) -> String {
    let settings = entry.settings.iter().map(|setting| {
        let written = format!("{} = {}", setting.name, setting.default);
        let range = if setting.range.is_empty() { String::new() } else { format!(" [{}]", setting.range) };
        format!("    {written:<36} {}{range}\n", setting.summary)
    });
    let figures = entry.figures.iter().map(|figure| format!("    {:<40} {}\n", figure.name, figure.summary));
    let inner: String = settings.chain(figures).collect();
    format!("{:<width$} {}\n{inner}", entry.name, entry.summary)
}

/// Each paper, and in it its figures under the names that `packetscale reproduce` takes.
fn papers() -> Result<Vec<Entry>, Failure> {
    let library = Library::embedded().map_err(|error| Failure::Input(error.to_string()))?;
    let paper = |paper: &Paper| {
        let figure = |figure: String| {
            let title = paper.title_of(&figure).unwrap_or_default();
            entry(&format!("{}/{figure}", paper.name), &title, &[])
        };
        let figures = paper.figures().into_iter().map(figure).collect();
        Entry { figures, ..entry(&paper.name, paper.title(), &[]) }
    };
    Ok(library.papers().iter().map(paper).collect())
}

macro_rules! scenarios {
    ($($name:literal),*) => {
        /// The scenarios of the source, with their texts.
        const SCENARIOS: &[(&str, &str)] =
            &[$((concat!("scenarios/", $name, ".toml"), include_str!(concat!("../../scenarios/", $name, ".toml"))),)*];
    };
}

scenarios!(
    "against-cubic",
    "buffers",
    "bursty-10g",
    "busy-way-back",
    "cellular",
    "coexistence",
    "crowd",
    "grants",
    "jitter",
    "learnt-bursty-10g",
    "parking-lot",
    "policer",
    "probe-search",
    "probe-streams",
    "queues-mix",
    "queues-step",
    "receiver-clock",
    "shaper",
    "short-flows",
    "stretch-acks",
    "web-10g",
    "wifi",
    "kernel/1g-jumbo",
    "kernel/200m",
    "kernel/20ms",
    "kernel/20ms-loss",
    "kernel/against-cubic",
    "kernel/four-flows",
    "kernel/on-off",
    "kernel/thousand",
    "kernel/two-flows"
);

/// The first sentence of the comment at a file's head: to the first full stop, colon or question mark that ends a word.
fn first_sentence(text: &str) -> String {
    let comment = text.lines().take_while(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let words = comment.collect::<Vec<_>>().join(" ");
    let end = [". ", ": "].iter().filter_map(|end| words.find(end)).min();
    words[..end.unwrap_or(words.len())].trim_end_matches(['.', ':']).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_scenario_of_the_source_is_listed_with_a_summary() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
        for (inner, prefix) in [("", "scenarios/"), ("kernel", "scenarios/kernel/")] {
            for entry in fs::read_dir(folder.join(inner)).expect("the folder") {
                let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
                let listed = SCENARIOS.iter().any(|(listed, _)| *listed == format!("{prefix}{name}"));
                assert!(listed || !name.ends_with(".toml"), "{prefix}{name}");
            }
        }
        assert!(SCENARIOS.iter().all(|(_, text)| first_sentence(text).len() > 20));
        let one = "# Whole searches: the answers set the rate.\n#  run this\n\n# later\n";
        assert_eq!(first_sentence(one), "Whole searches");
    }
}
