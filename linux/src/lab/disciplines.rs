//! The bottleneck's queue discipline: the kernel's equivalent of a scenario's, and its `tc` settings.
//!
//! Those that the simulator also has follow the same standards (RFC 8289, 8290, 8033), so a setting has the same meaning
//! and default in both; RED's differ ([`red`]). Settings that the kernel lacks are refused by name. Kernel-only disciplines
//! have no settings. Limits: the kernel counts packets; a buffer in bytes becomes a number of full packets. Marks: these kernel
//! disciplines mark only if enabled, the scenario's always.

use crate::lab::error::unfit;
use crate::lab::red;
use experiment::scenario::{Buffer, LinkSpec, QueueSpec};
use harness::runner::Unfit;
use packetscale_models::settings::Setting;
use packetscale_models::units::Bytes;

/// A discipline that the kernel may have.
struct Discipline {
    /// Its name in scenarios.
    name: &'static str,
    /// Its name in the kernel.
    kernel: &'static str,
    /// How it identifies flows, if it sorts by flow.
    flows: Option<Named>,
    /// Unit of its buffer limit.
    limit: Limit,
    /// Constant arguments.
    always: &'static str,
    settings: Settings,
    /// The least that `tc` demands.
    least: &'static str,
}

/// Syntax of its settings.
#[derive(Clone, Copy)]
enum Settings {
    /// One by one.
    Each(&'static [Known]),
    /// Together: `tc`'s words, with a limit in packets of this size.
    Together(fn(&LinkSpec, u64, Bytes) -> Result<String, Unfit>),
}

/// A setting: its name in scenarios, its name for `tc`, and how it is written.
type Known = (&'static str, &'static str, Form);

/// How a queue identifies flows (`BY_PRIORITY` and the others of `bpf/bottleneck.bpf.c`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    /// By the packet's priority, which the queue reads.
    Priority = 1,
    /// By its mark, which a filter at the queue reads.
    Mark = 2,
    /// By the lowest bits of its hash.
    Hash = 3,
}

/// How a limit is written.
#[derive(Clone, Copy)]
enum Limit {
    /// Packets.
    Packets,
    /// Bytes of full packets. This discipline also counts the kernel's overhead per packet buffer.
    Memory,
}

#[derive(Clone, Copy)]
enum Form {
    /// In microseconds.
    Time,
    Bytes,
    Number,
    /// A whole multiple of a fraction: the kernel's PIE counts its gains in sixteenths, up to 32.
    Sixteenths,
    /// A switch for something that the kernel always does, so it has no argument.
    Always,
}

const KNOWN: [Discipline; 7] = [
    Discipline {
        settings: Settings::Each(&[("target", "target", Form::Time), ("interval", "interval", Form::Time)]),
        ..without_flows("codel")
    },
    Discipline {
        name: "fq-codel",
        kernel: "fq_codel",
        flows: Some(Named::Priority),
        settings: Settings::Each(&[
            ("target", "target", Form::Time),
            ("interval", "interval", Form::Time),
            ("flows", "flows", Form::Number),
            ("quantum", "quantum", Form::Bytes),
        ]),
        ..without_flows("")
    },
    Discipline {
        settings: Settings::Each(&[
            ("target", "target", Form::Time),
            ("update", "tupdate", Form::Time),
            ("alpha", "alpha", Form::Sixteenths),
            ("beta", "beta", Form::Sixteenths),
            ("derandomise", "", Form::Always),
        ]),
        ..without_flows("pie")
    },
    Discipline { settings: Settings::Together(red::words), least: red::LEAST, ..without_flows("red") },
    // Without its own shaper: the bottleneck is the token bucket.
    Discipline { flows: Some(Named::Mark), limit: Limit::Memory, always: "unlimited", ..without_flows("cake") },
    Discipline { flows: Some(Named::Hash), always: "", ..without_flows("fq") },
    Discipline { name: "fq-pie", kernel: "fq_pie", flows: Some(Named::Priority), ..without_flows("") },
];

/// A discipline without flows or settings that marks, and has the same name everywhere.
const fn without_flows(name: &'static str) -> Discipline {
    Discipline {
        name,
        kernel: name,
        flows: None,
        limit: Limit::Packets,
        always: "ecn",
        settings: Settings::Each(&[]),
        least: "",
    }
}

/// The drop-tail FIFO, which every kernel has.
pub(crate) const FIFO: &str = "fifo";

/// A discipline that newer kernels have.
const DUALPI2: &str = "dualpi2";

/// Packets that a queue without a limit holds.
const UNLIMITED: u64 = 10_000_000;

/// A buffer in packets: in full ones, where it is in bytes.
fn packets(buffer: Buffer, packet: Bytes) -> u64 {
    match buffer {
        Buffer::Bytes(bytes) => bytes.packets_of(packet).get(),
        Buffer::Packets(packets) => packets.get(),
        Buffer::Unlimited => UNLIMITED,
    }
}

/// The kernel's disciplines that a scenario can ask for: their names, and the words with which `tc` makes one to try.
pub fn disciplines() -> impl Iterator<Item = (&'static str, &'static str)> {
    KNOWN.iter().map(|known| (known.kernel, known.least))
}

