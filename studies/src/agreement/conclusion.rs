//! Conclusions of a paper: its sentences, each with the statements and quantities that carry it.
//!
//! `paper.toml` names them. A conclusion is carried if all its evidence holds, not carried if none or not all of its decisive
//! evidence does, else carried in part. A statement holds if it does in the stored run and in the repetition with other seeds.

use crate::agreement::Agreement;
use crate::papers::{Conclusion, Judged, Library, Outcome, Paper, Shows, Stores};
use serde::Serialize;

/// Part of the pairs that must be in the printed order for a quantity to carry a conclusion by its order: nine of ten.
pub const IN_ORDER: f64 = 0.9;

/// What became of a conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Carried {
    /// All its evidence holds.
    Carried,
    /// Some does, and all that is decisive.
    InPart,
    /// None does, or not all that is decisive.
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
    /// Pieces that hold by a bound that was chosen when our value was known.
    pub after: usize,
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
    let (mut pieces, mut figures, mut refuted) = (Vec::new(), Vec::new(), false);
    for evidence in &conclusion.carried_by {
        let found = weigh(&format!("{paper}/{}", evidence.figure), &evidence.shows, stores, agreements);
        refuted |= evidence.decisive && found.iter().any(|piece| !piece.holds);
        pieces.extend(found);
        if !figures.contains(&evidence.figure) {
            figures.push(evidence.figure.clone());
        }
    }
    let held = pieces.iter().filter(|piece| piece.holds).count();
    let carried = match held {
        none if refuted || none == 0 => Carried::Not,
        some if some == pieces.len() => Carried::Carried,
        _ => Carried::InPart,
    };
    let (words, place) = (conclusion.words.trim().to_string(), conclusion.place.clone());
    let after = pieces.iter().filter(|piece| piece.holds && piece.after_run).count();
    Judgement { paper: paper.to_string(), words, place, carried, held: (held, pieces.len()), after, figures }
}

/// One statement or quantity.
struct Piece {
    holds: bool,
    /// Whether its bound was chosen when our value was known.
    after_run: bool,
}

/// The statements or quantities of a figure.
fn weigh(figure: &str, shows: &Shows, stores: &Stores, agreements: &[Agreement]) -> Vec<Piece> {
    let holds = |name: &String, is_held: &dyn Fn(&Agreement) -> bool| {
        let holds = agreements.iter().any(|one| one.figure == figure && one.quantity == *name && is_held(one));
        Piece { holds, after_run: false }
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

/// The statements that begin so; one that does not hold, if there are none.
fn statements(figure: &str, beginning: &str, stores: &Stores) -> Vec<Piece> {
    let outcomes = stores.found.of(figure);
    let named = (0..outcomes.len())
        .filter(|at| outcomes[*at].published.is_none() && outcomes[*at].cell.starts_with(beginning))
        .map(|at| {
            let again = repetition(outcomes, at, stores.repeated.of(figure));
            let holds = [Some(&outcomes[at]), again].into_iter().flatten().all(|one| one.verdict == Judged::Kept);
            Piece { holds, after_run: outcomes[at].is_after_run() }
        });
    let found: Vec<Piece> = named.collect();
    if found.is_empty() { vec![Piece { holds: false, after_run: false }] } else { found }
}

/// The repetition of an outcome: of the same name; of several, of the same number.
pub(crate) fn repetition<'a>(outcomes: &[Outcome], at: usize, repeated: &'a [Outcome]) -> Option<&'a Outcome> {
    let before = outcomes[..at].iter().filter(|other| other.cell == outcomes[at].cell).count();
    repeated.iter().filter(|other| other.cell == outcomes[at].cell).nth(before)
}
