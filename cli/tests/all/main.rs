//! The command as users call it. One program has all tests: each program links all that is tested.

mod attack;
mod captures;
mod command;
mod digests;
mod estimate;
mod evaluate;
mod faulty;
mod foreign;
mod matrix;
mod messages;
mod operation;
mod outcomes;
mod packets;
mod plugins;
mod renamed;
mod report;
mod reproduce;
mod shards;
mod support;
mod theory;
mod tutorial;
