//! Conclusions of a paper: its sentences, each with the statements and quantities that carry it.
//!
//! `paper.toml` names them. A conclusion is carried if all its evidence holds, carried in part if some does, else not carried.

use crate::agreement::Agreement;
use crate::papers::{Conclusion, Judged, Library, Paper, Shows, Stores};
use serde::Serialize;

/// Part of the pairs that must be in the printed order for a quantity to carry a conclusion by its order: nine of ten.
pub const IN_ORDER: f64 = 0.9;

/// What became of a conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Carried {
    /// All its evidence holds.
    Carried,
    /// Some does.
    InPart,
    /// None does.
    Not,
}

impl Carried {
    /// Its name on the page.
    pub fn word(self) -> &'static str {
        match self {
            Carried::Carried => "carried",
            Carried::InPart => "in part",
            Carried::Not => "not carried",
        }
    }
}

/// A conclusion, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// Name of the paper.
    pub paper: String,
    /// The conclusion.
    pub words: String,
    /// Where the paper has it.
    pub place: String,
    /// What became of it.
    pub carried: Carried,
    /// Pieces of evidence that hold, and all: statements and quantities.
    pub held: (usize, usize),
    /// The figures that were asked.
    pub figures: Vec<String>,
}

/// Judges the conclusions of all papers by the stored outcomes. Evidence that is not stored does not hold.
pub fn judge(library: &Library, stores: &Stores, agreements: &[Agreement]) -> Vec<Judgement> {
    let of = |paper: &Paper| {
        let judged = |conclusion| judgement(&paper.name, conclusion, stores, agreements);
        paper.conclusions().iter().map(judged).collect::<Vec<Judgement>>()
    };
    library.papers().iter().flat_map(of).collect()
}

fn judgement(paper: &str, conclusion: &Conclusion, stores: &Stores, agreements: &[Agreement]) -> Judgement {
    let (mut held, mut figures) = (Vec::new(), Vec::new());
    for evidence in &conclusion.carried_by {
        held.extend(weigh(&format!("{paper}/{}", evidence.figure), &evidence.shows, stores, agreements));
        if !figures.contains(&evidence.figure) {
            figures.push(evidence.figure.clone());
        }
    }
    let holds = held.iter().filter(|held| **held).count();
    let carried = match holds {
        0 => Carried::Not,
        some if some == held.len() => Carried::Carried,
        _ => Carried::InPart,
    };
    let (words, place) = (conclusion.words.trim().to_string(), conclusion.place.clone());
    Judgement { paper: paper.to_string(), words, place, carried, held: (holds, held.len()), figures }
}

/// Which statements or quantities of a figure hold.
fn weigh(figure: &str, shows: &Shows, stores: &Stores, agreements: &[Agreement]) -> Vec<bool> {
    let holds = |name: &String, is_held: &dyn Fn(&Agreement) -> bool| {
        agreements.iter().any(|one| one.figure == figure && one.quantity == *name && is_held(one))
    };
    match shows {
        Shows::Statements(beginnings) => {
            beginnings.iter().flat_map(|words| statements(figure, words, stores)).collect()
        }
        Shows::Order(names) => {
            let is_held = |one: &Agreement| one.order.part().is_some_and(|part| part >= IN_ORDER);
            names.iter().map(|name| holds(name, &is_held)).collect()
        }
        Shows::Size(names) => {
            let is_held = |one: &Agreement| one.size.and_then(|size| size.skill).is_some_and(|skill| skill > 0.0);
            names.iter().map(|name| holds(name, &is_held)).collect()
        }
    }
}

/// Which statements that begin so hold; one that does not, if there are none.
fn statements(figure: &str, beginning: &str, stores: &Stores) -> Vec<bool> {
    let outcomes = stores.found.of(figure).iter();
    let named = outcomes.filter(|one| one.published.is_none() && one.cell.starts_with(beginning));
    let held: Vec<bool> = named.map(|one| one.verdict == Judged::Kept).collect();
    if held.is_empty() { vec![false] } else { held }
}
