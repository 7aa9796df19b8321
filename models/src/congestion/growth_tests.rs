//! `growth = "acknowledgments"`: what the laws of Linux 2.6.32 do with acknowledgments of three packets.

use crate::congestion::window::PER_ACKNOWLEDGMENT;
use crate::congestion::window_based::Law;
use crate::congestion::window_based::driver::Driver;
use crate::congestion::{
    compound::Compound, highspeed::HighSpeed, htcp::Htcp, illinois::Illinois, lp::Lp, scalable::Scalable, veno::Veno,
    westwood::Westwood, yeah::Yeah,
};
use crate::settings::{Setting, Settings};
use crate::units::Span;

const RTT: Span = Span::from_millis(100);

fn settings(growth: &str) -> Settings {
    let mut settings = Settings::new();
    settings.insert("growth".into(), Setting::Word(growth.into()));
    settings
}

/// The window after ten acknowledgments of three packets, from ten packets.
fn started<L: Law>(growth: &str) -> u32 {
    let mut driver = Driver::<L>::with(10, RTT, &settings(growth));
    (0..10).for_each(|_| driver.ack(3));
    driver.window()
}

/// The same from this window in avoidance, after this number of acknowledgments.
fn avoided<L: Law>(growth: &str, window: u32, acknowledgments: u32) -> u32 {
    let mut driver = Driver::<L>::with(window, RTT, &settings(growth));
    driver.controller.window.threshold = window;
    (0..acknowledgments).for_each(|_| driver.ack(3));
    driver.window()
}

/// One packet per acknowledgment, 10 + 10, or one per packet, 10 + 30.
#[test]
fn slow_start_adds_one_packet_per_acknowledgment() {
    fn both<L: Law>() -> [u32; 2] {
        [started::<L>(PER_ACKNOWLEDGMENT), started::<L>("packets")]
    }
    let all = [
        both::<Scalable>(),
        both::<HighSpeed>(),
        both::<Htcp>(),
        both::<Illinois>(),
        both::<Yeah>(),
        both::<Westwood>(),
        both::<Veno>(),
        both::<Lp>(),
        both::<Compound>(),
    ];
    assert_eq!(all, [[20, 40]; 9]);
}

/// Reno: 60 acknowledgments of three packets are 6 windows of 30; 30 and 31 of them are two windows. Scalable adds a packet
/// per 30 acknowledgments, too, with its window below 100.
#[test]
fn avoidance_of_reno_and_scalable_counts_acknowledgments() {
    assert_eq!(avoided::<Westwood>(PER_ACKNOWLEDGMENT, 30, 61), 32);
    assert_eq!(avoided::<Scalable>(PER_ACKNOWLEDGMENT, 1000, 500), 1005);
    assert_eq!(avoided::<Scalable>("packets", 1000, 500), 1015);
}

/// `snd_cwnd_cnt += pkts_acked` in their modules of 2.6.32.
#[test]
fn avoidance_of_htcp_illinois_and_yeah_counts_packets() {
    fn same<L: Law>() -> bool {
        avoided::<L>(PER_ACKNOWLEDGMENT, 300, 500) == avoided::<L>("packets", 300, 500)
    }
    assert!(same::<Htcp>() && same::<Illinois>() && same::<Yeah>());
    assert!(avoided::<Yeah>(PER_ACKNOWLEDGMENT, 300, 500) >= 315, "100 packets or fewer per packet added");
}
