//! Traffic of browsing users: pages of files, one or several connections at a time, and pauses between pages.

use crate::scenario::connections::senders;
use crate::scenario::document::{Node, Value};
use crate::scenario::error::ScenarioError;
use crate::scenario::fields::{Fields, Zero, integer, number, quantity};
use crate::scenario::hosts::Sender;
use crate::scenario::model::{FileSizes, Objects, Parse, Think, TrafficKind, Web};
use crate::scenario::packet::{HEADERS, packet};
use packetscale_models::units::{Bytes, Span};
use std::path::Path;

/// The most users of one copy.
const MOST_USERS: u64 = 100_000;

/// The most connections of one user at a time.
const MOST_PARALLEL: u64 = 64;

pub(crate) fn web(
    fields: &mut Fields<'_>,
    sender: &Sender,
    folder: &Path,
) -> Result<(TrafficKind, Bytes), ScenarioError> {
    let key = fields.key("users");
    let expected = format!("a whole number from 1 to {MOST_USERS}");
    let users = integer(fields.required("users", &expected)?, &key, 1..=MOST_USERS)?;
    let packet = packet(fields)?;
    if packet <= HEADERS {
        let expected = format!("more than {HEADERS}, the size of its headers");
        return Err(fields.refuse("packet", format!("\"{packet}\""), expected));
    }
    let flow = senders(fields, sender, packet, "cubic", folder)?;
    let access = fields.quantity_if("access", Zero::Refused)?;
    let web = Web {
        users: u32::try_from(users).unwrap_or(u32::MAX),
        flow,
        access,
        rtt: rtts(fields)?,
        window: fields.quantity_or("window", "64 kB", Zero::Refused)?,
        parallel: u32::try_from(fields.integer_or("parallel", 4, 1..=MOST_PARALLEL)?).unwrap_or(1),
        persistent: fields.switch_or("persistent", false)?,
        responsive: fields.switch_or("responsive", true)?,
        size: table(fields, "size", "{ median = \"11.58 kB\", sigma = 1.318 }", size)?,
        objects: table(fields, "objects", "{ shape = 2.43, most = 100 }", objects)?,
        think: table(fields, "think", "{ least = \"1 s\", shape = 1.5 }", think)?,
        parse: table(fields, "parse", "{ scale = \"1.46 s\", shape = 0.382 }", parse)?,
    };
    Ok((TrafficKind::Web(Box::new(web)), packet))
}

/// Reads a table of the source; an absent table counts as empty.
fn table<T>(
    fields: &mut Fields<'_>,
    key: &'static str,
    expected: &str,
    read: impl Fn(&mut Fields<'_>) -> Result<T, ScenarioError>,
) -> Result<T, ScenarioError> {
    let name = fields.key(key);
    let node = fields.or(key, Value::Table(Default::default()));
    let mut inner = Fields::of(node, &name, expected)?;
    let value = read(&mut inner)?;
    inner.finish()?;
    Ok(value)
}

fn size(fields: &mut Fields<'_>) -> Result<FileSizes, ScenarioError> {
    let size = FileSizes {
        median: fields.quantity_or("median", "11.58 kB", Zero::Refused)?,
        sigma: above(fields, "sigma", "1.318", 0.0)?,
        tail: share(fields, "tail", "0.07")?,
        tail_from: fields.quantity_or("tail_from", "133 kB", Zero::Refused)?,
        tail_shape: above(fields, "tail_shape", "1.1", 0.0)?,
        most: fields.quantity_or("most", "100 MB", Zero::Refused)?,
    };
    if size.tail_from <= size.median {
        let expected = format!("a size above the median, {}", size.median);
        return Err(fields.refuse("tail_from", format!("\"{}\"", size.tail_from), expected));
    }
    if size.most <= size.tail_from {
        let expected = format!("a size above tail_from, {}", size.tail_from);
        return Err(fields.refuse("most", format!("\"{}\"", size.most), expected));
    }
    Ok(size)
}

fn objects(fields: &mut Fields<'_>) -> Result<Objects, ScenarioError> {
    let shape = above(fields, "shape", "2.43", 0.0)?;
    Ok(Objects { shape, most: fields.count_or("most", 100, 1)? })
}

fn think(fields: &mut Fields<'_>) -> Result<Think, ScenarioError> {
    let least = fields.quantity_or("least", "1 s", Zero::Refused)?;
    let (shape, most) = (above(fields, "shape", "1.5", 1.0)?, fields.quantity_or("most", "100 s", Zero::Refused)?);
    if most <= least {
        let expected = format!("a time above the least, {least}");
        return Err(fields.refuse("most", format!("\"{most}\""), expected));
    }
    Ok(Think { least, shape, most })
}

fn parse(fields: &mut Fields<'_>) -> Result<Parse, ScenarioError> {
    Ok(Parse {
        scale: fields.quantity_or("scale", "1.46 s", Zero::Refused)?,
        shape: above(fields, "shape", "0.382", 0.0)?,
        most: fields.quantity_or("most", "1 s", Zero::Allowed)?,
    })
}

fn above(fields: &mut Fields<'_>, key: &'static str, default: &str, least: f64) -> Result<f64, ScenarioError> {
    let expected = format!("a number above {least} and up to 100, like {default}");
    let x = plain(fields, key, default, &expected)?;
    if x > least && x <= 100.0 { Ok(x) } else { Err(fields.refuse(key, x.to_string(), expected)) }
}

fn share(fields: &mut Fields<'_>, key: &'static str, default: &str) -> Result<f64, ScenarioError> {
    let expected = format!("a fraction from 0 to 1, like {default}");
    let x = plain(fields, key, default, &expected)?;
    if (0.0..=1.0).contains(&x) { Ok(x) } else { Err(fields.refuse(key, x.to_string(), expected)) }
}

fn plain(fields: &mut Fields<'_>, key: &'static str, default: &str, expected: &str) -> Result<f64, ScenarioError> {
    let name = fields.key(key);
    number(fields.or(key, Value::Float(default.to_string())), &name, expected)
}

/// Reads the bounds of base round-trip times.
fn rtts(fields: &mut Fields<'_>) -> Result<(Span, Span), ScenarioError> {
    const EXPECTED: &str = "two times, the smaller first, like [\"0 ms\", \"10 ms\"]";
    let key = fields.key("rtt");
    let of = |text: &str, node: &Node| Node { value: Value::Text(text.to_string()), place: node.place.clone() };
    let node = fields.or("rtt", Value::List(Vec::new()));
    if matches!(&node.value, Value::List(items) if items.is_empty()) {
        node.value = Value::List(vec![of("0 ms", node), of("10 ms", node)]);
    }
    if let Value::List(bounds) = &node.value
        && let [least, most] = bounds.as_slice()
    {
        let bounds: (Span, Span) = (quantity(least, &key, Zero::Allowed)?, quantity(most, &key, Zero::Allowed)?);
        if bounds.0 <= bounds.1 {
            return Ok(bounds);
        }
    }
    let found = node.value.to_string();
    Err(fields.refuse("rtt", found, EXPECTED))
}
