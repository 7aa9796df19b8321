//! Sizes of flows: a number, a law, or a distribution in a file.
//!
//! A file of a distribution is CSV: the line `size_bytes,share`, then a line for each point: the share of the flows that
//! are not larger than this. Sizes and shares rise; the last share is 1. Lines that begin with `#` name the source.

use crate::scenario::document::{Node, Value};
use crate::scenario::error::{ScenarioError, listed};
use crate::scenario::fields::{Fields, Zero, file, number, quantity};
use crate::scenario::model::{Size, SizeLaw};
use crate::scenario::text_file::{self, Fault};
use packetscale_models::units::Bytes;
use std::path::Path;

const KINDS: [&str; 3] = ["exponential", "pareto", "cdf"];

const HEADER: &str = "size_bytes,share";

/// The largest size of a file: far above every transfer, far below what overflows.
const LARGEST: u64 = 1 << 50;

/// Reads the key `size` of a flow: a law where flows arrive (`None`: unlimited), else a size.
pub(crate) fn law(fields: &mut Fields<'_>, folder: &Path) -> Result<Option<SizeLaw>, ScenarioError> {
    let key = fields.key("size");
    let node = fields.or("size", Value::Text("unlimited".to_string()));
    match &node.value {
        Value::Table(_) => table(node, &key, folder).map(Some),
        _ => Ok(match size(node, &key)? {
            Size::Unlimited => None,
            Size::Bytes(bytes) => Some(SizeLaw::Fixed(bytes)),
        }),
    }
}

fn size(node: &Node, key: &str) -> Result<Size, ScenarioError> {
    match &node.value {
        Value::Text(text) if text == "unlimited" => Ok(Size::Unlimited),
        _ => {
            let bytes = quantity(node, key, Zero::Refused);
            let expected = "an amount of data above zero like \"2 MB\", or \"unlimited\"".to_string();
            bytes.map(Size::Bytes).map_err(|error| ScenarioError { expected, ..error })
        }
    }
}

fn table(node: &mut Node, key: &str, folder: &Path) -> Result<SizeLaw, ScenarioError> {
    const EXPECTED: &str = "{ kind = \"exponential\", mean = \"20 kB\" } or { kind = \"cdf\", file = \"sizes.csv\" }";
    let mut fields = Fields::of(node, key, EXPECTED)?;
    let kind = fields.kind(EXPECTED)?;
    let law = match kind.as_str() {
        "exponential" => SizeLaw::Exponential(fields.quantity("mean", Zero::Refused)?),
        "pareto" => pareto(&mut fields)?,
        "cdf" => {
            let file = file(&mut fields, folder)?;
            let points = text_file::read(&file).and_then(|text| parse(&text));
            let points = points.map_err(|Fault { found, expected }| fields.refuse("file", found, expected))?;
            SizeLaw::Cdf { file, points }
        }
        _ => return Err(fields.refuse("kind", format!("\"{kind}\""), format!("one of {}", listed(KINDS.into_iter())))),
    };
    fields.finish()?;
    Ok(law)
}

fn pareto(fields: &mut Fields<'_>) -> Result<SizeLaw, ScenarioError> {
    const EXPECTED: &str = "a tail index from 0.1 to 100, but not 1, like 1.2";
    let (least, most) =
        (fields.quantity::<Bytes>("least", Zero::Refused)?, fields.quantity::<Bytes>("most", Zero::Refused)?);
    if most <= least {
        return Err(fields.refuse("most", format!("\"{most}\""), format!("a size above the least, {least}")));
    }
    let key = fields.key("shape");
    let shape = number(fields.required("shape", EXPECTED)?, &key, EXPECTED)?;
    if !(0.1..=100.0).contains(&shape) || shape == 1.0 {
        return Err(fields.refuse("shape", shape.to_string(), EXPECTED));
    }
    Ok(SizeLaw::Pareto { least, most, shape })
}

fn parse(text: &str) -> Result<Vec<(Bytes, f64)>, Fault> {
    let mut points: Vec<(Bytes, f64)> = Vec::new();
    let (number, lines) = text_file::below(HEADER, text)?;
    let mut last = (number, HEADER);
    for (number, line) in lines {
        let point = point(line)
            .ok_or_else(|| Fault::at(number, line, "a size in bytes, a comma and a share, like \"1500,0.3\""))?;
        if points.last().is_some_and(|before| before.0 >= point.0 || before.1 > point.1) {
            return Err(Fault::at(number, line, "sizes that rise, and shares that do not fall"));
        }
        points.push(point);
        last = (number, line);
    }
    if points.last().is_none_or(|end| end.1 != 1.0) {
        return Err(Fault::at(last.0, last.1, "a last line whose share is 1"));
    }
    Ok(points)
}

fn point(line: &str) -> Option<(Bytes, f64)> {
    let (size, share) = line.split_once(',')?;
    let size = size.trim().parse().ok().filter(|bytes: &u64| (1..=LARGEST).contains(bytes))?;
    let share = share.trim().parse().ok().filter(|share: &f64| (0.0..=1.0).contains(share))?;
    Some((Bytes::new(size), share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_has_a_point_on_each_line() {
        let points = parse("# two points\nsize_bytes,share\n10,0.25\n\n30 , 1\n").unwrap();
        assert_eq!(points, [(Bytes::new(10), 0.25), (Bytes::new(30), 1.0)]);
    }

    #[test]
    fn refuses_an_invalid_distribution_at_its_line() {
        let refused = [
            ("", "line 1, \"\""),
            ("1,1\n", "line 1, \"1,1\""),
            ("size_bytes,share\n", "line 1, \"size_bytes,share\""),
            ("size_bytes,share\n0,1\n", "line 2, \"0,1\""),
            ("size_bytes,share\n5,0.5\n5,1\n", "line 3, \"5,1\""),
            ("size_bytes,share\n5,0.5\n6,0.4\n", "line 3, \"6,0.4\""),
            ("size_bytes,share\n5,0.5\n6,0.9\n", "line 3, \"6,0.9\""),
        ];
        for (text, found) in refused {
            assert_eq!(parse(text).unwrap_err().found, found);
        }
    }

    #[test]
    fn fuzz_sizes() {
        conformance::fuzz::mutated_text(10_000, &["# two points\nsize_bytes,share\n10,0.25\n\n30 , 1\n"], |text| {
            if let Ok(points) = parse(text) {
                prop_assert!(points.is_sorted_by(|one, next| one.0 < next.0 && one.1 <= next.1), "{points:?}");
                prop_assert_eq!(points.last().map(|point| point.1), Some(1.0));
            }
            Ok(())
        });
    }
}
