//! A finding: a path, its effect, and a scenario file that reproduces it.

use crate::attack::figure::Figure;
use crate::attack::genes::rounded;
use crate::attack::genome::Genome;
use crate::attack::judge::{Judge, Score};
use crate::attack::words;
use crate::attack::written::{capacity_bps, scenario};
use harness::runner::{Error, Host, Refusal};
use serde::Serialize;
use std::collections::BTreeMap;

/// The part of a finding's strength that a simpler path, and each other seed, must keep.
pub const KEEPS: f64 = 0.75;
/// Number of seeds of a finding: that of the search, and three others.
pub const SEEDS: usize = 4;

/// A path on which the subject does badly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Name of its scenario.
    pub name: String,
    /// Description of the path.
    pub title: String,
    /// The causes, in words.
    pub causes_in_words: String,
    /// The path, in words.
    pub path: String,
    /// The causes.
    pub causes: Vec<&'static str>,
    /// How many times worse the subject is, of the means over all seeds.
    pub times_worse: f64,
    /// The same for each seed.
    pub times_worse_by_seed: Vec<f64>,
    /// The unit of `subject` and `reference`: the figure of a run's summary.
    pub metric: &'static str,
    /// The subject's figure, mean over the seeds.
    pub subject: f64,
    /// The reference's.
    pub reference: f64,
    /// Whether other seeds confirm it; false if time was over before they ran.
    pub confirmed: bool,
    /// Whether it was simplified completely.
    pub simplest: bool,
    /// The genes, each under its name.
    pub genes: BTreeMap<&'static str, f64>,
    /// Result of another host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Replayed>,
    /// The scenario's file.
    pub scenario: String,
}

/// A finding on another host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replayed {
    /// Where.
    pub host: String,
    /// How many times worse the subject was there.
    pub times_worse: Option<f64>,
    /// The subject's figure there.
    pub subject: Option<f64>,
    /// The reference's.
    pub reference: Option<f64>,
    /// Why it is missing.
    pub refused: Option<String>,
}

/// Whether a path still shows a finding of this strength: with every seed, at three quarters.
///
/// # Errors
/// As [`Judge::scores`].
pub fn holds(judge: &Judge<'_>, genome: &Genome, times_worse: f64) -> Result<bool, Error> {
    let enough = 1.0 + KEEPS * (times_worse - 1.0);
    let shows = |scores: &[Score]| scores.iter().all(|score| score.times_worse >= enough);
    // Most changes fail with the first seed.
    Ok(shows(&judge.scores(genome, 1)?) && shows(&judge.scores(genome, SEEDS)?))
}

/// The origin of a search.
pub struct Asker<'a> {
    /// The subject, as tables name it.
    pub subject: &'a str,
    /// The reference's name in tables; of the bound, `what others leave`.
    pub reference: &'a str,
    /// The command that reproduces it.
    pub command: &'a str,
    /// Version of packetscale.
    pub version: &'a str,
}

/// Describes a path's effect.
///
/// # Errors
/// As [`Judge::scores`].
pub fn described(
    judge: &Judge<'_>,
    genome: &Genome,
    asker: &Asker<'_>,
    confirmed: bool,
    simplest: bool,
) -> Result<Finding, Error> {
    let seeds = if confirmed { SEEDS } else { 1 };
    let scores = judge.scores(genome, seeds)?;
    let mean = |read: fn(&Score) -> f64| scores.iter().map(read).sum::<f64>() / seeds as f64;
    let (subject, reference) = (mean(|score| score.subject), mean(|score| score.reference));
    let capacity = capacity_bps(genome, judge.figure.is_of_whole_runs());
    let causes: Vec<&'static str> = genome.causes().into_iter().map(|kind| kind.name()).collect();
    let names = [asker.subject, judge.figure.name()].into_iter().chain(causes.iter().copied());
    let name = names.map(file_name).collect::<Vec<_>>().join("-");
    let times_worse = judge.figure.times_worse(subject, reference, capacity);
    let by_seed: Vec<f64> = scores.iter().map(|score| score.times_worse).collect();
    let title = format!(
        "{}: {} {:.1} times worse than {}, where {}",
        asker.subject,
        judge.figure.name(),
        times_worse,
        asker.reference,
        words::causes(genome)
    );
    let mut finding = Finding {
        name,
        title,
        causes_in_words: words::causes(genome),
        path: words::path(genome),
        causes,
        times_worse,
        times_worse_by_seed: by_seed,
        metric: judge.figure.metric(),
        subject,
        reference,
        confirmed,
        simplest,
        genes: genome.genes().map(|(id, value)| (id.gene().name, value)).collect(),
        replayed: None,
        scenario: String::new(),
    };
    finding.scenario = text(judge, genome, asker, &finding, capacity);
    Ok(finding)
}

