//! The registry: one line per controller. Everything that lists, builds, tests, benches, documents or draws
//! controllers iterates over it.

use crate::congestion::contract::{
    AckSample, Controller, Decision, Extras, Idle, Loss, LossResponse, Marked, Needs, Probing, Sent, Setup, Timeout,
    Undo,
};
use crate::congestion::window_based::WindowBased;
use crate::congestion::{
    bbr, bbr1, bic, compound, copa, cubic, dctcp, fast, highspeed, htcp, hybla, illinois, ledbat, lp, newark, newreno,
    prague, rapid, rapid_thesis, rcp, scalable, vegas, veno, westwood, yeah,
};
use crate::units::{Rate, Time};
use alloc::boxed::Box;
use core::any::Any;
use core::fmt::Debug;

use crate::settings::{Parameters, SettingError, Settings};

/// One controller of the registry.
pub struct Entry {
    /// The name that scenarios, the command line and the report use.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Its colour in pictures.
    pub colour: &'static str,
    /// The settings.
    pub parameters: Parameters,
    /// Builds the controller.
    pub build: fn(&Setup, &Settings) -> Result<AnyController, SettingError>,
}

macro_rules! registry {
    ($($variant:ident($type:ty) from $build:path = $name:literal, $summary:literal, $colour:literal, $parameters:expr;)*) => {
        /// Any controller of the registry, or one that is not of it. Large ones are boxed, so that many small ones stay
        /// close together.
        #[allow(missing_docs)]
        #[derive(Clone, Debug)]
        pub enum AnyController {
            $($variant($type),)*
            /// A user's controller, which is not in the registry.
            External(Box<dyn External>),
        }

        const ENTRIES: &[Entry] = &[
            $(Entry {
                name: $name,
                summary: $summary,
                colour: $colour,
                parameters: $parameters,
                build: |setup, settings| $build(setup, settings).map(|c| AnyController::$variant(c.into())),
            },)*
        ];

        macro_rules! any {
            ($self:ident.$method:ident $arguments:tt) => {
                match $self {
                    $(AnyController::$variant(inner) => inner.$method $arguments,)*
                    AnyController::External(inner) => inner.$method $arguments,
                }
            };
        }

        /// Calls made for every packet, for the controllers of most runs: found by comparisons, and inlined, where a table of
        /// all controllers is an indirect jump and a call.
        macro_rules! soon {
            ($self:ident.$method:ident $arguments:tt, $others:ident) => {
                match $self {
                    AnyController::NewReno(inner) => inner.$method $arguments,
                    AnyController::Rapid(inner) => inner.$method $arguments,
                    AnyController::Bbr(inner) => inner.$method $arguments,
                    _ => $self.$others $arguments,
                }
            };
        }

        impl AnyController {
            #[inline(never)]
            fn decision_of_others(&self) -> Decision {
                any!(self.decision())
            }

            #[inline(never)]
            fn departure_of_others(&self, in_flight: u32) -> Option<Time> {
                any!(self.departure(in_flight))
            }

            #[inline(never)]
            fn sent_by_others(&mut self, sent: &Sent) {
                any!(self.on_sent(sent))
            }
        }
    };
}

