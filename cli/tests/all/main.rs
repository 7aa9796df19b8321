//! The command as users call it. One program has all tests: each program links all that is tested.

mod attack;
mod brought;
mod captures;
mod command;
mod estimate;
mod evaluate;
mod foreign;
mod matrix;
mod messages;
mod operation;
mod outcomes;
mod packets;
mod renamed;
mod report;
mod reproduce;
mod rooms;
mod shards;
mod support;
mod theory;
mod tutorial;
