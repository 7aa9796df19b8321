//! The kernel's features for paths, tested in a temporary namespace.

use crate::lab::disciplines;
use crate::lab::error::LabError;
use crate::lab::namespace::Namespace;

/// Returns the queue disciplines that scenarios can ask for, by the kernel's names.
///
/// # Errors
/// No namespace can be made.
pub fn queues() -> Result<Vec<String>, LabError> {
    let place = Namespace::new("trial")?;
    let tried = |(name, words): &(&str, &str)| place.tc(&[format!("qdisc replace dev lo root {name} {words}")]).is_ok();
    Ok(disciplines::disciplines().filter(tried).map(|(name, _)| name.to_string()).collect())
}

/// Whether it has `act_police`.
///
/// # Errors
/// No namespace can be made.
pub fn polices() -> Result<bool, LabError> {
    let place = Namespace::new("trial")?;
    let filter = "filter add dev lo egress protocol ip u32 match u32 0 0";
    let police = format!("{filter} police rate 1mbit burst 10000 conform-exceed drop/ok");
    Ok(place.tc(&["qdisc add dev lo clsact".to_string(), police]).is_ok())
}
