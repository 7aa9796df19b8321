//! Senders that offer several times what the path carries.

use crate::results::numbers::trimmed;
use crate::results::schema::Run;
use crate::results::statistics::Group;

/// A sender is named that sends this many times what arrives.
const OVERSENDS: f64 = 2.0;

/// Returns who sends several times what arrives, a sentence each: `copa sends 714 times what arrives.` The most over the sweep
/// points.
pub fn oversenders(groups: &[Group]) -> Vec<String> {
    let mut most: Vec<(&str, f64, String)> = Vec::new();
    for group in groups {
        let names = group.runs.iter().flat_map(|run| &run.flows).map(|flow| flow.controller.as_str());
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let Some(times) = times(&group.runs, name).filter(|times| *times >= OVERSENDS) else { continue };
            match most.iter_mut().find(|(known, ..)| *known == name) {
                Some(known) if known.1 >= times => {}
                Some(known) => (known.1, known.2) = (times, group.point()),
                None => most.push((name, times, group.point())),
            }
        }
    }
    let sentence = |(name, times, at): (&str, f64, String)| {
        let at = if at.is_empty() { String::new() } else { format!(" at {at}") };
        format!("{name} sends {} times what arrives{at}.", rounded(times))
    };
    most.into_iter().map(sentence).collect()
}

/// Packets that the flows of a controller sent, over those that arrived.
fn times(runs: &[&Run], controller: &str) -> Option<f64> {
    let flows = || runs.iter().flat_map(|run| &run.flows).filter(|flow| flow.controller == controller);
    let sent: u64 = flows().map(|flow| flow.sent_packets).sum();
    let gone: u64 = flows().map(|flow| flow.dropped_packets + flow.lost_packets).sum();
    (sent > gone).then(|| sent as f64 / (sent - gone) as f64)
}

fn rounded(times: f64) -> String {
    trimmed(times, if times < 10.0 { 1 } else { 0 })
}
