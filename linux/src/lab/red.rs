//! RED in the kernel's parameters. Its law is the simulator's (Floyd and Jacobson 1993) in other units:
//!
//! * limits are bytes; the average counts waiting bytes, without the packet in service;
//! * the weight is `2^-k`. `tc` computes k from a `burst`: the most packets that may arrive at once at an empty queue without
//!   raising the average from 0 above min, so `burst + 1 - min = (1 - (1 - weight)^burst) / weight`. Here the inverse is
//!   computed;
//! * the number of packets between chosen ones is drawn uniformly, as with `spread`; there is no gentle ramp above `max`;
//! * its average does not fall while the queue is empty, as without `idle_time`: idle time begins with a dequeue from an
//!   empty queue, and `tc-tbf` peeks first;
//! * above `max` it marks ECN-capable packets, as with `mark_above`, unless `harddrop` is set.

use crate::lab::error::unfit;
use experiment::scenario::{LinkSpec, QueueSpec};
use harness::runner::Unfit;
use packetscale_models::settings::Setting;
use packetscale_models::units::{Bytes, Ratio};

/// Its name in the kernel.
const RED: &str = "red";

/// The least that `tc` demands.
pub(crate) const LEAST: &str = "limit 100000 avpkt 1000";

/// The largest k that `tc` tries.
const MOST_HALVINGS: i32 = 31;
/// `tc` reads amounts of data, and a burst in packets, as 32 bits.
const MOST: u64 = u32::MAX as u64;
/// The least `max_p` that is written with six digits, as scenarios are.
const LEAST_P: f64 = 1e-6;

/// The settings of a scenario, as the kernel has them.
struct Known {
    /// Bytes.
    min: u64,
    max: u64,
    max_p: f64,
    burst: u64,
    mark_above: bool,
}

/// Returns the discipline with its settings, as `tc` writes it. Its limit is `packets` of the size of `packet`.
///
/// # Errors
/// A setting that the kernel's does not have.
pub(crate) fn words(link: &LinkSpec, packets: u64, packet: Bytes) -> Result<String, Unfit> {
    let Known { min, max, max_p, burst, mark_above } = known(&link.queue, packet)?;
    let (size, rate) = (packet.get(), link.rate.bps());
    let limit = packets.saturating_mul(size).min(MOST);
    let above = if mark_above { "" } else { " harddrop" };
    Ok(format!(
        "{RED} limit {limit} min {min} max {max} avpkt {size} burst {burst} probability {max_p} \
         bandwidth {rate}bit ecn{above}"
    ))
}

fn known(queue: &QueueSpec, packet: Bytes) -> Result<Known, Unfit> {
    let [min, max] = ["min", "max"].map(|name| match queue.settings.get(name) {
        Some(Setting::Packets(packets)) => Ok(packets.get()),
        _ => missing(name, "packets: the kernel's has no default"),
    });
    let (min, max) = (min?, max?);
    let max_p = match queue.settings.get("max_p") {
        // To the digits that a scenario would have.
        Some(Setting::Ratio(ratio)) if ratio.as_f64() < LEAST_P / 2.0 => {
            return unfit("path.queue.max_p", ratio.as_f64(), format!("{LEAST_P} and more, tc's resolution"));
        }
        Some(Setting::Ratio(ratio)) => (ratio.as_f64() * 1e6).round() / 1e6,
        _ => return missing("max_p", "a probability: the kernel's has no default"),
    };
    let weight = match queue.settings.get("weight") {
        Some(Setting::Ratio(weight)) => halvings(*weight).and_then(|k| Some((k, burst(k, min)?))),
        _ => None,
    };
    let Some((k, burst)) = weight else {
        return missing("weight", "a power of 1/2 as 0.001953125 (2^-9), below 1: all that the kernel's has");
    };
    let is = |name: &str, default: bool| match queue.settings.get(name) {
        Some(Setting::Switch(switch)) => *switch,
        _ => default,
    };
    if is("gentle", true) {
        return missing("gentle", "false: the kernel's has no ramp above max");
    }
    if !is("spread", true) {
        return missing("spread", "true: the kernel's always does it");
    }
    if is("idle_time", false) {
        return missing("idle_time", "false, or not given: under tc-tbf the kernel's never counts it");
    }
    // The average has k binary digits behind the point, in 32 bits (`red_check_params`).
    let most = (MOST >> (k + 1)) / packet.get().max(1);
    if let Some((name, packets)) = [("min", min), ("max", max)].into_iter().find(|(_, packets)| *packets > most) {
        let expected = format!("{most} packets at most, with this weight: the kernel counts in 32 bits");
        return unfit(format!("path.queue.{name}"), format!("\"{packets} packets\""), expected);
    }
    let [min, max] = [min, max].map(|packets| packets * packet.get());
    Ok(Known { min, max, max_p, burst, mark_above: is("mark_above", false) })
}

