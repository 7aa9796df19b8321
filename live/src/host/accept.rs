//! Whether a real path can run a scenario. A refusal names the key, the value found, and what a real path supports.
//!
//! Every scenario has `path.rate`, `path.delay` and `path.buffer`; real paths ignore them, and the output says so. Anything
//! more (losses, a discipline, a rate that changes, other traffic) is refused.

use super::running;
use crate::transfer::{MOST_DELAYED, MOST_FLOWS};
use crate::wire::SEGMENT_HEAD;
use crate::wire::seal::SEGMENT_TAG;
use experiment::scenario::{Coalescing, Experiment, FlowSpec, GapModel, Impairments, LinkSpec, ReceiverSpec, Service};
use harness::runner::Unfit;
use packetscale_models::congestion::Controller;
use packetscale_models::units::{Ratio, Span};

/// Headers of IPv6 and UDP, of a segment with its tag, and some data.
const SMALLEST: u64 = 48 + (SEGMENT_HEAD + SEGMENT_TAG) as u64 + 16;
const FIFO: &str = "fifo";
/// Stamps are taken in nanoseconds.
const GRANULARITY: Span = Span::from_nanos(1);

fn unfit(key: impl Into<String>, found: impl ToString, expected: impl Into<String>) -> Result<(), Unfit> {
    Err(Unfit { key: key.into(), found: found.to_string(), expected: expected.into() })
}

/// Refuses an experiment that a real path cannot run.
pub(super) fn accept(experiment: &Experiment) -> Result<(), Unfit> {
    if experiment.flows.iter().any(|flow| !flow.back.is_empty()) {
        return unfit("path.return", "a link on the way back", "[path] alone: the return path of a real path is fixed");
    }
    if experiment.links.len() > 1 {
        let expected = "[path] alone: the links of a real path are unknown";
        return unfit("link", format!("{} links", experiment.links.len()), expected);
    }
    experiment.links.first().map_or(Ok(()), path)?;
    if let Some(traffic) = experiment.traffic.first() {
        let expected = "none: traffic on a real path cannot be configured";
        return unfit("traffic", format!("traffic of kind \"{}\"", traffic.kind.name()), expected);
    }
    if let Some(arrivals) = experiment.arrivals.first() {
        let expected = "none: flows do not arrive on this host";
        return unfit(format!("flow.{}.arrivals", arrivals.table), "flows that arrive", expected);
    }
    if experiment.gaps != GapModel::Perfect {
        let expected = "\"perfect\": the best that this machine can do";
        return unfit("sender.gaps", "a model of gaps", expected);
    }
    if experiment.record.links {
        return unfit("record.links", true, "false: the links of a real path are unknown");
    }
    if experiment.record.packets {
        return unfit("record.packets", true, "false: a real path is observable only at its ends");
    }
    receiver(&experiment.receiver)?;
    if experiment.flows.len() > MOST_FLOWS {
        let found = format!("{} flows", experiment.flows.len());
        return unfit("flow.0.count", found, format!("{MOST_FLOWS} at most in a session"));
    }
    (0..experiment.flows.len()).try_for_each(|number| flow(experiment, number, &experiment.flows[number]))
}

/// Checks the path for anything but a rate, a delay and a buffer.
fn path(link: &LinkSpec) -> Result<(), Unfit> {
    let has_none =
        |key: &str, found: &str| unfit(format!("path.{key}"), found, "none: a real path cannot be configured");
    let (service, wire) = (&link.service, &link.impairments);
    match () {
        () if link.queue.kind != FIFO => {
            let expected = "\"fifo\", the default: the queues of a real path are its own";
            unfit("path.queue", format!("\"{}\"", link.queue.kind), expected)
        }
        () if link.loss > Ratio::ZERO => has_none("loss", "random losses"),
        () if wire.reorder.is_some() => has_none("reorder", "reordering"),
        () if !wire.outages.is_empty() => has_none("outages", "outages"),
        () if !wire.delay_steps.is_empty() => has_none("delay_steps", "a changing delay"),
        () if service.policer.is_some() => has_none("policer", "a policer"),
        () if service.shaper.is_some() => has_none("shaper", "a shaper"),
        () if service.aggregation.is_some() => has_none("aggregation", "service in bursts"),
        () if *service != Service::default() => has_none("rate", "a changing rate"),
        () if *wire != Impairments::default() => has_none("loss", "impairments"),
        () => Ok(()),
    }
}

fn receiver(receiver: &ReceiverSpec) -> Result<(), Unfit> {
    let none = "none: the server's hardware cannot be configured";
    match receiver {
        spec if spec.coalescing != Coalescing::NONE => {
            unfit("receiver.coalescing", format!("\"{}\"", spec.coalescing.time), none)
        }
        spec if spec.delayed_ack > MOST_DELAYED => {
            unfit("receiver.delayed_ack", spec.delayed_ack, format!("{MOST_DELAYED} at most"))
        }
        spec if spec.stamp_granularity > GRANULARITY => {
            let found = format!("\"{}\"", spec.stamp_granularity);
            unfit("receiver.stamp_granularity", found, "\"1 ns\", the resolution of the server's clock")
        }
        spec if spec.clock != Ratio::ONE => {
            let found = format!("\"{} %\"", (1000.0 * spec.clock.as_f64()).round() / 10.0);
            unfit("receiver.clock", found, "\"100 %\": the server's clock cannot be configured")
        }
        spec if spec.stamp_delay > Span::ZERO => {
            let expected = "\"0 s\": the server's timestamps cannot be delayed";
            unfit("receiver.stamp_delay", format!("\"{}\"", spec.stamp_delay), expected)
        }
        spec if spec.ack_loss > Ratio::ZERO => {
            unfit("receiver.ack_loss", spec.ack_loss.as_f64(), "0: a real path cannot be configured")
        }
        spec if spec.ack_bunching > Span::ZERO => {
            let expected = "\"0 s\": the return path cannot be configured";
            unfit("receiver.ack_bunching", format!("\"{}\"", spec.ack_bunching), expected)
        }
        _ => Ok(()),
    }
}

fn flow(experiment: &Experiment, number: usize, flow: &FlowSpec) -> Result<(), Unfit> {
    let key = |name: &str| format!("flow.{number}.{name}");
    if let Some(access) = flow.access {
        return unfit(key("access"), format!("\"{access}\""), "no rate: the card is this machine's");
    }
    if flow.packet.get() < SMALLEST {
        return unfit(key("packet"), format!("\"{}\"", flow.packet), format!("{SMALLEST} B and more"));
    }
    let controller = match running::controller(experiment, number, flow.rtt) {
        Ok(controller) => controller,
        Err(why) => return unfit(key("controller"), format!("\"{}\"", flow.controller.kind), why),
    };
    let needs = controller.needs();
    if needs.available {
        let expected =
            "a controller that measures: this one needs the true available bandwidth, unknown on a real path";
        return unfit(key("controller"), format!("\"{}\" with ideal estimation", flow.controller.kind), expected);
    }
    if needs.offers {
        let expected = "a controller without routers: those of a real path offer no rates";
        return unfit(key("controller"), format!("\"{}\"", flow.controller.kind), expected);
    }
    Ok(())
}
