//! Congestion controls of other people: what loading one has found, and what is known of it.

use super::spoken;
use crate::args::tcp::Load;
use crate::outcome::Failure;
use crate::output::say;
use linux::tcp::{self as rapid_tcp, LoadedFile, Pair, UserController};
use serde_json::{Value, json};
use std::path::Path;

/// Loads the controller of a file.
pub fn load(load: &Load, file: &Path) -> Result<(), Failure> {
    let LoadedFile { name, tried, old } = rapid_tcp::load_file(file, load.name.as_deref(), load.replace)?;
    let lossy =
        tried.lossy.as_ref().map_or(NO_NETEM.to_string(), |pair| trial_line("one packet in a hundred lost", pair));
    let text = format!(
        "checked: one tcp_congestion_ops with the functions TCP needs; licence; kernel verifier\n\
         {}{lossy}\
         {name} is registered: iperf3 -C {name}, setsockopt(TCP_CONGESTION), or sysctl net.ipv4.tcp_congestion_control={name}\n\
         not checked: fairness, other paths, and longer transfers\n{}",
        trial_line("no loss", &tried.clean),
        if load.replace { format!("{old} sockets continue with the earlier version\n") } else { String::new() }
    );
    let object = json!({"schema": 1, "name": name, "brought": true, "old": load.replace.then_some(old),
        "clean": figures(&tried.clean), "lossy": tried.lossy.as_ref().map(figures)});
    say(&spoken(load.json, object, &text))
}

const NO_NETEM: &str = "this kernel has no netem: not tried with delay and losses\n";

fn trial_line(path: &str, Pair { tried, cubic }: &Pair) -> String {
    format!(
        "trial, {path}: {} bytes in {:.2} s, window up to {} packets; CUBIC {:.2} s, {} packets\n",
        tried.bytes,
        tried.took.as_secs_f64(),
        tried.window,
        cubic.took.as_secs_f64(),
        cubic.window
    )
}

fn figures(Pair { tried, cubic }: &Pair) -> Value {
    json!({"bytes": tried.bytes, "took_s": tried.took.as_secs_f64(), "window_max_packets": tried.window,
        "cubic_took_s": cubic.took.as_secs_f64(), "cubic_window_max_packets": cubic.window})
}

/// What is known of one that is loaded.
pub fn text(name: &str, UserController { registered, users, earlier }: &UserController) -> String {
    let state = if *registered { "registered" } else { "being unloaded: new connections cannot select it" };
    let before = if *earlier > 0 { format!("; {earlier} use an earlier version") } else { String::new() };
    format!(
        "{name}, loaded from a file: {state}\n{users} use it{before} (sockets, listeners among them, and namespaces whose \
         default it is)\nthe kernel reports nothing else about it: ss -ti shows each connection\n"
    )
}

/// The same as an object.
pub fn json(name: &str, UserController { registered, users, earlier }: &UserController) -> Value {
    json!({"schema": 1, "name": name, "brought": true, "registered": registered, "users": users,
        "users_of_earlier": earlier})
}
