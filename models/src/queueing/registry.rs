//! The registry: one line per discipline.

use crate::queueing::contract::{Packet, Queue, Readings, Setup, Verdict};
use crate::queueing::{codel, dualpi2, fifo, fq_codel, pie, qlbp, rcp, red, tdqm};
use crate::settings::{Parameters, SettingError, Settings};
use crate::units::{Bytes, Packets, Time};

/// One discipline of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name that scenarios, the command line and the report use.
    pub name: &'static str,
    /// Its summary, in one line.
    pub summary: &'static str,
    /// The settings.
    pub parameters: Parameters,
}

macro_rules! registry {
    ($($variant:ident($type:ty) = $name:literal, $summary:literal, $parameters:expr;)*) => {
        /// Any discipline of the registry, dispatched without a pointer.
        // A link has one queue, so a large variant costs little.
        #[allow(missing_docs, clippy::large_enum_variant)]
        #[derive(Clone, Debug)]
        pub enum AnyQueue<P> {
            $($variant($type),)*
        }

        const ENTRIES: &[Entry] = &[
            $(Entry { name: $name, summary: $summary, parameters: $parameters },)*
        ];

        impl<P> AnyQueue<P> {
            /// Builds the discipline of this name; `None` if it is unknown.
            ///
            /// # Errors
            /// The discipline does not have a setting, or does not accept its value.
            pub fn build(name: &str, setup: &Setup, settings: &Settings) -> Option<Result<AnyQueue<P>, SettingError>> {
                match name {
                    $($name => Some(<$type>::build(setup, settings).map(AnyQueue::$variant)),)*
                    _ => None,
                }
            }
        }

        impl<P> Queue<P> for AnyQueue<P> {
            fn enqueue(&mut self, now: Time, packet: Packet<P>) -> Verdict {
                match self { $(AnyQueue::$variant(queue) => queue.enqueue(now, packet),)* }
            }
            fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
                match self { $(AnyQueue::$variant(queue) => queue.dequeue(now),)* }
            }
            fn take_dropped(&mut self) -> Option<Packet<P>> {
                match self { $(AnyQueue::$variant(queue) => queue.take_dropped(),)* }
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
            fn readings(&self) -> Readings {
                match self { $(AnyQueue::$variant(queue) => queue.readings(),)* }
            }
        }
    };
}

registry! {
    Fifo(fifo::Fifo<P>) = "fifo", "drop-tail: first in, first out, dropped when the buffer is full", fifo::PARAMETERS;
    Codel(codel::CodelQueue<P>) = "codel", "CoDel: drops at the head, ever faster, while the wait stays above a target (RFC 8289)", codel::PARAMETERS;
    FqCodel(fq_codel::FqCodel<P>) = "fq-codel", "FQ-CoDel: a queue per flow, served in turns, each under CoDel (RFC 8290)", fq_codel::PARAMETERS;
    Pie(pie::Pie<P>) = "pie", "PIE: drops on arrival with a probability steered by the queue's delay (RFC 8033)", pie::PARAMETERS;
    DualPi2(dualpi2::DualPi2<P>) = "dualpi2", "DualPI2: a low-delay queue beside a classic one, coupled by marks and drops (RFC 9332)", dualpi2::PARAMETERS;
    Qlbp(qlbp::Qlbp<P>) = "qlbp", "paces by queue length: the longer the queue, the faster it leaves", qlbp::PARAMETERS;
    Rcp(rcp::Rcp<P>) = "rcp", "RCP's router: offers all flows one rate that fills the link and empties its queue", rcp::PARAMETERS;
    Red(red::Red<P>) = "red", "RED: random marks or drops as the average queue rises (Floyd and Jacobson 1993, RFC 3168)", red::PARAMETERS;
    Tdqm(tdqm::Tdqm<P>) = "tdqm", "TDQM: one mark for too much traffic, another for too bursty (Li and Mills)", tdqm::PARAMETERS;
}

/// All disciplines, in the order in which they are shown.
pub fn registry() -> &'static [Entry] {
    ENTRIES
}

/// The discipline of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}
