//! Puts the queue discipline on devices, and takes it off.

use crate::qdisc::Qlbp;
use crate::qdisc::state::{Place, QUEUES, SETTINGS, Settings, entries, map};
use crate::tcp::objects::{failed, listen_to_libbpf, open};
use crate::tcp::wire::bytes_of;
use crate::tcp::{Error, machine, pins, registration};
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::Struct;
use libbpf_rs::{MapCore, MapFlags};
use packetscale_models::units::Packets;
use std::ffi::OsStr;
use std::process::Command;

// Compiled by `linux/build-programs.sh`.
static OBJECT: &[u8] = include_bytes!("../../objects/qlbp.bpf.o");
/// The kernel's name of the discipline, and that of the map that registers it.
const NAME: &str = "qlbp";
/// The kernel has this type where it takes queue disciplines in BPF.
const TYPE: &str = "bpf_struct_ops_Qdisc_ops";
/// `QLBP_PACKETS_MAX` and `QLBP_RATE_MAX` of `law/include/queueing/qlbp.h`, the rate in bytes per second.
const MOST_PACKETS: Packets = Packets::new(1 << 14);
const MOST_BYTES_PER_S: u64 = 1 << 40;

impl Qlbp {
    fn check(&self) -> Result<(), Error> {
        let refused = |what: String| Err(Error::Input(what));
        let (least, most) = (self.rate_min.bps() / 8, self.rate_max.bps() / 8);
        if least >= most || most > MOST_BYTES_PER_S {
            let least = self.rate_min;
            return refused(format!(
                "--rate-max: found {}; expected more than --rate-min, {least}, to 8 Tbit/s",
                self.rate_max
            ));
        }
        if self.q_max == Packets::ZERO || self.q_max > MOST_PACKETS {
            return refused(format!(
                "--q-max: found {}; expected 1 to {} packets",
                self.q_max.get(),
                MOST_PACKETS.get()
            ));
        }
        if self.limit <= self.q_max || self.limit > Packets::new(u32::MAX.into()) {
            return refused(format!(
                "--limit: found {}; expected more than --q-max, {} packets, or it drops what pacing delays",
                self.limit.get(),
                self.q_max.get()
            ));
        }
        Ok(())
    }
}

/// Whether this kernel can run it.
///
/// # Errors
/// What is missing.
pub fn readiness() -> Result<(), Error> {
    machine::able()?;
    if Btf::from_vmlinux().is_ok_and(|types| types.type_by_name::<Struct<'_>>(TYPE).is_some()) {
        return Ok(());
    }
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Err(Error::Machine(format!(
        "Linux {} takes no queue disciplines in BPF: that needs 6.16 or later with CONFIG_NET_SCH_BPF, as Debian's 7.3 \
         (trixie-backports) has it",
        release.trim()
    )))
}

/// Puts QLBP on a device of this network namespace, instead of its queue discipline; where it is there already, changes its
/// parameters, and no packet is lost.
///
/// # Errors
/// Invalid parameters, no such device, or this machine cannot. A failed load changes nothing.
pub fn load(device: &str, qlbp: &Qlbp) -> Result<(), Error> {
    qlbp.check()?;
    readiness()?;
    machine::may_load()?;
    pins::lasting()?;
    let place = Place::of(device)?;
    let _lock = pins::lock()?;
    pins::among_pins(|| {
        if !pins::queues().join(registration::LINK).exists() {
            register().inspect_err(|_| drop(unregister()))?;
        }
        let settings = map(SETTINGS)?;
        let before = settings.lookup(bytes_of(&place), MapFlags::ANY).map_err(failed(SETTINGS))?;
        settings.update(bytes_of(&place), bytes_of(&Settings::of(qlbp)), MapFlags::ANY).map_err(failed(SETTINGS))?;
        tc(&["qdisc", "replace", "dev", device, "root", NAME]).inspect_err(|_| {
            drop(match &before {
                Some(before) => settings.update(bytes_of(&place), before, MapFlags::ANY),
                None => settings.delete(bytes_of(&place)),
            });
            drop(unregister_unless_used());
        })
    })
}

/// Takes QLBP off a device; the kernel gives it its default. The last one removes the program, also where devices or namespaces
/// have gone with their queues. Returns whether it was there.
///
/// # Errors
/// No such device, or this machine refused a step.
pub fn unload(device: &str) -> Result<bool, Error> {
    machine::able()?;
    let place = Place::of(device);
    let _lock = pins::lock()?;
    let there = pins::among_pins(|| {
        let queued = map(QUEUES).and_then(|queues| entries(&queues)).unwrap_or_default();
        let there = place.as_ref().is_ok_and(|place| queued.iter().any(|queue| queue.place == *place));
        if there {
            tc(&["qdisc", "del", "dev", device, "root"])?;
        }
        forget_settings().and_then(|()| unregister_unless_used()).map(|()| there)
    })?;
    place.map(|_| there)
}

/// Removes the settings of devices that have no queue any more.
fn forget_settings() -> Result<(), Error> {
    let (Ok(queues), Ok(settings)) = (map(QUEUES), map(SETTINGS)) else { return Ok(()) };
    let queued = entries(&queues)?;
    for key in settings.keys().filter(|key| !queued.iter().any(|queue| bytes_of(&queue.place) == key.as_slice())) {
        settings.delete(&key).map_err(failed(SETTINGS))?;
    }
    Ok(())
}

fn register() -> Result<(), Error> {
    let folder = pins::queues();
    pins::remove(&folder)?;
    pins::create(&folder)?;
    listen_to_libbpf();
    let mut opened = open(OBJECT)?;
    for mut control in opened.maps_mut().filter(|map| map.name() == NAME) {
        registration::prepare(&mut control).map_err(failed(NAME))?;
    }
    let mut object = opened.load().map_err(failed("loading the queue discipline"))?;
    for mut found in object.maps_mut() {
        if let Some(name) = [QUEUES, SETTINGS].iter().find(|name| found.name() == **name) {
            found.pin(folder.join(name)).map_err(failed(name))?;
        }
    }
    registration::register(&mut object, OsStr::new(NAME), &folder)
}

fn unregister_unless_used() -> Result<(), Error> {
    match map(QUEUES).and_then(|queues| entries(&queues)) {
        Ok(queues) if !queues.is_empty() => Ok(()),
        _ if pins::queues().exists() => unregister(),
        _ => Ok(()),
    }
}

fn unregister() -> Result<(), Error> {
    let folder = pins::queues();
    registration::unregister(&folder)?;
    pins::remove(&folder)?;
    pins::leave_no_trace()
}

/// Runs `tc`, in this thread's network namespace.
fn tc(words: &[&str]) -> Result<(), Error> {
    let output = Command::new("tc").args(words).output();
    let output = output.map_err(|error| Error::machine("tc (Debian's package iproute2)", error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::Machine(format!("tc {}: {}", words.join(" "), said.trim())))
}
