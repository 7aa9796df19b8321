//! Connections that CUBIC takes over, as they are taken over.

use super::interrupted;
use super::shown::{NO_THRESHOLD, taken};
use super::words::{because, rate, time};
use crate::outcome::Failure;
use linux::tcp::{Address, Fallen, Status, follow_falls, now_ns, status};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

/// Prints those that the kernel still knows, then each new one, until Ctrl-C or for the time `long`.
pub fn events(name: &str, json: bool, long: Option<Duration>) -> Result<(), Failure> {
    let stop = interrupted()?;
    let began = Instant::now();
    let printer = RefCell::new(Printer { name, json, before: None, read: Ok(()), written: Ok(()) });
    let go_on = || {
        // Listening has begun: nothing falls unseen between the past and the present.
        printer.borrow_mut().past() && !stop.load(Ordering::Relaxed) && long.is_none_or(|long| began.elapsed() < long)
    };
    follow_falls(name, |fall| printer.borrow_mut().print(&fall.address, &fall.fallen), go_on)?;
    let printer = printer.into_inner();
    printer.read?;
    match printer.written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Machine(format!("standard output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

struct Printer<'a> {
    name: &'a str,
    json: bool,
    /// What was printed before the ring was read.
    before: Option<BTreeSet<(Address, u64)>>,
    read: Result<(), linux::tcp::Error>,
    written: io::Result<()>,
}

impl Printer<'_> {
    /// Prints, once, what the kernel still knows. Returns whether all went well so far.
    fn past(&mut self) -> bool {
        if self.before.is_none() {
            match status(self.name) {
                Ok(Status { fallen: known, .. }) => {
                    known.iter().for_each(|(address, fallen)| self.print(address, fallen));
                    self.before = Some(known.iter().map(|(address, fallen)| (*address, fallen.at_ns)).collect());
                }
                Err(error) => self.read = Err(error),
            }
        }
        self.read.is_ok() && self.written.is_ok()
    }

    fn print(&mut self, address: &Address, fallen: &Fallen) {
        let again = self.before.as_ref().is_some_and(|before| before.contains(&(*address, fallen.at_ns)));
        if again || self.written.is_err() {
            return;
        }
        let ago = Duration::from_nanos(now_ns().saturating_sub(fallen.at_ns));
        let at = SystemTime::now().checked_sub(ago).unwrap_or(SystemTime::UNIX_EPOCH);
        let at = humantime::format_rfc3339_millis(at).to_string();
        let line = if self.json { object(self.name, &at, address, fallen) } else { sentence(&at, address, fallen) };
        let mut out = io::stdout().lock();
        self.written = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

fn sentence(at: &str, address: &Address, fallen: &Fallen) -> String {
    let law = if fallen.rate > 0 { rate(fallen.rate) } else { "not yet set".to_string() };
    let threshold = if fallen.ssthresh < NO_THRESHOLD { fallen.ssthresh.to_string() } else { "none".to_string() };
    format!(
        "{at} {} {} CUBIC took over after {} packets: {}; rate {law}, rtt {}, cwnd {}, ssthresh {threshold}",
        address.local(),
        address.remote(),
        fallen.packets,
        because(fallen.why()),
        time(fallen.srtt_ns),
        fallen.cwnd,
    )
}

fn object(name: &str, at: &str, address: &Address, fallen: &Fallen) -> String {
    let mut object = serde_json::json!({"schema": 1, "name": name, "time": at});
    if let (Some(to), serde_json::Value::Object(from)) = (object.as_object_mut(), taken(address, fallen)) {
        to.extend(from);
    }
    object.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fallen(rate: u64, ssthresh: u32) -> (Address, Fallen) {
        let [local, remote] = ["10.0.0.1:40000", "10.0.0.2:443"].map(|text| text.parse().expect("an address"));
        let fallen =
            Fallen { at_ns: 0, packets: 512, rate, srtt_ns: 40_100_000, cwnd: 33, ssthresh, reason: 4, source: 1 };
        (Address::between(local, remote), fallen)
    }

    #[test]
    fn event_has_connection_reason_and_state() {
        let (address, taken) = fallen(1_250_000, 20);
        assert_eq!(
            sentence("T", &address, &taken),
            "T 10.0.0.1:40000 10.0.0.2:443 CUBIC took over after 512 packets: packets leave in bursts (load with \
             --device to prevent this); rate 10.00 Mbit/s, rtt 40.1 ms, cwnd 33, ssthresh 20"
        );
        let (address, taken) = fallen(0, NO_THRESHOLD);
        assert!(sentence("T", &address, &taken).ends_with("rate not yet set, rtt 40.1 ms, cwnd 33, ssthresh none"));
    }

    #[test]
    fn json_event_has_same_values_with_units_in_keys() {
        let (address, taken) = fallen(1_250_000, NO_THRESHOLD);
        let object: serde_json::Value = serde_json::from_str(&object("rapid", "T", &address, &taken)).expect("JSON");
        assert_eq!((&object["time"], &object["reason"]), (&"T".into(), &"bursts".into()));
        assert_eq!((object["rate_bps"].as_u64(), object["cwnd_packets"].as_u64()), (Some(10_000_000), Some(33)));
        assert_eq!((object["rtt_s"].as_f64(), object["ssthresh_packets"].is_null()), (Some(0.0401), true));
    }
}