/// Text as a part of a file's name.
pub fn file_name(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn text(judge: &Judge<'_>, genome: &Genome, asker: &Asker<'_>, finding: &Finding, capacity: f64) -> String {
    let figure = judge.figure;
    let by_seed: Vec<String> = finding.times_worse_by_seed.iter().map(|times| format!("{times:.1}")).collect();
    let shows = format!(
        "{}. {} {}, {} {} ({}, mean over {} seeds; times worse with each: {}).",
        finding.title,
        asker.subject,
        figure.words(finding.subject),
        asker.reference,
        figure.words(finding.reference),
        figure.metric(),
        by_seed.len(),
        by_seed.join(", ")
    );
    let state = match (finding.confirmed, finding.simplest) {
        (false, _) => "Not repeated with other seeds, not simplified.",
        (true, false) => "Not fully simplified.",
        (true, true) => {
            "Every remaining condition matters: without any one, less than three quarters of the difference remains."
        }
    };
    let found = format!("Found (version {}) by `{}`. {state}", asker.version, asker.command);
    let expectations = expectations(judge, finding, asker, capacity);
    let scenario = scenario(genome, &judge.frame(finding.times_worse_by_seed.len()));
    format!(
        "{}#\n{}#\n# packetscale run {}.toml\n\n{scenario}{expectations}",
        words::comment(&shows),
        words::comment(&found),
        finding.name
    )
}

/// Expectations of the file: the part of the difference that a finding must keep, half of the tolerance on either side.
fn expectations(judge: &Judge<'_>, finding: &Finding, asker: &Asker<'_>, capacity: f64) -> String {
    let figure = judge.figure;
    let keeps = 1.0 + KEEPS * (finding.times_worse - 1.0);
    let sides = if judge.frame(1).controllers.len() > 1 { 2.0 } else { 1.0 };
    let slack = libm::pow(finding.times_worse / keeps, 1.0 / sides);
    let mut out = String::new();
    let mut expect = |controller: &str, value: f64, is_subject: bool| {
        // The subject may improve by this factor, and the reference get worse.
        let upward = is_subject == figure.is_better_larger();
        // Larger amounts are worse, except for a share.
        let larger_amount = if figure == Figure::Fairness { !upward } else { upward };
        let by = if larger_amount { slack } else { 1.0 / slack };
        let bound = rounded(figure.moved(value, by, capacity), 4);
        let side = if upward { "at_most" } else { "at_least" };
        let why = if is_subject {
            "value found, less a quarter of the difference; a miss is an improvement"
        } else {
            "the reference does better on this path"
        };
        let selected = if sides > 1.0 { format!("where = {{ controller = {controller:?} }}\n") } else { String::new() };
        let metric = figure.metric();
        out.push_str(&format!("\n[[expect]]\nmetric = \"{metric}\"\n{selected}{side} = {bound:?}\nwhy = \"{why}\"\n"));
    };
    expect(asker.subject, finding.subject, true);
    if sides > 1.0 {
        expect(asker.reference, finding.reference, false);
    }
    out
}

/// Makes the finding's runs of the first seed on another host.
pub fn replay(judge: &Judge<'_>, genome: &Genome, host: &dyn Host) -> Replayed {
    let none =
        Replayed { host: host.name().to_string(), times_worse: None, subject: None, reference: None, refused: None };
    let made = || -> Result<Score, Refusal> {
        let plan = judge.plan(genome, 1)?;
        host.accept(&plan)?;
        host.check(&plan)?;
        let runs = plan.iter().map(|experiment| host.run(experiment)).collect::<Result<Vec<_>, _>>()?;
        Ok(judge.score_of(genome, &runs))
    };
    match made() {
        Ok(score) => Replayed {
            times_worse: Some(score.times_worse),
            subject: Some(score.subject),
            reference: Some(score.reference),
            ..none
        },
        Err(refusal) => Replayed { refused: Some(refusal.to_string()), ..none },
    }
}