/// Scenario names of the disciplines that `has` accepts, and of the FIFO.
pub(crate) fn names(has: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let known = KNOWN.iter().filter(|known| has(known.kernel)).map(|known| known.name);
    std::iter::once(FIFO).chain(known).collect()
}

fn known(queue: &QueueSpec) -> Option<&'static Discipline> {
    KNOWN.iter().find(|known| known.name == queue.kind)
}

/// The kernel's name of a queue; `None` for the FIFO, and for those that no kernel has.
pub(crate) fn kernel_name(queue: &QueueSpec) -> Option<&'static str> {
    known(queue).map(|known| known.kernel)
}

/// Whether flows overtake each other in a queue.
pub(crate) fn is_fair(queue: &QueueSpec) -> bool {
    known(queue).is_some_and(|known| known.flows.is_some())
}

/// The handle of the bottleneck's queue, as `tc` writes it, and as the kernel has it: the upper half of 32 bits.
pub(crate) const HANDLE: &str = "10:";
const HANDLE_BITS: u64 = 0x10 << 16;

/// Default number of buckets of all of these disciplines, and maximum of a priority.
const BUCKETS: u64 = 1_024;
const MOST_BUCKETS: u64 = (1 << 16) - 1;

/// For the program: how a queue sorts packets by flow, its handle, and its number of buckets; zeros for others.
pub(crate) fn flow_words(queue: &QueueSpec) -> [u64; 3] {
    let number = match queue.settings.get("flows") {
        Some(Setting::Integer(number)) => *number,
        _ => BUCKETS,
    };
    let flows = known(queue).and_then(|known| known.flows);
    flows.map_or([0; 3], |named| [named as u64, HANDLE_BITS, number.min(MOST_BUCKETS)])
}

/// Refuses a queue that no kernel has, or a setting that the kernel's does not have. `packet` is the size of a full one.
pub(crate) fn check(link: &LinkSpec, packet: Bytes) -> Result<(), Unfit> {
    let queue = &link.queue;
    if queue.kind == FIFO {
        return Ok(());
    }
    let Some(discipline) = known(queue) else {
        let all: Vec<String> = names(|_| true).iter().map(|name| format!("\"{name}\"")).collect();
        let why = if queue.kind == DUALPI2 { "; kernels have dualpi2 from 6.17 on, and it was not tried" } else { "" };
        return unfit("path.queue", format!("\"{}\"", queue.kind), format!("one of {}{why}", all.join(", ")));
    };
    discipline.words(link, packet).map(drop)
}

/// Returns the lines for `tc` that put the bottleneck's discipline under the token bucket of a device, with its limit and
/// settings; none for the FIFO. `packet` is the size of a full one.
///
/// # Errors
/// As [`check`].
pub(crate) fn lines(link: &LinkSpec, packet: Bytes, device: &str) -> Result<Vec<String>, Unfit> {
    let Some(discipline) = known(&link.queue) else { return Ok(Vec::new()) };
    let words = discipline.words(link, packet)?;
    let mut lines = vec![format!("qdisc add dev {device} parent 1:1 handle {HANDLE} {words}")];
    if discipline.flows == Some(Named::Mark) {
        lines.push(format!("filter add dev {device} parent {HANDLE} protocol all fw"));
    }
    Ok(lines)
}

impl Discipline {
    /// The discipline, its limit and its settings.
    fn words(&self, link: &LinkSpec, packet: Bytes) -> Result<String, Unfit> {
        let packets = packets(link.buffer, packet);
        let each = match self.settings {
            Settings::Each(each) => each,
            Settings::Together(words) => return words(link, packets, packet),
        };
        let limit = match self.limit {
            Limit::Packets => format!("limit {packets}"),
            Limit::Memory => format!("memlimit {}", packets.saturating_mul(packet.get()).min(u64::from(u32::MAX))),
        };
        let mut words = [self.kernel, &limit, self.always].map(str::to_string).to_vec();
        for (name, value) in &link.queue.settings {
            words.push(self.word(each, name, value)?);
        }
        words.retain(|word| !word.is_empty());
        Ok(words.join(" "))
    }

    /// A setting as `tc` writes it.
    fn word(&self, each: &[Known], name: &str, value: &Setting) -> Result<String, Unfit> {
        let key = format!("path.queue.{name}");
        let Some((_, word, form)) = each.iter().find(|(known, ..)| *known == name) else {
            let has: Vec<String> = each.iter().map(|(known, ..)| format!("\"{known}\"")).collect();
            let expected = format!("only settings of the kernel's {}: {}", self.kernel, has.join(", "));
            return unfit(key, "a setting", expected);
        };
        let written = match (form, value) {
            // In whole microseconds: the kernel's disciplines count them.
            (Form::Time, Setting::Span(time)) if time.nanos() % 1_000 == 0 && time.nanos() > 0 => {
                Some(format!("{}us", time.nanos() / 1_000))
            }
            (Form::Bytes, Setting::Bytes(bytes)) => Some(bytes.get().to_string()),
            (Form::Number, Setting::Integer(number)) => Some(number.to_string()),
            (Form::Sixteenths, Setting::Ratio(ratio)) => sixteenths(ratio.as_f64()),
            (Form::Always, Setting::Switch(true)) => return Ok(String::new()),
            _ => None,
        };
        match written {
            Some(written) => Ok(format!("{word} {written}")),
            None => unfit(key, found(value), form.expected()),
        }
    }
}