registry! {
    NewReno(newreno::NewReno) from newreno::NewReno::build = "newreno", "TCP NewReno: additive increase, halving on loss (RFC 5681, 6582)", "#0072B2", newreno::PARAMETERS;
    Cubic(Box<cubic::Cubic>) from cubic::Cubic::build = "cubic", "TCP CUBIC with HyStart++ (RFC 9438, RFC 9406)", "#E69F00", cubic::PARAMETERS;
    Bbr(Box<bbr::Bbr>) from bbr::Bbr::build = "bbr", "BBR version 3: paces at the delivered rate (draft-ietf-ccwg-bbr)", "#009E73", bbr::PARAMETERS;
    Bbr1(Box<bbr1::Bbr1>) from bbr1::Bbr1::build = "bbr1", "BBR version 1, as in Linux: paces at the largest rate of ten rounds (Cardwell et al.)", "#66AA00", bbr1::PARAMETERS;
    Rapid(Box<rapid::Rapid>) from rapid::Rapid::build = "rapid", "Rapid: follows the available bandwidth that gaps between packets show", "#D55E00", rapid::PARAMETERS;
    RapidThesis(Box<rapid_thesis::RapidThesis>) from rapid_thesis::build = "rapid-thesis", "TCP RAPID as published: denoised probe streams and a rate adapter", "#EE3377", rapid_thesis::PARAMETERS;
    Bic(Box<WindowBased<bic::Bic>>) from WindowBased::<bic::Bic>::build = "bic", "BIC: a binary search for the window of the last loss (Linux)", "#332288", bic::PARAMETERS;
    HighSpeed(Box<WindowBased<highspeed::HighSpeed>>) from WindowBased::<highspeed::HighSpeed>::build = "highspeed", "HighSpeed TCP: larger windows grow faster and shrink less (RFC 3649)", "#44AA99", highspeed::PARAMETERS;
    Scalable(Box<WindowBased<scalable::Scalable>>) from WindowBased::<scalable::Scalable>::build = "scalable", "Scalable TCP: 1 % more per round trip, an eighth less on loss", "#999933", scalable::PARAMETERS;
    Hybla(Box<WindowBased<hybla::Hybla>>) from WindowBased::<hybla::Hybla>::build = "hybla", "TCP Hybla: long paths grow as fast as a path of 25 ms", "#DDCC77", hybla::PARAMETERS;
    Vegas(Box<WindowBased<vegas::Vegas>>) from WindowBased::<vegas::Vegas>::build = "vegas", "TCP Vegas: keeps two to four packets queued, by the round-trip time", "#117733", vegas::PARAMETERS;
    Htcp(Box<WindowBased<htcp::Htcp>>) from WindowBased::<htcp::Htcp>::build = "htcp", "H-TCP: growth rises with the time since the last loss", "#882255", htcp::PARAMETERS;
    Illinois(Box<WindowBased<illinois::Illinois>>) from WindowBased::<illinois::Illinois>::build = "illinois", "TCP Illinois: loss triggers a cut, delay sets its size and the growth", "#AA4499", illinois::PARAMETERS;
    Yeah(Box<WindowBased<yeah::Yeah>>) from WindowBased::<yeah::Yeah>::build = "yeah", "YeAH-TCP: Scalable while the queue is short, else Reno", "#CC6677", yeah::PARAMETERS;
    Westwood(Box<WindowBased<westwood::Westwood>>) from WindowBased::<westwood::Westwood>::build = "westwood", "TCP Westwood+: after a loss, the window for the measured rate", "#56B4E9", westwood::PARAMETERS;
    Veno(Box<WindowBased<veno::Veno>>) from WindowBased::<veno::Veno>::build = "veno", "TCP Veno: Reno that separates random losses from congestion", "#661100", veno::PARAMETERS;
    Lp(Box<WindowBased<lp::Lp>>) from WindowBased::<lp::Lp>::build = "lp", "TCP-LP: Reno that yields when the one-way delay rises", "#DDAA33", lp::PARAMETERS;
    Compound(Box<WindowBased<compound::Compound>>) from WindowBased::<compound::Compound>::build = "compound", "Compound TCP: Reno plus a window steered by delay", "#6699CC", compound::PARAMETERS;
    Fast(Box<WindowBased<fast::Fast>>) from WindowBased::<fast::Fast>::build = "fast", "FAST TCP: keeps a fixed number of packets queued", "#997700", fast::PARAMETERS;
    Copa(Box<copa::Copa>) from copa::Copa::build = "copa", "Copa: a rate of 1 / (delta queueing delay), paced", "#994455", copa::PARAMETERS;
    Ledbat(Box<WindowBased<ledbat::Ledbat>>) from WindowBased::<ledbat::Ledbat>::build = "ledbat", "LEDBAT++: takes what others leave, and yields", "#777777", ledbat::PARAMETERS;
    Dctcp(Box<dctcp::Dctcp>) from dctcp::Dctcp::build = "dctcp", "DCTCP: cuts its window in proportion to the marks (RFC 8257)", "#7700FF", dctcp::PARAMETERS;
    Prague(Box<prague::Prague>) from prague::Prague::build = "prague", "Prague: DCTCP for the Internet, paced, for queues that mark early (draft-briscoe-iccrg-prague)", "#AA3377", prague::PARAMETERS;
    Rcp(Box<rcp::Rcp>) from rcp::Rcp::build = "rcp", "RCP: sends at the rate that routers offer; else NewReno", "#A65628", rcp::PARAMETERS;
    Newark(Box<newark::Newark>) from newark::Newark::build = "newark", "Newark: a window for the rate, a token bucket for bursts, each with its mark (Li and Mills)", "#004488", newark::PARAMETERS;
}

