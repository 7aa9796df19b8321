//! The registry: one line per discipline.

use crate::contract::{Packet, Queue, Verdict};
use crate::fifo::{Fifo, Limit};
use units::{Bytes, Packets, Time};

/// One discipline of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name that scenarios, the command line and the report use.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
}

macro_rules! registry {
    ($($variant:ident($type:ty) = $name:literal, $summary:literal;)*) => {
        /// Any discipline of the registry, dispatched without a pointer.
        #[allow(missing_docs)]
        #[derive(Clone, Debug)]
        pub enum AnyQueue<P> {
            $($variant($type),)*
        }

        const ENTRIES: &[Entry] = &[$(Entry { name: $name, summary: $summary },)*];

        impl<P> Queue<P> for AnyQueue<P> {
            fn enqueue(&mut self, now: Time, packet: Packet<P>) -> Verdict {
                match self { $(AnyQueue::$variant(queue) => queue.enqueue(now, packet),)* }
            }
            fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
                match self { $(AnyQueue::$variant(queue) => queue.dequeue(now),)* }
            }
            fn departed(&mut self, now: Time, size: Bytes) {
                match self { $(AnyQueue::$variant(queue) => queue.departed(now, size),)* }
            }
            fn next_wakeup(&self) -> Time {
                match self { $(AnyQueue::$variant(queue) => queue.next_wakeup(),)* }
            }
            fn length(&self) -> (Packets, Bytes) {
                match self { $(AnyQueue::$variant(queue) => queue.length(),)* }
            }
        }
    };
}

registry! {
    Fifo(Fifo<P>) = "fifo", "drop-tail: first in, first out, dropped when the buffer is full";
}

impl<P> AnyQueue<P> {
    /// A drop-tail queue.
    pub fn fifo(limit: Limit) -> AnyQueue<P> {
        AnyQueue::Fifo(Fifo::new(limit))
    }
}

/// All disciplines, in the order in which they are shown.
pub fn registry() -> &'static [Entry] {
    ENTRIES
}

/// The discipline of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}