impl Form {
    fn expected(self) -> &'static str {
        match self {
            Form::Time => "a whole number of microseconds above 0, as the kernel counts",
            Form::Bytes => "an amount of data",
            Form::Number => "a whole number",
            Form::Sixteenths => "a whole number of sixteenths up to 2, as the kernel counts",
            Form::Always => "true: the kernel's always does it",
        }
    }
}

/// A gain in sixteenths; `None` where it is not a whole number of them, or above 2.
fn sixteenths(gain: f64) -> Option<String> {
    let scaled = gain * 16.0;
    (scaled.fract() == 0.0 && scaled <= 32.0).then(|| (scaled as u64).to_string())
}

fn found(value: &Setting) -> String {
    match value {
        Setting::Span(time) => format!("\"{time}\""),
        // To the digits that a scenario would have.
        Setting::Ratio(ratio) => ((ratio.as_f64() * 1e6).round() / 1e6).to_string(),
        Setting::Rate(rate) => format!("\"{rate}\""),
        Setting::Packets(packets) => format!("\"{packets}\""),
        Setting::Bytes(bytes) => format!("\"{bytes}\""),
        Setting::Integer(number) => number.to_string(),
        Setting::Switch(switch) => switch.to_string(),
        Setting::Word(word) => format!("\"{word}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::Scenario;
    use std::path::Path;

    fn link(buffer: &str, queue: &str) -> LinkSpec {
        let text = format!(
            "run = {{ duration = \"2 s\" }}\nflow = [{{ controller = \"cubic\", packet = \"1500 B\" }}]\n\
             path = {{ rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"{buffer}\", queue = {queue} }}\n"
        );
        Scenario::parse(&text, Path::new("test.toml"), &[]).expect("a scenario").plan().remove(0).links.remove(0)
    }

    #[test]
    fn writes_settings_and_limits_for_tc() {
        // From tc-codel(8), tc-fq_codel(8) and tc-pie(8). 60 kB are 40 packets of 1500 B.
        for (buffer, queue, expected) in [
            ("60 kB", "\"codel\"", "codel limit 40 ecn"),
            ("60 kB", "{ kind = \"codel\", target = \"1.5 ms\" }", "codel limit 40 ecn target 1500us"),
            ("7 packets", "{ kind = \"fq-codel\", quantum = \"300 B\" }", "fq_codel limit 7 ecn quantum 300"),
            ("7 packets", "{ kind = \"pie\", beta = 1.25, derandomise = true }", "pie limit 7 ecn beta 20"),
            ("60 kB", "\"fq\"", "fq limit 40"),
            ("60 kB", "\"fq-pie\"", "fq_pie limit 40 ecn"),
        ] {
            let link = link(buffer, queue);
            assert!(check(&link, Bytes::new(1_500)).is_ok());
            let line = format!("qdisc add dev r1 parent 1:1 handle 10: {expected}");
            assert_eq!(lines(&link, Bytes::new(1_500), "r1").expect("fits"), [line]);
        }
        assert!(lines(&link("60 kB", "\"fifo\""), Bytes::new(1_500), "r1").expect("nothing").is_empty());
    }

    /// cake has no limit of packets. The mark that names a flow's bucket is read by a filter.
    #[test]
    fn cake_gets_memory_limit_and_filter() {
        let lines = lines(&link("60 kB", "\"cake\""), Bytes::new(1_500), "r1").expect("fits");
        let filter = "filter add dev r1 parent 10: protocol all fw";
        assert_eq!(lines, ["qdisc add dev r1 parent 1:1 handle 10: cake memlimit 60000 unlimited", filter]);
    }

    #[test]
    fn kernel_only_queues_are_known() {
        assert!(experiment::scenario::KERNEL_QUEUES.iter().all(|(name, _)| known(&QueueSpec::named(name)).is_some()));
    }

    #[test]
    fn refuses_settings_that_kernel_queue_lacks() {
        for (queue, said) in [
            ("\"tdqm\"", "path.queue: found \"tdqm\"; expected one of \"fifo\", \"codel\", \"fq-codel\", \"pie\""),
            ("\"red\"", "path.queue.min: found "),
            ("{ kind = \"pie\", derandomise = false }", "path.queue.derandomise: found false; expected true"),
            (
                "{ kind = \"pie\", max_burst = \"1 ms\" }",
                "path.queue.max_burst: found a setting; expected only settings",
            ),
            ("{ kind = \"pie\", alpha = 0.1 }", "path.queue.alpha: found 0.1"),
            ("{ kind = \"codel\", target = \"1 ns\" }", "path.queue.target: found \"1 ns\""),
        ] {
            let message = check(&link("60 kB", queue), Bytes::new(1_500)).expect_err(queue).to_string();
            assert!(message.starts_with(said), "{message}");
        }
    }
}