impl Controller for AnyController {
    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        soon!(self.on_sent(sent), sent_by_others)
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        any!(self.on_ack(ack))
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        any!(self.on_loss(loss))
    }

    fn on_mark(&mut self, marked: &Marked) {
        any!(self.on_mark(marked))
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        any!(self.on_timeout(timeout))
    }

    fn on_undo(&mut self, undo: &Undo) {
        any!(self.on_undo(undo))
    }

    fn on_idle(&mut self, idle: &Idle) {
        any!(self.on_idle(idle))
    }

    #[inline]
    fn decision(&self) -> Decision {
        soon!(self.decision(), decision_of_others)
    }

    #[inline]
    fn loss_response(&self) -> LossResponse {
        any!(self.loss_response())
    }

    fn slow_start_threshold(&self) -> u32 {
        any!(self.slow_start_threshold())
    }

    fn needs(&self) -> Needs {
        any!(self.needs())
    }
}

impl Extras for AnyController {
    fn on_offer(&mut self, now: Time, rate: Rate) {
        any!(self.on_offer(now, rate))
    }

    fn on_available(&mut self, now: Time, available: Rate) {
        any!(self.on_available(now, available))
    }

    #[inline]
    fn departure(&self, in_flight: u32) -> Option<Time> {
        soon!(self.departure(in_flight), departure_of_others)
    }

    #[inline]
    fn keeps_departure(&self) -> bool {
        any!(self.keeps_departure())
    }

    fn mark_response(&self) -> LossResponse {
        any!(self.mark_response())
    }

    fn rate(&self) -> Option<Rate> {
        any!(self.rate())
    }

    fn probing(&self) -> Option<&dyn Probing> {
        any!(self.probing())
    }

    fn probing_mut(&mut self) -> Option<&mut dyn Probing> {
        any!(self.probing_mut())
    }
}

/// A controller from outside the registry. Every type that has [`Extras`] and can be cloned, printed and sent
/// to another thread is one; hosts run it as [`AnyController::External`].
/// [`Any`] lets its owner find it in a run.
pub trait External: Extras + Debug + Send + Any {
    /// Returns a copy with the same state.
    fn boxed_clone(&self) -> Box<dyn External>;
}

impl<C: Extras + Clone + Debug + Send + 'static> External for C {
    fn boxed_clone(&self) -> Box<dyn External> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn External> {
    fn clone(&self) -> Box<dyn External> {
        (**self).boxed_clone()
    }
}

/// Returns all controllers, in display order.
pub fn registry() -> &'static [Entry] {
    ENTRIES
}

/// Returns the controller of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_controller_has_a_unique_name_and_colour() {
        for (number, entry) in ENTRIES.iter().enumerate() {
            let hex = entry.colour.strip_prefix('#').is_some_and(|hex| u32::from_str_radix(hex, 16).is_ok());
            assert!(hex && entry.colour.len() == 7, "{}", entry.name);
            for other in &ENTRIES[..number] {
                assert!(entry.name != other.name && entry.colour != other.colour, "{} {}", entry.name, other.name);
            }
        }
    }

    /// An external controller behaves as elsewhere, and a copy is independent.
    #[test]
    fn an_external_controller_is_called_like_any_other() {
        use crate::units::{Bytes, Span};
        let setup = Setup {
            now: Time::ZERO,
            packet: Bytes::new(1500),
            handshake_rtt: Span::from_millis(10),
            initial_window: 10,
            seed: 0,
        };
        let newreno = newreno::NewReno::build(&setup, &Settings::new()).expect("no settings fit");
        let mut external = AnyController::External(Box::new(newreno));
        let copy = external.clone();
        // RFC 5681, section 3.1: a window of one segment after a timeout.
        external.on_timeout(&Timeout { now: Time::ZERO, in_flight: 10, first: true });
        assert_eq!((external.decision().window, copy.decision().window), (1, 10));
        assert_eq!((external.slow_start_threshold(), copy.slow_start_threshold()), (5, u32::MAX));
    }
}
