//! Transmission times on a wire: when each packet begins, and when its last bit has left.

use experiment::scenario::LinkSpec;
use packetscale_models::units::{Bytes, Rate, Serialiser, Time, TokenBucket, VaryingSerialiser};

/// A packet that a link took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    /// When its transmission starts: waiting ends.
    pub(crate) begins: Time,
    /// When its last bit has left.
    pub(crate) departs: Time,
}

/// Transmits packets in the order in which it is given them.
pub(crate) trait Transmitter {
    /// Nothing waited just before `now`. Extra calls while packets are under way are harmless.
    fn idle_until(&mut self, now: Time);

    /// When the next packet leaves its queue.
    fn begins(&mut self) -> Time;

    /// The next packet is transmitted.
    fn send(&mut self, size: Bytes) -> Service;
}

/// At a constant rate: Lindley's recursion, `departure = max(arrival, free) + size / rate`.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    wire: Serialiser,
    free: Time,
}

impl Constant {
    pub(crate) fn new(rate: Rate) -> Constant {
        Constant { wire: Serialiser::new(rate), free: Time::ZERO }
    }
}

impl Transmitter for Constant {
    #[inline]
    fn idle_until(&mut self, now: Time) {
        self.free = self.free.max(now);
    }

    #[inline]
    fn begins(&mut self) -> Time {
        self.free
    }

    #[inline]
    fn send(&mut self, size: Bytes) -> Service {
        let begins = self.free;
        self.free = begins + self.wire.next(size);
        Service { begins, departs: self.free }
    }
}

impl Transmitter for VaryingSerialiser {
    fn idle_until(&mut self, now: Time) {
        VaryingSerialiser::idle_until(self, now);
    }

    fn begins(&mut self) -> Time {
        VaryingSerialiser::begins(self)
    }

    fn send(&mut self, size: Bytes) -> Service {
        Service { begins: VaryingSerialiser::begins(self), departs: self.next(size) }
    }
}

/// A shaper: a packet that does not conform is held before the wire, and all packets behind it wait.
#[derive(Clone, Debug)]
pub(crate) struct Shaped {
    bucket: TokenBucket,
    wire: AnyTransmitter,
}

impl Transmitter for Shaped {
    fn idle_until(&mut self, now: Time) {
        self.wire.idle_until(now);
    }

    fn begins(&mut self) -> Time {
        self.wire.begins()
    }

    fn send(&mut self, size: Bytes) -> Service {
        let taken = self.wire.begins();
        let conforms = self.bucket.conforms(taken, size);
        if conforms > taken {
            self.wire.idle_until(conforms);
        }
        let service = self.wire.send(size);
        self.bucket.take(service.begins, size);
        service
    }
}

/// One of these.
#[derive(Clone, Debug)]
pub(crate) enum AnyTransmitter {
    Constant(Constant),
    Varying(Box<VaryingSerialiser>),
    Shaped(Box<Shaped>),
}

impl AnyTransmitter {
    /// The transmitter of a link.
    pub(super) fn of(spec: &LinkSpec) -> AnyTransmitter {
        let wire = match spec.capacity() {
            Some(capacity) => AnyTransmitter::Varying(Box::new(VaryingSerialiser::new(capacity))),
            None => AnyTransmitter::Constant(Constant::new(spec.rate)),
        };
        match spec.service.shaper {
            Some(shaper) => {
                let bucket = TokenBucket::new(shaper.rate, shaper.bucket);
                AnyTransmitter::Shaped(Box::new(Shaped { bucket, wire }))
            }
            None => wire,
        }
    }
}

impl Transmitter for AnyTransmitter {
    fn idle_until(&mut self, now: Time) {
        match self {
            AnyTransmitter::Constant(wire) => wire.idle_until(now),
            AnyTransmitter::Varying(wire) => wire.idle_until(now),
            AnyTransmitter::Shaped(wire) => wire.idle_until(now),
        }
    }

    fn begins(&mut self) -> Time {
        match self {
            AnyTransmitter::Constant(wire) => wire.begins(),
            AnyTransmitter::Varying(wire) => wire.begins(),
            AnyTransmitter::Shaped(wire) => wire.begins(),
        }
    }

    fn send(&mut self, size: Bytes) -> Service {
        match self {
            AnyTransmitter::Constant(wire) => wire.send(size),
            AnyTransmitter::Varying(wire) => wire.send(size),
            AnyTransmitter::Shaped(wire) => wire.send(size),
        }
    }
}
