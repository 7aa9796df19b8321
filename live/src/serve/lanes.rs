//! Threads that send ordered streams, one per session with orders, so that sessions do not wait for each other. A thread ends
//! with its session.

use super::Job;
use super::left::Left;
use super::session::WAITING;
use crate::pace::{Gaps, Pacer};
use crate::socket::{Mark, Stamped};
use crate::stream;
use crate::wire::Source;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{Builder, JoinHandle};

/// A session's thread.
struct Lane {
    jobs: SyncSender<Job>,
    ended: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// The threads of all sessions.
pub struct Lanes {
    socket: Arc<Stamped>,
    filling: Arc<[u8]>,
    left: Sender<Left>,
    lanes: BTreeMap<u64, Lane>,
}

impl Lanes {
    /// No threads. `left` receives the departures of each stream; `filling` fills its packets.
    pub fn new(socket: Arc<Stamped>, filling: Arc<[u8]>, left: Sender<Left>) -> Lanes {
        Lanes { socket, filling, left, lanes: BTreeMap::new() }
    }

    /// Queues a stream behind those of its session. `false`: the system cannot start a thread, or too many streams wait.
    pub fn send(&mut self, job: Job) -> bool {
        if let Some(lane) = self.lanes.get(&job.session) {
            return lane.jobs.try_send(job).is_ok();
        }
        let Ok(lane) = self.begun() else { return false };
        let sent = lane.jobs.try_send(job).is_ok();
        self.lanes.insert(job.session, lane);
        sent
    }

    fn begun(&self) -> io::Result<Lane> {
        let (jobs, ordered) = mpsc::sync_channel(WAITING as usize);
        let ended = Arc::new(AtomicBool::new(false));
        let sender = Sending {
            socket: Arc::clone(&self.socket),
            filling: Arc::clone(&self.filling),
            left: self.left.clone(),
            ended: Arc::clone(&ended),
        };
        let thread = Builder::new().name("serve-send".to_string()).spawn(move || sender.work(&ordered))?;
        Ok(Lane { jobs, ended, thread })
    }

    /// Ends the threads of all other sessions. Their streams stop at the next packet.
    pub fn keep(&mut self, is_there: impl Fn(u64) -> bool) {
        self.lanes.retain(|session, lane| {
            let kept = is_there(*session);
            lane.ended.store(!kept, Ordering::Relaxed);
            kept
        });
    }

    /// Ends all threads, and waits for them.
    pub fn end(self) {
        self.lanes.values().for_each(|lane| lane.ended.store(true, Ordering::Relaxed));
        for Lane { jobs, thread, .. } in self.lanes.into_values() {
            drop(jobs);
            let _ = thread.join();
        }
    }
}

struct Sending {
    socket: Arc<Stamped>,
    filling: Arc<[u8]>,
    left: Sender<Left>,
    ended: Arc<AtomicBool>,
}

impl Sending {
    fn work(&self, ordered: &Receiver<Job>) {
        let mut pacer = Pacer::measure(Gaps::Busy);
        while let Ok(job) = ordered.recv() {
            let carry_on = || !self.ended.load(Ordering::Relaxed);
            let to = (job.to, job.session, job.number);
            let stream = (&job.stream, Mark::None);
            let sent = stream::send(&self.socket, to, stream, &mut pacer, &self.filling, &carry_on);
            // A stream that could not be sent has no times; its client sees that no packet arrived.
            let (stamps, source) = sent.unwrap_or((Vec::new(), Source::Program));
            if self.left.send(Left { session: job.session, stamps, source }).is_err() {
                return;
            }
        }
    }
}
