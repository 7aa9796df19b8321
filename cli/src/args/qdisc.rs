//! The arguments of `packetscale tcp qdisc`.

use crate::args::quantity;
use clap::{Args, Subcommand, ValueEnum};
use packetscale_models::units::{Packets, Rate};

#[derive(Subcommand)]
pub enum Qdisc {
    /// Put a queue discipline on a device, instead of what is there; where it is already, change its parameters
    Load(Load),
    /// Take it off a device, which gets the kernel's default
    Unload {
        #[command(flatten)]
        on: On,
    },
    /// Show what each queue has done since it began
    Status {
        /// Print one JSON object on standard output, nothing else
        #[arg(long)]
        json: bool,
        /// Print the counters, in Prometheus text format
        #[arg(long, conflicts_with = "json")]
        prometheus: bool,
    },
}

#[derive(Args)]
pub struct On {
    /// The device, in this network namespace
    #[arg(long, value_name = "NAME")]
    pub device: String,
    /// Print one JSON object on standard output, nothing else
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Load {
    /// The discipline
    pub discipline: Discipline,
    #[command(flatten)]
    pub on: On,
    /// Rate with nothing waiting [default: a hundredth of --rate-max]
    #[arg(long, value_name = "RATE")]
    pub rate_min: Option<Rate>,
    /// Rate with --q-max packets waiting
    #[arg(long, value_name = "RATE", value_parser = quantity::positive::<Rate>)]
    pub rate_max: Rate,
    /// Number of waiting packets beyond which nothing is paced
    #[arg(long, value_name = "PACKETS", default_value = "80 packets")]
    pub q_max: Packets,
    /// Packets that wait at most, more than --q-max
    #[arg(long, value_name = "PACKETS", default_value = "1000 packets")]
    pub limit: Packets,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum Discipline {
    /// Queue-length based pacing, for a forwarding node: a sender's own TCP keeps few packets in its queue, and few packets mean
    /// the lowest rate
    Qlbp,
}
