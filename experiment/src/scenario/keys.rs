//! Every key of a scenario file: what it takes, its default, its meaning. `docs/reference/scenario.md` shows this table, and
//! the parser reads no key that it lacks ([`declared`]).

/// A key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name, below the tables of its section: `coalescing.time`.
    pub name: &'static str,
    /// The values that it takes.
    pub takes: &'static str,
    /// Its default as a scenario writes it, or in words; empty: none.
    pub default: &'static str,
    /// What it sets.
    pub meaning: &'static str,
}

/// Keys that stand together.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Its heading.
    pub heading: &'static str,
    /// The tables that have these keys: `path.return`.
    pub tables: &'static [&'static str],
    /// What holds for all of them; may be empty.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

macro_rules! sections {
    ($($heading:literal in $tables:tt, $about:literal {
        $($name:literal, $takes:literal, $default:literal, $meaning:literal;)*
    })*) => {
        /// All sections, in the order in which files are printed.
        pub const SECTIONS: &[Section] = &[$(Section {
            heading: $heading,
            tables: &$tables,
            about: $about,
            keys: &[$(Key { name: $name, takes: $takes, default: $default, meaning: $meaning },)*],
        },)*];
    };
}

sections! {
    "[run]" in ["run"], "" {
        "name", "text", "name of the file", "Name of the output folder.";
        "duration", "time", "\"60 s\"", "Length of a run.";
        "warmup", "time", "\"0 s\"", "Time left out of steady-state figures; shorter than the duration.";
        "seed", "whole number", "1", "Source of all random draws.";
        "replications", "whole number", "1", "Runs with different draws, for confidence intervals. The seeds of the replications are SplitMix64 from `seed`, cut to 53 bits: equal for all controllers and sweep points.";
    }

    "[path], [path.return], [[link]]" in ["path", "path.return", "link"], "Keys of every link." {
        "rate", "rate", "required without `rate_trace`", "Rate of the link.";
        "delay", "time", "required; in [path.return] that of [path]", "Propagation delay, one way.";
        "buffer", "`\"1 bdp\"`, packets, data or `\"unlimited\"`", "\"1 bdp\"", "Limit of the queue, including the packet in service. 1 bdp: rate times twice the delay; on a [[link]] that flows cross, rate times their longest base round-trip time.";
        "queue", "name, or table with settings", "\"fifo\"", "Queue discipline.";
        "loss", "fraction below 1, or table with `kind`", "0.0", "Probability of loss per packet on the wire, or losses in bursts.";
        "loss.kind", "`gilbert-elliott`", "required", "Losses by a chain of a good and a bad state, one step per packet; it starts in the good one (Gilbert 1960, Elliott 1963).";
        "loss.p", "fraction above 0", "required", "Probability of a step from good to bad: the share of packets in the bad state is p / (p + r).";
        "loss.r", "fraction above 0", "required", "Probability of a step from bad to good: a bad period has 1 / r packets on average.";
        "loss.good_loss", "fraction below 1", "0.0", "Probability of loss in the good state.";
        "loss.bad_loss", "fraction", "1.0", "Probability of loss in the bad state.";
        "jitter.kind", "`uniform`, `normal` or `file`", "required", "Random delay added to each packet, independent of the others.";
        "jitter.most", "time", "required", "`uniform`: upper bound; the lower one is zero.";
        "jitter.mean", "time", "required", "`normal`: mean. A negative draw counts as zero.";
        "jitter.sd", "time", "required", "`normal`: standard deviation.";
        "jitter.file", "path of a file", "required", "`file`: CSV with the line `jitter_s`, then one delay per line. Each packet draws one of them.";
        "jitter.reorder", "switch", "false", "Whether packets overtake; else they wait for those that left before. Not on a way back.";
        "rate_steps", "list of [time, rate]", "", "Rate from each time on, after `rate`. Zero: the link stops.";
        "rate_repeat", "time", "", "Period after which `rate` and `rate_steps` repeat; later than the last step.";
        "rate_trace.file", "path of a file", "required", "Capacity of the link over time. `rate` is then the mean of the trace by default, used for a buffer in bdp and by queue disciplines.";
        "rate_trace.format", "`mahimahi` or `csv`", "\"mahimahi\"", "`mahimahi`: one line per delivery opportunity of 1500 B, its time in milliseconds; packets share one or use several, and unused ones are lost. `csv`: the line `time_s,rate_bps`, then one line per change, the first at 0.";
        "rate_trace.repeat", "switch", "true", "Whether the trace starts again at its end. Else the last rate stays, and there are no further opportunities.";
        "delay_steps", "list of [time, time]", "", "Delay from each time on. Packets keep their order.";
        "outages", "list of [time, time]", "", "Start and end of outages: packets that leave the link meanwhile are lost.";
        "reorder.share", "fraction below 1", "required", "Share of packets to delay. Not on a way back.";
        "reorder.packets", "whole number", "required", "Length of that delay in transmission times of full-size packets: on a busy link as many packets overtake.";
        "aggregation.period", "time", "", "Service in bursts: the capacity of each period leaves at its end, as with grants in DOCSIS. Not with a shaper.";
        "aggregation.packets", "whole number", "required without `period`", "Service in frames: up to this number of waiting packets leave together, as in Wi-Fi. Not with a shaper or delivery opportunities.";
        "aggregation.overhead", "time", "required with `packets`", "Time per frame in addition to its transmission.";
        "policer.rate", "rate", "required", "Token bucket before the queue: packets that do not conform are dropped (RFC 2475).";
        "policer.bucket", "data", "required", "Size of the bucket.";
        "shaper.rate", "rate", "required", "Token bucket behind the queue: packets that do not conform wait.";
        "shaper.bucket", "data", "required", "Size of the bucket.";
    }

    "[path] only" in ["path"], "One bottleneck, named `bottleneck`. The optional table [path.return] is the link of acknowledgments, named `return`: there they are packets of 40 B. Without it they are only delayed." {
        "access", "rate", "infinite", "Rate of every sender's network card.";
        "return", "table", "", "A bottleneck on the way back, in the simulator only.";
    }

    "[[link]] only" in ["link"], "Several links, in place of [path]: a chain, or a graph if they have `from` and `to`." {
        "name", "text", "required in a chain; in a graph \"A-B\" from A to B", "Name of the link. The second link of a duplex is \"B-A\", or this name and \"-back\".";
        "from", "name of a node", "", "Node where the link begins. All links have `from` and `to`, or none.";
        "to", "name of a node", "", "Node where it ends.";
        "duplex", "switch", "false", "Whether an equal link joins the nodes the other way.";
    }

    "[receiver]" in ["receiver"], "All receiving hosts." {
        "coalescing.kind", "`timer`, `spacing` or `adaptive`", "\"timer\"", "When the network card interrupts. `timer`: `time` after the first packet of a batch. `spacing`: at a packet, at least `time` after the last interrupt. `adaptive`: as `timer` without `frames` if `time` is at most 12 us; else after 1 to 2 `frames` - 1 packets (random), or `time` without a packet.";
        "coalescing.time", "time", "\"0 s\"", "Interrupt coalescence; zero: none.";
        "coalescing.frames", "whole number", "0", "Packets that end the wait; zero: no limit.";
        "coalescing.jitter", "time", "\"0 s\"", "Uniform variation of each wait, up or down; less than `time`.";
        "delayed_ack", "whole number", "2", "Packets in order per acknowledgment, at most.";
        "delayed_ack_timeout", "time", "\"40 ms\"", "Longest delay of an acknowledgment.";
        "window", "packets or `\"unlimited\"`", "\"unlimited\"", "Receive window.";
        "stamps", "switch", "true", "Whether acknowledgments carry arrival times.";
        "stamp_granularity", "time", "\"1 ns\"", "Granularity of arrival times.";
        "stamp_delay", "time", "\"0 s\"", "Arrival times are late by up to this, uniform, in order.";
        "ack_loss", "fraction below 1", "0", "Probability of loss per acknowledgment.";
        "ack_bunching", "time", "\"0 s\"", "Acknowledgments reach the sender in bunches, at multiples of this time; zero: at once.";
        "clock", "fraction from 0.5 to 1.5", "\"100 %\"", "Rate of the receiver's clock.";
    }

    "[sender]" in ["sender"], "All sending hosts." {
        "gaps", "name, or table with `kind`", "\"perfect\"", "Errors of the gaps between packets.";
        "gaps.kind", "one of the names", "required", "`perfect`: none. `busy-wait`: gaps are cut to clock steps; for probe streams and flows with an `application`. `hrtimer`: a timer interrupt is sometimes deferred. `dummy-packets`, `noise`: late by a uniform draw. `late`: late, with given quantiles. `timer`: at timer ticks. `batch`: in batches.";
        "gaps.resolution", "time", "\"1 us\"", "`busy-wait`: clock step.";
        "gaps.deferral", "time", "\"100 us\"", "`hrtimer`: a deferred interrupt is late by 0.5 to 1.5 of this, with all packets due meanwhile.";
        "gaps.often", "fraction", "0.05", "`hrtimer`: probability of a deferral.";
        "gaps.up_to", "time", "`dummy-packets`: \"0.4 us\"; `noise`: required", "Largest delay.";
        "gaps.p50", "time", "required", "`late`: median of the delay.";
        "gaps.p99", "time", "required", "`late`: 99th percentile.";
        "gaps.p999", "time", "required", "`late`: 99.9th percentile.";
        "gaps.granularity", "time", "required", "`timer`: time between ticks. At a tick all packets leave that were due since the last.";
        "gaps.packets", "whole number", "1", "`batch`: packets of a batch.";
        "pacing", "whole percentage to 10000 %", "\"0 %\"", "Pacing of window-based controllers, as a rate in windows per smoothed round trip; zero: none.";
        "initial_window", "whole number", "10", "Initial window in packets (RFC 6928).";
        "handshake_waits", "switch", "false", "Whether a handshake waits in queues, so that the first round trip includes them.";
        "min_rto", "time", "\"200 ms\"", "Least retransmission timeout.";
        "slow_start_after_idle", "switch", "true", "Whether a flow idle for more than its retransmission timeout restarts with at most the initial window (RFC 5681, section 4.1), as in Linux: the window is halved for each timeout that has passed. Controllers that pace by a rate keep it.";
        "ecn", "switch", "false", "Whether packets are ECN-capable, ECT(0), if the controller reads marks (RFC 3168). Packets of `prague` are always ECT(1).";
    }

    "[[flow]]" in ["flow"], "Traffic that responds to the network: at most a million flows in a run." {
        "controller", "name, or table with settings", "required without [compare]", "Congestion controller.";
        "count", "whole number", "1", "Number of such flows.";
        "packet", "data from 40 to 65535 B", "\"1500 B\"", "Size of a packet on the wire.";
        "start", "time, list of times, or table", "\"0 s\"", "Start of the flow; a list has one time per flow.";
        "start.uniform", "list of two times", "required", "Bounds of starts drawn for each flow.";
        "stop", "time", "", "End of new data.";
        "size", "data, `\"unlimited\"`, or table with `kind`", "\"unlimited\"", "Data to send, as bytes on the wire. A distribution needs `arrivals`.";
        "size.kind", "`exponential`, `pareto` or `cdf`", "required", "Distribution of sizes: exponential, bounded Pareto, or from a file.";
        "size.mean", "data", "required", "`exponential`: mean.";
        "size.least", "data", "required", "`pareto`: lower bound.";
        "size.most", "data", "required", "`pareto`: upper bound.";
        "size.shape", "number from 0.1 to 100, not 1", "required", "`pareto`: tail index.";
        "size.file", "path of a file", "required", "`cdf`: CSV with the line `size_bytes,share`, then one point of the distribution per line; uniform between points.";
        "arrivals.kind", "`poisson`, `times`, `trace` or `requests`", "required", "Flows that arrive between `start` and `stop`, without a handshake: as a Poisson process, at given times, from a file, or at the request of clients. Simulator only.";
        "arrivals.load", "fraction", "required without `every`", "`poisson`: mean size times mean rate of arrivals, over the rate of the slowest link.";
        "arrivals.every", "time", "", "`poisson`: mean time between arrivals.";
        "arrivals.times", "list of times", "required", "`times`: the arrivals.";
        "arrivals.file", "path of a file", "required", "`trace`: CSV with the line `start_s,size_bytes`, then one line per flow. Replaces `size`.";
        "arrivals.clients", "whole number", "1", "`requests`: number of clients. Each requests a flow, waits for its end, pauses, and repeats.";
        "arrivals.think", "time", "\"0 s\"", "`requests`: mean of the pauses, exponential.";
        "application.kind", "`cbr`, `poisson`, `on-off`, `exponential-on-off` or `pareto-on-off`", "required", "Limits the flow to what an application sends. Without it the flow always has data.";
        "application.rate", "rate", "required", "Rate from application to sender; of on-off kinds within a burst.";
        "application.on", "time", "required for on-off kinds", "Length of bursts; the mean, where it is random.";
        "application.off", "time", "required for on-off kinds", "Length of silences, the same way.";
        "application.shape", "number from 1 to 100", "1.5", "`pareto-on-off`: tail index.";
        "rtt", "time, or list of times", "delays of the links there and back", "Base round-trip time; not below the delays. A list has one per flow.";
        "direction", "`forward` or `back`", "\"forward\"", "With [path.return]: `back` sends data over that link, and acknowledgments over the bottleneck.";
        "from", "name of a node", "required in a graph without `route`", "Node where the flow begins.";
        "to", "name of a node", "required in a graph without `route`", "Node where it ends.";
        "route", "list of link names", "in a chain all links; in a graph the route with the fewest links", "Links of the data, at most 255.";
        "back", "list of link names", "[path.return]; in a graph the route with the fewest links", "Links of the acknowledgments. Empty: they are only delayed.";
        "access", "rate", "that of [path]", "Rate of its sender's network card.";
        "ecn", "switch", "that of [sender]", "Whether its packets are ECN-capable.";
    }

    "[[traffic]]" in ["traffic"], "Traffic that follows its own plan (`cbr` to `pareto-on-off`, `trace`, `pcap`), or TCP connections of its own (`tmix`, `sessions`, `web`). `packetscale list traffic` lists the kinds." {
        "kind", "name", "required", "Kind of traffic.";
        "rate", "rate", "required; `trace`, `pcap`: as recorded; not for `tmix` and `web`", "Mean rate; of on-off kinds within a burst; of `sessions` that of all answers; of `trace` and `pcap` that of all copies, to which time is scaled.";
        "on", "time", "required for on-off kinds", "Length of bursts; the mean, where it is random.";
        "off", "time", "required for on-off kinds", "Length of silences, the same way.";
        "shape", "number", "`pareto-on-off`: 1.5; `sessions`: 1.1", "Tail index: above 1; of `sessions` below 2.";
        "file", "path of a file", "required", "`trace`: CSV with the columns `time_ns,size_bytes`. `pcap`: pcap or pcapng. `tmix`: connection vectors, in either format of ns-2.";
        "packet", "data from 40 to 65535 B", "\"1500 B\"", "Size of a packet on the wire. Not for `trace` and `pcap`.";
        "copies", "whole number to 10000", "1", "Independent copies; each has its own offset or seed. 1 for `tmix` and `sessions`.";
        "start", "time", "\"0 s\"", "Start of the traffic.";
        "stop", "time", "end of the run", "End of the traffic.";
        "shaper.rate", "rate", "required", "Token bucket of each copy: excess waits, nothing is lost. For `web` only with `responsive = false`.";
        "shaper.bucket", "data", "required", "Size of the bucket.";
        "from", "name of a node", "required in a graph without `route`", "Node where it begins.";
        "to", "name of a node", "required in a graph without `route`", "Node where it ends.";
        "route", "list of link names", "in a chain all links; in a graph the route with the fewest links", "Links that it crosses; of connections, those of the initiators' data.";
    }

    "[[traffic]]: tmix and sessions" in ["traffic"], "`sessions` begin as a Poisson process with a request of 300 B; the answer has rate `peak` and a duration from a bounded Pareto distribution." {
        "back", "list of link names", "required; in a graph the route with the fewest links", "Links of the acceptors' data.";
        "controller", "name, or table with settings", "\"newreno\"; `web`: \"cubic\"", "Controller of both ends; for `web`, of the servers.";
        "peak", "rate", "\"1 Mbit/s\"", "`sessions`: rate of one.";
        "rtt", "time", "\"100 ms\"", "`sessions`: mean base round-trip time; each is 0.5 to 1.5 of it.";
        "shortest", "time", "\"200 ms\"", "`sessions`: shortest answer.";
        "longest", "time", "\"1 h\"", "`sessions`: longest answer.";
    }

    "[[traffic]]: web" in ["traffic"], "Users who browse (SURGE: Barford and Crovella, 1998)." {
        "users", "whole number to 100000", "required", "Users of each copy.";
        "access", "rate", "infinite", "Rate of the network card of a copy's servers; its queue never drops.";
        "rtt", "list of two times", "[\"0 ms\", \"10 ms\"]", "Bounds of base round-trip times, uniform per connection, in steps of 0.1 ms.";
        "window", "data", "\"64 kB\"", "Receive window of a connection.";
        "parallel", "whole number to 64", "4", "Connections of a user at a time.";
        "persistent", "switch", "false", "Whether the files of a page share connections.";
        "responsive", "switch", "true", "`false`: the same packets whatever happens in the network.";
        "size.median", "data", "\"11.58 kB\"", "File sizes: median of the lognormal body.";
        "size.sigma", "number", "1.318", "... its standard deviation, of the logarithm.";
        "size.tail", "fraction", "0.07", "... share of files in the bounded Pareto tail.";
        "size.tail_from", "data", "\"133 kB\"", "... where the tail begins.";
        "size.tail_shape", "number", "1.1", "... its tail index.";
        "size.most", "data", "\"100 MB\"", "... its upper bound.";
        "objects.shape", "number", "2.43", "Files of a page: tail index of a Pareto distribution from 1, rounded down.";
        "objects.most", "whole number", "100", "... upper bound.";
        "think.least", "time", "\"1 s\"", "Pauses between pages: lower bound of a Pareto distribution.";
        "think.shape", "number above 1", "1.5", "... tail index.";
        "think.most", "time", "\"100 s\"", "... upper bound.";
        "parse.scale", "time", "\"1.46 s\"", "Pauses before the later files of a page: scale of a Weibull distribution.";
        "parse.shape", "number", "0.382", "... shape.";
        "parse.most", "time", "\"1 s\"", "... upper bound.";
    }

    "[probe]" in ["probe"], "Probe streams for `packetscale estimate --from-simulator FILE`; `packetscale run` refuses them. They need one link with `fifo` and a constant rate, and no [[flow]]." {
        "rate", "rate, or table", "required", "Mean rate of a stream.";
        "rate.from", "rate", "required", "Lowest of evenly spread mean rates.";
        "rate.to", "rate", "required", "Highest.";
        "streams", "whole number", "500", "Number of streams; a run ends with the last. Not with `search`.";
        "packet", "data from 40 to 65535 B", "\"1500 B\"", "Size of a packet on the wire.";
        "packets", "whole number", "64; `pathload`: 100", "Packets of a stream. Not for `prc-mt`.";
        "levels", "whole number", "4; with `search` 1", "Rates of a stream, rising by equal ratios. 1: a single rate; one less than `packets`: a chirp.";
        "range", "fraction", "\"50 %\"", "By how much the highest rate exceeds the lowest.";
        "train", "whole number", "1", "Streams of one mean rate without a pause between them; the mean of their estimates is judged.";
        "pause", "time", "\"5 ms\"", "Mean time between trains; each is 0.5 to 1.5 of it.";
        "acknowledge", "whole number to 64", "1", "The receiver reports a time for every n-th packet.";
        "recorded", "`sent` or `intended`", "\"sent\"", "Recorded send gaps: as packets left, or as intended.";
        "search", "name, or table with `kind`", "", "Search for the available bandwidth between the two rates of `rate`: each stream follows from earlier ones.";
        "search.kind", "`pathload` or `prc-mt`", "required", "`pathload`: fleets of streams vote. `prc-mt`: single streams, whose length is found first.";
        "search.resolution", "rate", "highest rate / 50", "Width of the open interval at which the search ends.";
        "search.fleet", "whole number", "12", "`pathload`: streams of a fleet.";
        "search.agree", "fraction", "`pathload`: \"70 %\"; `prc-mt`: \"2 %\"", "`pathload`: share of a fleet that must agree. `prc-mt`: largest difference of equal receive rates, as a share of the asymptotic dispersion rate.";
        "search.shortest", "whole number", "60", "`prc-mt`: fewest packets of a stream.";
        "search.longest", "whole number", "3000", "`prc-mt`: most packets of a stream.";
        "search.step", "whole number", "8", "`prc-mt`: change of the length below which the search for it ends.";
    }

    "[compare]" in ["compare"], "" {
        "controllers", "list of controllers", "required", "The scenario runs once with each, in place of every flow's controller, with the same random draws.";
    }

    "[sweep]" in ["sweep"], "A grid: dotted keys of the file, each with a list of values or of cases. The last key varies fastest. At most 10 000 points, and 100 000 runs in all. [compare], [[expect]], `run.name`, `run.seed` and `run.replications` cannot be swept." {}

    "[record]" in ["record"], "" {
        "detail", "switch", "true", "Whether to record curves, distributions and probe streams, not only counts and means.";
        "step", "time", "\"100 ms\"", "Interval of the curves.";
        "streams", "whole number", "8", "Probe streams to trace in each run.";
        "windows", "list of times", "[]", "Window lengths in which to count what leaves the measured link; each a multiple of the first. Gives the table `windows`, `rate_variation`, `variation_left` and `hurst`.";
        "links", "switch", "false", "Whether to measure every link: the table `links`. Simulator only.";
        "packets", "switch", "false", "Whether to record every packet, for pictures of packets and for `--qlog`. A run takes about twice as long.";
        "transfers", "switch", "false", "Whether to list each flow that arrived and ended: the table `transfers`.";
        "link", "name of a link", "the slowest link that flows cross", "The measured link: its queue, utilisation, throughput and windows are those of the run.";
    }

    "[[expect]]" in ["expect"], "The mean over the replications must be within the bounds, for every selected controller and sweep point. A miss makes the exit code 1." {
        "metric", "name of a figure", "required", "A figure of the table `runs`, or `cpu_s`.";
        "where", "table", "all runs", "Values of `controller` and of swept keys that select runs.";
        "at_least", "number", "", "Lower bound, in the unit of the figure. One bound is required.";
        "at_most", "number", "", "Upper bound.";
        "why", "text", "", "Source of the bound.";
    }
}

/// Whether the table of this dotted name, as in `flow.0.size`, has this key here.
pub(crate) fn declared(table: &str, key: &str) -> bool {
    let named = |part: &&str| part.parse::<usize>().is_err();
    let name = table.split('.').filter(named).chain([key]).collect::<Vec<_>>().join(".");
    let below = |of: &str| name.strip_prefix(of).and_then(|rest| rest.strip_prefix('.')).map(str::to_string);
    let has = |section: &Section, name: &str| {
        let inside =
            |key: &Key| key.name == name || key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        section.keys.iter().any(inside)
    };
    SECTIONS.iter().any(|section| section.tables.iter().filter_map(|of| below(of)).any(|name| has(section, &name)))
}

/// The heading of a section that has this key, where no key of this table is called so.
pub(crate) fn elsewhere(table: &str, key: &str) -> Option<&'static str> {
    let has = |section: &&Section| section.keys.iter().any(|of| of.name == key);
    SECTIONS.iter().find(has).filter(|_| !declared(table, key)).map(|section| section.heading)
}
