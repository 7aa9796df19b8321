//! The command as users call it.
//!
//! One program has them all: each program of tests links all that is tested anew.

mod attack;
mod brought;
mod captures;
mod command;
mod estimate;
mod evaluate;
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
mod theory;
mod tutorial;