fn missing<T>(name: &str, expected: &str) -> Result<T, Unfit> {
    unfit(format!("path.queue.{name}"), "something else, or the default", expected)
}

/// The k of a weight of `2^-k`.
fn halvings(weight: Ratio) -> Option<i32> {
    (1..=MOST_HALVINGS).find(|k| weight.as_f64() == 0.5f64.powi(*k))
}

/// The least burst for which `tc` finds this k.
fn burst(k: i32, min: u64) -> Option<u64> {
    // The larger the burst, the larger k: bisection.
    let (mut below, mut enough) = (min.saturating_sub(1), MOST);
    while enough - below > 1 {
        let middle = below + (enough - below) / 2;
        if found(middle, min) >= k { enough = middle } else { below = middle }
    }
    (found(enough, min) == k).then_some(enough)
}

/// The k that `tc` finds for a burst of at least `min` packets (`tc_red_eval_ewma`).
fn found(burst: u64, min: u64) -> i32 {
    let room = burst as f64 + 1.0 - min as f64;
    let fits = |k: &i32| {
        let weight = 0.5f64.powi(*k);
        room <= (1.0 - (1.0 - weight).powf(burst as f64)) / weight
    };
    (1..=MOST_HALVINGS).find(fits).unwrap_or(MOST_HALVINGS + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::Scenario;
    use std::path::Path;

    fn link(queue: &str) -> LinkSpec {
        let text = format!(
            "run = {{ duration = \"2 s\" }}\nflow = [{{ controller = \"cubic\", packet = \"1500 B\" }}]\n\
             path = {{ rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"60 kB\", queue = {queue} }}\n"
        );
        Scenario::parse(&text, Path::new("test.toml"), &[]).expect("a scenario").plan().remove(0).links.remove(0)
    }

    const WHOLE: &str = "kind = \"red\", min = \"5 packets\", max = \"15 packets\", max_p = 0.1";

    /// The paper's own example: min 5, weight 0.002, about 2^-9: a burst of 50 packets (section 5).
    #[test]
    fn burst_matches_paper() {
        assert_eq!(found(50, 5), 9);
        let least = burst(9, 5).expect("there is one");
        assert!((46..=50).contains(&least) && found(least, 5) == 9 && found(least - 1, 5) == 8, "{least}");
    }

    #[test]
    fn writes_settings_for_tc() {
        // From tc-red(8). 40 packets of 1500 B are 60 kB.
        let burst = burst(9, 5).expect("there is one");
        for (more, end) in [("", " harddrop"), (", mark_above = true", "")] {
            let link = link(&format!("{{ {WHOLE}, weight = 0.001953125, gentle = false{more} }}"));
            let expected = format!(
                "red limit 60000 min 7500 max 22500 avpkt 1500 burst {burst} probability 0.1 bandwidth 10000000bit ecn{end}"
            );
            assert_eq!(words(&link, 40, Bytes::new(1_500)).expect("fits"), expected);
        }
    }

    #[test]
    fn refuses_red_settings_that_kernel_lacks() {
        for (settings, key) in [
            ("kind = \"red\"", "min"),
            (WHOLE, "weight"),
            (&format!("{WHOLE}, weight = 0.002"), "weight"),
            (&format!("{WHOLE}, weight = 1.0"), "weight"),
            (&format!("{WHOLE}, weight = 0.25"), "gentle"),
            (&format!("{WHOLE}, weight = 0.25, gentle = false, spread = false"), "spread"),
            (&format!("{WHOLE}, weight = 0.25, gentle = false, idle_time = true"), "idle_time"),
            (&format!("{WHOLE}, weight = 0.25, gentle = false").replace("0.1", "1e-7"), "max_p"),
            (&format!("{WHOLE}, weight = 0.001953125, gentle = false").replace("15", "2800"), "max"),
        ] {
            let link = link(&format!("{{ {settings} }}"));
            let message = words(&link, 40, Bytes::new(1_500)).expect_err(settings).to_string();
            assert!(message.starts_with(&format!("path.queue.{key}: found ")), "{message}");
        }
    }
}
