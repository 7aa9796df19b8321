//! Flows that arrive while the run lasts: the key `arrivals` of a flow.

use crate::scenario::document::{Node, Value};
use crate::scenario::error::{ScenarioError, listed};
use crate::scenario::fields::{Fields, Zero, file, quantity, ratio};
use crate::scenario::model::ArrivalProcess;
use crate::scenario::text_file::{self, Fault};
use packetscale_models::units::{Bytes, Ratio, Span, Time};
use std::path::Path;

const KINDS: [&str; 4] = ["poisson", "times", "trace", "requests"];

const HEADER: &str = "start_s,size_bytes";

/// The most flows of one table that may be expected in a run: hours of work.
const MOST_FLOWS: u64 = 100_000_000;

/// The most clients of one table.
const MOST_CLIENTS: u64 = 10_000;

/// Bounds of a line of a file: far above every run, far below what overflows.
const LATEST_S: f64 = 10_000_000.0;
const LARGEST: u64 = 1 << 50;

/// Reads the key `arrivals`, if present.
pub(crate) fn process(
    fields: &mut Fields<'_>,
    duration: Span,
    folder: &Path,
) -> Result<Option<ArrivalProcess>, ScenarioError> {
    let key = fields.key("arrivals");
    fields.get("arrivals").map(|node| read(node, &key, duration, folder)).transpose()
}

fn read(node: &mut Node, key: &str, duration: Span, folder: &Path) -> Result<ArrivalProcess, ScenarioError> {
    const EXPECTED: &str = "{ kind = \"poisson\", load = 0.5 } or { kind = \"times\", times = [\"1 s\", \"2 s\"] }";
    let mut fields = Fields::of(node, key, EXPECTED)?;
    let kind = fields.kind(EXPECTED)?;
    let process = match kind.as_str() {
        "poisson" => poisson(&mut fields, duration)?,
        "times" => times(&mut fields)?,
        "trace" => trace(&mut fields, folder)?,
        "requests" => ArrivalProcess::Requests {
            clients: u32::try_from(fields.integer_or("clients", 1, 1..=MOST_CLIENTS)?).unwrap_or(1),
            think: fields.quantity_or("think", "0 s", Zero::Allowed)?,
        },
        _ => return Err(fields.refuse("kind", format!("\"{kind}\""), format!("one of {}", listed(KINDS.into_iter())))),
    };
    fields.finish()?;
    Ok(process)
}

fn poisson(fields: &mut Fields<'_>, duration: Span) -> Result<ArrivalProcess, ScenarioError> {
    const EXPECTED: &str = "either \"load\", a share of the slowest link, or \"every\", the mean time between arrivals";
    let every = fields.quantity_if("every", Zero::Refused)?;
    let key = fields.key("load");
    let load = fields.get("load").map(|node| ratio(node, &key, 0.0..=1000.0)).transpose()?;
    if let Some(every) = every.filter(|every| duration / *every > MOST_FLOWS) {
        let expected = format!("at least {}: at most {MOST_FLOWS} flows in {duration}", duration / MOST_FLOWS);
        return Err(fields.refuse("every", format!("\"{every}\""), expected));
    }
    match (every, load) {
        (Some(every), None) => Ok(ArrivalProcess::Poisson(every)),
        (None, Some(Ratio::ZERO)) => Err(fields.refuse("load", "0", "a share above zero")),
        (None, Some(load)) => Ok(ArrivalProcess::Load(load)),
        (Some(_), Some(_)) => Err(fields.refuse("load", "both", EXPECTED)),
        (None, None) => Err(fields.refuse("load", "neither", EXPECTED)),
    }
}

fn times(fields: &mut Fields<'_>) -> Result<ArrivalProcess, ScenarioError> {
    const EXPECTED: &str = "a list of times like [\"1 s\", \"2 s\"]";
    let key = fields.key("times");
    let node = fields.required("times", EXPECTED)?;
    let Value::List(items) = &node.value else {
        return Err(ScenarioError::at(&node.place, key, node.value.described(), EXPECTED));
    };
    let times: Result<Vec<Time>, ScenarioError> =
        items.iter().map(|item| Ok(Time::ZERO + quantity::<Span>(item, &key, Zero::Allowed)?)).collect();
    let mut times = times?;
    times.sort();
    Ok(ArrivalProcess::Times(times))
}

fn trace(fields: &mut Fields<'_>, folder: &Path) -> Result<ArrivalProcess, ScenarioError> {
    let file = file(fields, folder)?;
    let flows = text_file::read(&file).and_then(|text| parse(&text));
    let flows = flows.map_err(|Fault { found, expected }| fields.refuse("file", found, expected))?;
    Ok(ArrivalProcess::Listed { file, flows })
}

/// CSV: the line `start_s,size_bytes`, then a line for each flow, in order of start.
fn parse(text: &str) -> Result<Vec<(Time, Bytes)>, Fault> {
    let mut flows: Vec<(Time, Bytes)> = Vec::new();
    let (_, lines) = text_file::below(HEADER, text)?;
    for (number, line) in lines {
        let flow = flow(line).ok_or_else(|| Fault::at(number, line, "a start in s, a comma and a size in bytes"))?;
        if flows.last().is_some_and(|before| before.0 > flow.0) {
            return Err(Fault::at(number, line, "starts that do not fall"));
        }
        flows.push(flow);
    }
    Ok(flows)
}

fn flow(line: &str) -> Option<(Time, Bytes)> {
    let (start, size) = line.split_once(',')?;
    let start = start.trim().parse().ok().filter(|s: &f64| (0.0..=LATEST_S).contains(s))?;
    let size = size.trim().parse().ok().filter(|bytes: &u64| (1..=LARGEST).contains(bytes))?;
    Some((Time::ZERO + Span::from_secs_f64(start), Bytes::new(size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_flow_trace_has_a_start_and_a_size() {
        let flows = parse("# by hand\nstart_s,size_bytes\n0.5,1500\n0.5,20\n").unwrap();
        let start = Time::ZERO + Span::from_millis(500);
        assert_eq!(flows, [(start, Bytes::new(1500)), (start, Bytes::new(20))]);
        for (text, found) in [
            ("start_s\n", "line 1, \"start_s\""),
            ("start_s,size_bytes\n1,0\n", "line 2, \"1,0\""),
            ("start_s,size_bytes\n1,5\n0.5,5\n", "line 3, \"0.5,5\""),
        ] {
            assert_eq!(parse(text).unwrap_err().found, found);
        }
    }
}
