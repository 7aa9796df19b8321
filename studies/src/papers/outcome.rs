//! Compares our results with what was published. A point without a value is a miss, except in the short form, which leaves
//! points out.

use crate::papers::figure::Figure;
use crate::papers::file::{self, Shown};
use crate::papers::picture::draw;
use crate::papers::point::{Point, same};
use crate::papers::reading::{Against, Reading};
use crate::papers::rule::{self, AFTER_RUN};
use crate::papers::source::{Findings, Task};
use crate::papers::table::rank_correlation;
use experiment::results::Interval;
use experiment::results::reproduction::{self, Claim, Origin, Source, Value, Verdict};

impl Figure {
    /// Our values compared with the published ones; `findings` belong to [`Figure::tasks`], in order.
    pub fn outcome(&self, findings: &[Findings]) -> reproduction::Figure {
        let file = &self.file;
        reproduction::Figure {
            name: self.name.clone(),
            title: file.title.clone(),
            place: file.place.clone(),
            says: file.says.trim().to_string(),
            quick: self.quick,
            sources: self.tasks.iter().zip(findings).map(|(task, findings)| source(task, findings)).collect(),
            values: file.value.iter().map(|value| self.value(value.as_ref(), findings)).collect(),
            claims: file
                .claim
                .iter()
                .map(|claim| self.claim(claim.as_ref(), findings))
                .chain(file.table.iter().flat_map(|table| self.order(table.as_ref(), findings)))
                .collect(),
            pictures: file.picture.iter().map(|picture| draw(self, picture.as_ref(), findings)).collect(),
            notes: file.note.iter().map(|note| note.words.trim().to_string()).collect(),
        }
    }

    fn value(&self, value: &file::Value, findings: &[Findings]) -> Value {
        let reading = Reading::from(value);
        let read = reading.read(&self.sources, findings).into_iter().next().and_then(|(_, read)| read);
        let published = *value.published.as_ref();
        let tolerance = rule::tolerance(published, value.last_place);
        let met = self.met(read.map(|read| rule::met(read.mean, published, tolerance)));
        Value {
            what: value.what.clone(),
            unit: value.unit.clone(),
            place: value.place.clone(),
            published,
            ours: read.map(|read| read.mean),
            half_width: read.and_then(|read| read.half_width),
            ratio: read.map(|read| read.mean / published).filter(|ratio| ratio.is_finite()),
            tolerance,
            half_place: value.last_place / 2.0,
            origin: self.origin(&value.from),
            verdict: self.verdict(met, &value.differs),
            because: value.differs.trim().to_string(),
            shown_by: self.shown(&reading, &value.shown_by, findings, |read| rule::met(read, published, tolerance)),
        }
    }

    fn claim(&self, claim: &file::Claim, findings: &[Findings]) -> Claim {
        let reading = Reading::from(claim);
        let readings = reading.read(&self.sources, findings);
        let margin = |read: &Option<Interval>| {
            let Some(Interval { mean: found, .. }) = *read else { return f64::INFINITY };
            let above = claim.at_least.map_or(f64::INFINITY, |bound| found - bound);
            let below = claim.at_most.map_or(f64::INFINITY, |bound| bound - found);
            above.min(below)
        };
        let missing = readings.iter().find(|(_, read)| read.is_none()).filter(|_| !self.quick);
        let there = readings.iter().filter(|(_, read)| read.is_some());
        let worst = missing.or_else(|| there.min_by(|a, b| margin(&a.1).total_cmp(&margin(&b.1))));
        let bounds = [("at least", claim.at_least), ("at most", claim.at_most)];
        let bounds: Vec<String> =
            bounds.iter().filter_map(|(word, bound)| bound.map(|bound| format!("{word} {bound}"))).collect();
        let against = match reading.against {
            Some(Against::DividedBy(_)) => ", divided",
            Some(Against::Less(_)) => ", less another",
            None => "",
        };
        let unit = reproduction::behind_number(&claim.unit);
        let after = if claim.after_run { AFTER_RUN } else { "" };
        let found = worst.and_then(|(_, read)| *read);
        let selected = worst.map(|(point, read)| {
            let which = if read.is_some() { "the worst" } else { "without a value" };
            self.named(&claim.from, point, which, readings.len())
        });
        Claim {
            words: claim.words.trim().to_string(),
            place: claim.place.clone(),
            bound: format!("{}{against} {}{unit}{after}", claim.metric, bounds.join(" and ")),
            unit: claim.unit.clone(),
            selected: selected.unwrap_or("nothing was found".to_string()),
            found: found.map(|read| read.mean),
            half_width: found.and_then(|read| read.half_width),
            origin: self.origin(&claim.from),
            verdict: self.verdict(self.met(found.map(|read| margin(&Some(read)) >= 0.0)), &claim.differs),
            because: claim.differs.trim().to_string(),
            shown_by: self.shown(&reading, &claim.shown_by, findings, |read| {
                claim.at_least.is_none_or(|bound| read >= bound) && claim.at_most.is_none_or(|bound| read <= bound)
            }),
        }
    }

