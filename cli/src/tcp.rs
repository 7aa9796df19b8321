//! Rapid in this machine's Linux TCP: `packetscale tcp load|unload|on|off|status|top|events|log`.

mod bring;
mod events;
mod log;
mod prometheus;
mod shown;
mod top;
mod words;

use crate::{Failure, say};
use clap::{Args, Subcommand, ValueEnum};
use linux::tcp::{self as rapid_tcp, Error, Law, Options};
use packetscale_models::rapid::{Params, ThesisParams};
use packetscale_models::units::{Bytes, Span};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Subcommand)]
pub enum Tcp {
    /// Registers the congestion control, for every program of this machine: Rapid, or that of a FILE
    Load(Load),
    /// Removes the congestion control, and restores the settings that loading changed
    Unload {
        #[command(flatten)]
        named: Named,
        /// Lets the connections end first; there are no new ones meanwhile
        #[arg(long)]
        drain: bool,
        /// With --drain: waits for at most this number of seconds; then CUBIC takes over those that are left, and the exit
        /// status is 3
        #[arg(long, value_name = "SECONDS", requires = "drain")]
        timeout: Option<u64>,
    },
    /// Switches Rapid off: CUBIC takes over every connection at its next acknowledgment, and new ones. Nothing is unloaded
    Off(Named),
    /// Switches Rapid on again, for new connections
    On(Named),
    /// Shows the totals since the load, and every connection with its measurements and state
    Status {
        #[command(flatten)]
        named: Named,
        /// Also the latest connections that CUBIC has taken over and that have ended
        #[arg(long)]
        all: bool,
        /// Prints the totals, and nothing else, in Prometheus's text format
        #[arg(long, conflicts_with_all = ["json", "all"])]
        prometheus: bool,
    },
    /// Shows the same, updated continuously: q ends it, arrows choose a connection, Enter opens it, s sorts. Without a
    /// terminal it prints what status prints, again and again
    Top {
        #[command(flatten)]
        named: Named,
        /// Seconds between two updates
        #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=3600))]
        every: u64,
    },
    /// Prints each connection that CUBIC has taken over, with the reason: the latest, then each new one, until Ctrl-C
    Events {
        #[command(flatten)]
        named: Named,
        /// Stops after this number of seconds
        #[arg(long, value_name = "SECONDS")]
        seconds: Option<u64>,
    },
    /// Writes each probe stream to a CSV file, packet by packet, until Ctrl-C
    Log {
        #[command(flatten)]
        named: Named,
        /// The file
        #[arg(short, value_name = "FILE")]
        output: PathBuf,
        /// Stops after this number of seconds
        #[arg(long, value_name = "SECONDS")]
        seconds: Option<u64>,
    },
}

#[derive(Args)]
pub struct Named {
    /// Name of the congestion control
    #[arg(long, value_name = "NAME", default_value = "rapid")]
    name: String,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct Load {
    /// A compiled eBPF program of somebody else's with one tcp_congestion_ops (FILE.bpf.o): it is checked, tried beside CUBIC
    /// and registered. The options below that are Rapid's do not go with it
    #[arg(value_name = "FILE", conflicts_with_all = RAPIDS)]
    file: Option<PathBuf>,
    /// Name of the congestion control [default: rapid, or what the file says]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    json: bool,
    /// The method that reads probe streams
    #[arg(long, value_name = "PRESET", default_value = "default")]
    preset: Preset,
    /// Most connections that Rapid steers at a time; CUBIC steers the others. Each takes about 184 kB of kernel memory,
    /// more with a wider --window
    #[arg(long, value_name = "N", default_value_t = 256)]
    flows: u32,
    /// Most of these of one user, from 1 to all of them; root may have all [default: half of them]
    #[arg(long, value_name = "N")]
    flows_per_user: Option<u32>,
    /// Most packets in flight of a connection, from 10 to 57344: it sends at most this number per round trip. Above 3584, a
    /// connection takes more kernel memory: 0.3 MB to 7168, 0.6 to 14336, 1.1 to 28672, 2.1 to 57344
    #[arg(long, value_name = "PACKETS", default_value_t = Options::default().window)]
    window: u32,
    /// Takes the place of what is loaded under this name: new connections use it, those that there are keep the old
    /// version until they end. Devices that were prepared stay so
    #[arg(long)]
    replace: bool,
    /// Waits in a loop for up to this time of each gap: better gaps, but a busy processor
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0)]
    spin: u64,
    /// Competes with flows that fill the queue, by filling it too (preset default)
    #[arg(long)]
    competitive: bool,
    /// Offers arrival times only in SYNs of connections that begin with Rapid: then it cannot be set after connecting,
    /// and no server can use it to send to this machine
    #[arg(long)]
    no_volunteer: bool,
    /// Lets up to this number of packets leave at a time where gaps or round trips are short, from 1 to 7: one timer for
    /// all. 4 for 1 Gbit/s at 1500 B, 7 for 10 Gbit/s at 9000 B
    #[arg(long, value_name = "PACKETS", default_value_t = Options::default().together)]
    together: u16,
    /// Makes this device send packets one by one, or by as many as --together says (gso_max_segs, for all its flows), and
    /// records arrivals at it
    #[arg(long, value_name = "DEVICE")]
    device: Vec<String>,
}

