//! Shared by all hosts.
//!
//! | module | what it does |
//! |---|---|
//! | [`runner`] | the contract of hosts; runs, checkpoints and resumes jobs |
//! | [`measure`] | from what a host saw to the figures of a run: one definition of each |
//! | [`packets`] | what happened to each packet, in files of other tools |
//! | [`probing`] | probe streams: sent by a host, recorded, read, judged |
//! | [`realtime`] | clock, waiting and priorities of hosts in real time |

pub mod measure;
pub mod packets;
pub mod probing;
#[cfg(target_os = "linux")]
pub mod realtime;
pub mod runner;