    /// Judges the order of the rows in each column of a table, if the table requests it.
    fn order(&self, table: &file::Table, findings: &[Findings]) -> Vec<Claim> {
        if !table.order {
            return Vec::new();
        }
        let column = |(at, column): (usize, &toml::Value)| {
            let selection = table.in_column(column);
            let reading = table.reading(&selection);
            let (found, rows) = self.rank_correlation(table, at, &reading, findings);
            let differs = table.order_differs(column);
            let because = differs.map_or("", |exception| exception.because.trim());
            let ordered = |found: f64| found >= rule::ORDER;
            let by = differs.map(|exception| &exception.shown_by).filter(|by| !by.from.is_empty());
            let shows = by.filter(|by| {
                reading.shown(by, |there| self.rank_correlation(table, at, there, findings).0.is_some_and(ordered))
            });
            let what = if table.what.is_empty() { table.metric.clone() } else { table.what.clone() };
            Claim {
                words: format!("{what}: who comes before whom."),
                place: table.place.clone(),
                bound: format!("rank correlation at least {}", rule::ORDER),
                unit: String::new(),
                selected: format!("{}, {} = {}, {rows} rows", table.from, table.column, file::plain(column)),
                found,
                half_width: None,
                origin: self.origin(&table.from),
                verdict: self.verdict(self.met(found.map(ordered)), because),
                because: because.to_string(),
                shown_by: shows.map_or(String::new(), |by| by.from.clone()),
            }
        };
        table.columns.iter().enumerate().map(column).collect()
    }

    /// Returns how the rows of a reading are ordered against those of a printed column, and how many rows it has.
    fn rank_correlation(
        &self,
        table: &file::Table,
        column: usize,
        reading: &Reading<'_>,
        findings: &[Findings],
    ) -> (Option<f64>, usize) {
        let read = reading.read(&self.sources, findings);
        let ours = |row: &str| {
            let here = read.iter().find(|(point, _)| point.get(&table.row).is_some_and(|found| same(found, row)));
            here.and_then(|(_, read)| read.map(|read| read.mean))
        };
        let pairs: Vec<(f64, f64)> =
            table.rows.iter().filter_map(|(row, values)| Some((*values[column].as_ref(), ours(row)?))).collect();
        let whole = self.quick || pairs.len() == table.rows.len();
        (rank_correlation(&pairs).filter(|_| whole), pairs.len())
    }

    fn origin(&self, source: &str) -> Origin {
        self.source(source).map_or(Origin::Simulated, |at| self.sources[at].origin)
    }

    /// The source that explains why ours differs: its runs meet the bound. Otherwise empty.
    fn shown(&self, reading: &Reading<'_>, by: &Shown, findings: &[Findings], met: impl Fn(f64) -> bool) -> String {
        if by.from.is_empty() {
            return String::new();
        }
        let there = reading.shown(by, |there| there.read(&self.sources, findings));
        let shows = !there.is_empty() && there.iter().all(|(_, read)| read.is_some_and(|read| met(read.mean)));
        if shows { by.from.clone() } else { String::new() }
    }

    /// Whether a bound is met. What has no value does not meet it, unless the short form leaves it out.
    fn met(&self, met: Option<bool>) -> Option<bool> {
        if self.quick { met } else { met.or(Some(false)) }
    }

    /// Judges a comparison. A known difference must appear; the short form is too noisy to insist on it.
    fn verdict(&self, met: Option<bool>, differs: &str) -> Verdict {
        match (met, differs.is_empty()) {
            (None, _) => Verdict::NotJudged,
            (Some(true), true) => Verdict::Kept,
            (Some(false), false) => Verdict::Differs,
            (Some(true), false) if self.quick => Verdict::Kept,
            (Some(true), false) | (Some(false), true) => Verdict::Unexpected,
        }
    }

    /// Returns the keys in which the points of the source differ: `rcp, flow.0.count = 600, the worst of 6`.
    fn named(&self, from: &str, point: &Point, which: &str, selected: usize) -> String {
        let points = self.source(from).map_or(&[][..], |at| &self.sources[at].points);
        let differing = |key: &String| points.iter().any(|other| other.get(key) != point.get(key));
        let mut words = vec![from.to_string()];
        words.extend(point.iter().filter(|(key, _)| differing(key)).map(|(key, value)| format!("{key} = {value}")));
        if selected > 1 {
            words.push(format!("{which} of {selected}"));
        }
        words.join(", ")
    }
}

fn source(task: &Task, findings: &Findings) -> Source {
    let mut unanswered = Vec::new();
    if let Findings::Answers(answers) = findings {
        for why in answers.iter().filter_map(|(_, answer)| answer.as_ref().err()) {
            if !unanswered.contains(why) {
                unanswered.push(why.clone());
            }
        }
    }
    match task {
        Task::Simulate { name, scenario, plan } => Source {
            name: name.clone(),
            origin: Origin::Simulated,
            recipe: scenario.to_toml(),
            count: plan.len(),
            unanswered,
        },
        Task::Probe { name, scenario, plan, methods } => Source {
            name: name.clone(),
            origin: Origin::Simulated,
            recipe: format!("{}\n# read by\n{}\n", scenario.to_toml(), commented(methods)),
            count: plan.len(),
            unanswered,
        },
        Task::Compute { name, theory, questions } => Source {
            name: name.clone(),
            origin: Origin::Computed,
            recipe: questions.iter().map(|asked| command(theory, &asked.point)).collect::<Vec<_>>().join("\n"),
            count: questions.len(),
            unanswered,
        },
        Task::Recorded { name, recipe, answers } => Source {
            name: name.clone(),
            origin: Origin::Recorded,
            recipe: recipe.clone(),
            count: answers.len(),
            unanswered,
        },
    }
}

fn commented(methods: &[String]) -> String {
    methods.iter().map(|method| format!("#     {method}")).collect::<Vec<_>>().join("\n")
}

/// The command for the same question.
fn command(theory: &str, options: &Point) -> String {
    let option = |(key, value): (&String, &String)| match value.as_str() {
        "true" => format!(" --{key}"),
        text if text.contains(' ') => format!(" --{key} \"{text}\""),
        text => format!(" --{key} {text}"),
    };
    format!("packetscale theory {theory}{}", options.iter().map(option).collect::<String>())
}
