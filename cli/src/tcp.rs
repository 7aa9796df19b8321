//! Rapid in this machine's Linux TCP: `packetscale tcp load|unload|on|off|status|top|events|log|qdisc`.

mod events;
mod log;
mod prometheus;
mod qdisc;
mod shown;
mod top;
mod user_controller;
mod words;

use crate::args::tcp::{Load, Named, Preset, Tcp};
use crate::outcome::Failure;
use crate::output::say;
use linux::tcp::{self as rapid_tcp, Error, Law, Options};
use packetscale_models::rapid::{Params, ThesisParams};
use packetscale_models::units::{Bytes, Span};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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
            Some(file) => user_controller::load(load, file),
            None => register(load),
        },
        Tcp::Unload { named, drain: false, .. } => {
            let users = rapid_tcp::user_controller(&named.name)?.map_or(0, |loaded| loaded.users + loaded.earlier);
            let there = rapid_tcp::unload(&named.name)?;
            let text = match (there, users) {
                (false, _) => "nothing was loaded\n".to_string(),
                (true, 0) => "unloaded\n".to_string(),
                (true, users) => format!("unloaded; {users} sockets use it until they close\n"),
            };
            say(&spoken(named.json, json!({"schema": 1, "name": named.name, "unloaded": there}), &text))
        }
        Tcp::Unload { named, timeout, .. } => drain(named, timeout.map(duration)),
        Tcp::Off(named) => switch(named, false),
        Tcp::On(named) => switch(named, true),
        Tcp::Status { named, prometheus: true, .. } => {
            if let Some(loaded) = rapid_tcp::user_controller(&named.name)? {
                return say(&prometheus::of_user_controller(&named.name, &loaded));
            }
            let (flows, counters) = (rapid_tcp::flows(&named.name)?, rapid_tcp::counters(&named.name)?);
            say(&prometheus::text(&named.name, flows, rapid_tcp::switched(&named.name)?, &counters))
        }
        Tcp::Status { named, all, .. } => {
            if let Some(loaded) = rapid_tcp::user_controller(&named.name)? {
                return say(&spoken(
                    named.json,
                    user_controller::json(&named.name, &loaded),
                    &user_controller::text(&named.name, &loaded),
                ));
            }
            let status = rapid_tcp::status(&named.name)?;
            say(&spoken(named.json, shown::json(&named.name, &status, *all), &shown::table(&status, *all)))
        }
        Tcp::Top { named, every } if named.json || !std::io::stdout().is_terminal() => loop {
            let status = rapid_tcp::status(&named.name)?;
            say(&spoken(named.json, shown::json(&named.name, &status, false), &shown::table(&status, false)))?;
            std::thread::sleep(duration(*every));
        },
        Tcp::Top { named, every } => top::top(&named.name, duration(*every)),
        Tcp::Events { named, duration: long } => events::events(&named.name, named.json, long.map(duration)),
        Tcp::Qdisc(command) => qdisc::qdisc(command),
        Tcp::Log { named, output, duration: long } => log::log(&named.name, output, long.map(duration)),
    }
}

fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.nanos())
}

fn drain(named: &Named, limit: Option<Duration>) -> Result<(), Failure> {
    let is_user = rapid_tcp::user_controller(&named.name)?.is_some();
    let rapid_tcp::Drained { there, left, again } = rapid_tcp::drain(&named.name, limit)?;
    let stays = if again { "; a version loaded under this name meanwhile remains" } else { "" };
    let text = match (there, left) {
        (false, _) => "nothing was loaded\n".to_string(),
        (true, 0) => format!("unloaded; all connections had closed{stays}\n"),
        (true, _) => format!("unloaded{stays}\n"),
    };
    let object = json!({"schema": 1, "name": named.name, "unloaded": there, "left": left, "loaded_again": again});
    say(&spoken(named.json, object, &text))?;
    match (left, is_user) {
        (0, _) => Ok(()),
        (left, true) => Err(Failure::Machine(format!("timeout; {left} sockets use it until they close"))),
        (left, false) => Err(Failure::Machine(format!("timeout; CUBIC takes over {left} connections"))),
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
const WITHOUT_DEVICE: &str = "no --device: connections fall back to CUBIC when peers send to this machine, and when \
                              they leave by a device with segmentation offload (ip -d link: gso_max_segs above 1)\n";

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
        spin: load.spin,
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
        "trial passed: on a loopback connection {} packets left on schedule, and {} of {} delivered had an arrival time \
         (delayed acknowledgments omit the others)\n\
         {name} is registered: iperf3 -C {name}, setsockopt(TCP_CONGESTION), or \
         sysctl net.ipv4.tcp_congestion_control={name}\n\
         load it at peers too (packetscale tcp load --device DEVICE), and restart servers that already listen; \
         connections to other peers use CUBIC: \
         ss -ti shows cubic, packetscale tcp status the reasons, and packetscale tcp events each connection\n\
         limits: {} connections, {} per user; {} packets in flight per connection, {:.0} Mbit/s at 1500 B and 100 ms; {} of \
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
        old.map_or(String::new(), |old| format!("{old} connections continue with the earlier version\n"))
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

/// Rate of a window of this many packets over 100 ms: of 1500 B, 1448 are payload.
fn megabits(window: u32) -> f64 {
    f64::from(window) * 1448.0 * 8.0 / 0.1 / 1e6
}