/// The options of a load that say how Rapid works.
const RAPIDS: [&str; 9] =
    ["preset", "flows", "flows_per_user", "window", "spin", "competitive", "no_volunteer", "together", "device"];

#[derive(Clone, Copy, ValueEnum)]
enum Preset {
    /// By lower envelopes of the delay
    Default,
    /// By gaps, as in the dissertation
    Thesis,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Input(message) => Failure::Input(message),
            Error::Machine(message) => Failure::Machine(message),
        }
    }
}

pub fn tcp(command: &Tcp) -> Result<(), Failure> {
    match command {
        Tcp::Load(load) => match &load.file {
            Some(file) => bring::bring(load, file),
            None => register(load),
        },
        Tcp::Unload { named, drain: false, .. } => {
            let users = rapid_tcp::brought(&named.name)?.map_or(0, |brought| brought.users + brought.earlier);
            let there = rapid_tcp::unload(&named.name)?;
            let text = match (there, users) {
                (false, _) => "nothing was loaded\n".to_string(),
                (true, 0) => "unloaded\n".to_string(),
                (true, users) => format!("unloaded; {users} sockets keep it until they end\n"),
            };
            say(&spoken(named.json, json!({"schema": 1, "name": named.name, "unloaded": there}), &text))
        }
        Tcp::Unload { named, timeout, .. } => drain(named, timeout.map(Duration::from_secs)),
        Tcp::Off(named) => switch(named, false),
        Tcp::On(named) => switch(named, true),
        Tcp::Status { named, prometheus: true, .. } => {
            if let Some(brought) = rapid_tcp::brought(&named.name)? {
                return say(&prometheus::of_brought(&named.name, &brought));
            }
            let (flows, counters) = (rapid_tcp::flows(&named.name)?, rapid_tcp::counters(&named.name)?);
            say(&prometheus::text(&named.name, flows, rapid_tcp::switched(&named.name)?, &counters))
        }
        Tcp::Status { named, all, .. } => {
            if let Some(brought) = rapid_tcp::brought(&named.name)? {
                return say(&spoken(
                    named.json,
                    bring::json(&named.name, &brought),
                    &bring::text(&named.name, &brought),
                ));
            }
            let status = rapid_tcp::status(&named.name)?;
            say(&spoken(named.json, shown::json(&named.name, &status, *all), &shown::table(&status, *all)))
        }
        Tcp::Top { named, every } if named.json || !std::io::stdout().is_terminal() => loop {
            let status = rapid_tcp::status(&named.name)?;
            say(&spoken(named.json, shown::json(&named.name, &status, false), &shown::table(&status, false)))?;
            std::thread::sleep(Duration::from_secs(*every));
        },
        Tcp::Top { named, every } => top::top(&named.name, Duration::from_secs(*every)),
        Tcp::Events { named, seconds } => events::events(&named.name, named.json, seconds.map(Duration::from_secs)),
        Tcp::Log { named, output, seconds } => log::log(&named.name, output, seconds.map(Duration::from_secs)),
    }
}

fn drain(named: &Named, limit: Option<Duration>) -> Result<(), Failure> {
    let brought = rapid_tcp::brought(&named.name)?.is_some();
    let rapid_tcp::Drained { there, left, again } = rapid_tcp::drain(&named.name, limit)?;
    let stays = if again { "; what was loaded under this name meanwhile stays" } else { "" };
    let text = match (there, left) {
        (false, _) => "nothing was loaded\n".to_string(),
        (true, 0) => format!("unloaded; every connection had ended{stays}\n"),
        (true, _) => format!("unloaded{stays}\n"),
    };
    let object = json!({"schema": 1, "name": named.name, "unloaded": there, "left": left, "loaded_again": again});
    say(&spoken(named.json, object, &text))?;
    match (left, brought) {
        (0, _) => Ok(()),
        (left, true) => Err(Failure::Machine(format!("time was over; {left} sockets keep it until they end"))),
        (left, false) => Err(Failure::Machine(format!("time was over; CUBIC takes over {left} connections"))),
    }
}

