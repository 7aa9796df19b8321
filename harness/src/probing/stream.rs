//! One probe stream: the scheduled, sent and received time of each packet, and the capacity available meanwhile.

use packetscale_models::estimation::{Gap, Stream};
use packetscale_models::units::{Bytes, Rate, Span, Time};

/// One probe stream and what became of it.
#[derive(Clone, Debug)]
pub struct ProbeStream {
    /// Its number in the run, from 0.
    pub number: u32,
    /// Streams of one train follow each other without a pause.
    pub train: u32,
    /// Its mean rate as intended.
    pub mean_rate: Rate,
    /// Its lowest rate as intended.
    pub lowest: Rate,
    /// Its highest.
    pub highest: Rate,
    /// The available rate from its first packet to its last.
    pub truth: Rate,
    /// The available rate from the first packet of its train to the last.
    pub train_truth: Rate,
    /// Its packets in order; those that never arrived are missing.
    pub packets: Vec<ProbePacket>,
    /// Packets that never arrived.
    pub lost: u32,
    /// Of each `acknowledge` packets in a row, the receiver's time of the last is known.
    pub acknowledge: u32,
    /// Size of each packet.
    pub size: Bytes,
}

/// One packet of a stream.
#[derive(Clone, Copy, Debug)]
pub struct ProbePacket {
    /// Its number in the stream, from 0.
    pub number: u32,
    /// The scheduled gap before it.
    pub asked: Span,
    /// When it was sent, by the sender's record.
    pub sent: Time,
    /// When it left the host.
    pub left: Time,
    /// When it had left the bottleneck.
    pub passed: Time,
    /// When the receiving host saw it.
    pub seen: Time,
}

impl ProbeStream {
    /// As estimators read it.
    pub fn stream(&self) -> Stream {
        self.read(|packet| packet.seen)
    }

    /// As it would be read right behind the bottleneck, before the receiving host.
    pub fn behind_bottleneck(&self) -> Stream {
        self.read(|packet| packet.passed)
    }

    fn read(&self, at: impl Fn(&ProbePacket) -> Time) -> Stream {
        let mut heard = self.packets.first().map_or(Time::ZERO, &at);
        let gap = |pair: &[ProbePacket]| {
            let (before, packet) = (&pair[0], &pair[1]);
            let acked = (packet.number + 1) % self.acknowledge == 0;
            let receive = if acked { at(packet).since(heard) } else { Span::ZERO };
            heard = if acked { at(packet) } else { heard };
            Gap { send: packet.sent.since(before.sent), receive, size: self.size, acked }
        };
        let gaps = self.packets.windows(2).map(gap).collect();
        Stream { lost: u64::from(self.lost), ..Stream::new(gaps) }
    }

    /// Whether the truth is between its lowest and its highest rate.
    pub fn covers_truth(&self) -> bool {
        (self.lowest..=self.highest).contains(&self.truth)
    }

    /// Error of each gap that its host created, in nanoseconds: actual less scheduled.
    pub fn gap_errors_ns(&self) -> impl Iterator<Item = f64> {
        let error = |pair: &[ProbePacket]| {
            let real = pair[1].left.picos() as f64 - pair[0].left.picos() as f64;
            (real - pair[1].asked.picos() as f64) * 1e-3
        };
        self.packets.windows(2).filter(|pair| pair[1].number == pair[0].number + 1).map(error)
    }
}