fn switch(named: &Named, on: bool) -> Result<(), Failure> {
    rapid_tcp::switch(&named.name, on)?;
    let text = match on {
        true => "on: new connections may use it\n",
        false => "off: CUBIC takes over each connection at its next acknowledgment, and every new one\n",
    };
    say(&spoken(named.json, json!({"schema": 1, "name": named.name, "on": on}), text))
}

/// Returns one object with `--json`, else the text.
fn spoken(json: bool, object: serde_json::Value, text: &str) -> String {
    if json { format!("{object}\n") } else { text.to_string() }
}

/// What falls back where no device was named.
const WITHOUT_DEVICE: &str = "no --device: what peers send to this machine falls back to CUBIC, and so does what leaves \
                              by a device that segments for TCP (ip -d link: gso_max_segs above 1)\n";

/// Returns what becomes true at Ctrl-C.
fn interrupted() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    ctrlc::set_handler(move || stopped.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::Machine(format!("Ctrl-C cannot be caught: {error}")))?;
    Ok(stop)
}

fn register(load: &Load) -> Result<(), Failure> {
    let packet = Bytes::new(1500);
    let law = match load.preset {
        Preset::Default => Law::Default(Params { competitive: load.competitive, ..Params::new(packet) }),
        Preset::Thesis => Law::Thesis(ThesisParams::new(packet)),
    };
    let options = Options {
        name: load.name.clone().unwrap_or(Options::default().name),
        law,
        flows: load.flows,
        flows_per_user: load.flows_per_user,
        window: load.window,
        spin: Span::from_micros(load.spin),
        volunteer: !load.no_volunteer,
        together: load.together,
        devices: load.device.clone(),
        ..Options::default()
    };
    let (trial, old) = match load.replace {
        true => rapid_tcp::replace(&options).map(|replaced| (replaced.trial, Some(replaced.old)))?,
        false => (rapid_tcp::load(&options)?, None),
    };
    let name = &options.name;
    let memory = rapid_tcp::memory(name)?;
    let text = format!(
        "trial passed: on a loopback connection {} packets left as they should, and {} of {} delivered had an arrival time \
         (delayed acknowledgments leave out the others)\n\
         {name} is registered: iperf3 -C {name}, setsockopt(TCP_CONGESTION), or \
         sysctl net.ipv4.tcp_congestion_control={name}\n\
         peers need it too (packetscale tcp load --device DEVICE), and servers that listen already a restart; to \
         others CUBIC sends, from the start as without Rapid: \
         ss -ti shows cubic, packetscale tcp status why, and packetscale tcp events each\n\
         limits: {} connections, {} of one user; {} packets in flight of each, {:.0} Mbit/s at 1500 B and 100 ms; {} of \
         kernel memory\n{}{}",
        trial.packets,
        trial.stamped,
        trial.delivered,
        options.flows,
        options.per_user(),
        options.window,
        megabits(options.window),
        shown::memory_in_words(memory),
        if load.device.is_empty() && !load.replace { WITHOUT_DEVICE } else { "" },
        old.map_or(String::new(), |old| format!("{old} connections go on with what was loaded before\n"))
    );
    let option = trial.without_option.map_or(String::new(), |why| {
        format!("this kernel refuses the TCP option; only microsecond timestamps give arrival times ({why})\n")
    });
    if let Some(why) = &trial.without_list {
        let _ = writeln!(std::io::stderr(), "warning: {}: {why}", shown::UNLISTED);
    }
    let object = json!({"schema": 1, "name": name, "flows": options.flows,
        "flows_per_user": options.per_user(), "window": options.window, "memory_bytes": memory, "old": old,
        "option": option.is_empty(), "fallen_unavailable": trial.without_list});
    say(&spoken(load.json, object, &(option + &text)))
}

/// What so many packets of payload in flight come to over 100 ms: of 1500 B, 1448 are payload.
fn megabits(window: u32) -> f64 {
    f64::from(window) * 1448.0 * 8.0 / 0.1 / 1e6
}
