//! @NAME@: additive increase, multiplicative decrease. A controller to begin with; change what you like.
//!
//! ```text
//! slow start:   window += acked                  below the threshold
//! afterwards:   window += increase acked / window
//! loss:         window = threshold = max(decrease window, 2)
//! ```
//!
//! What every field means is in packetscale-controller/include/packetscale/controller.h.

use packetscale_controller::abi::{FRACTION_Q32, PACKETS};
use packetscale_controller::{Ack, Controller, Decision, Loss, Refused, Setting, Start, Timeout, controller};
use std::ffi::CStr;

/// 1 in units of 2^-32.
const ONE_Q32: u64 = 1 << 32;

/// All that one flow remembers.
#[derive(Clone, Copy)]
struct Flow {
    window: f64,
    threshold: f64,
    increase: f64,
    decrease: f64,
}

impl Controller for Flow {
    const NAME: &'static CStr = c"@NAME@";
    const SUMMARY: &'static CStr = c"additive increase, multiplicative decrease";
    /// Name, kind, value where nothing is set, least, most, what it does.
    const SETTINGS: &'static [Setting] = &[
        Setting::new(c"increase", PACKETS, 1, 1, 100, c"packets more per round trip"),
        Setting::new(c"decrease", FRACTION_Q32, ONE_Q32 / 2, 1, ONE_Q32 - 1, c"what a loss leaves of the window"),
    ];

    fn start(start: &Start<'_>, _: &mut Decision) -> Result<Flow, Refused> {
        Ok(Flow {
            window: f64::from(start.initial_window_packets),
            threshold: f64::MAX,
            increase: start.values[0] as f64,
            decrease: start.values[1] as f64 / ONE_Q32 as f64,
        })
    }

    fn on_ack(&mut self, ack: &Ack<'_>, decision: &mut Decision) {
        // Do not grow a window that does not limit, or while losses are repaired.
        if ack.window_limited == 0 || ack.in_recovery == 1 {
            return;
        }
        let acked = f64::from(ack.cumulative_packets);
        self.window += if self.window < self.threshold { acked } else { self.increase * acked / self.window };
        decision.window_packets = self.window as u32;
    }

    fn on_loss(&mut self, loss: &Loss<'_>, decision: &mut Decision) {
        if loss.enters_recovery == 1 {
            self.window = (self.window * self.decrease).max(2.0);
            self.threshold = self.window;
            decision.window_packets = self.window as u32;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout, decision: &mut Decision) {
        if timeout.first == 1 {
            self.threshold = (self.window * self.decrease).max(2.0);
        }
        self.window = 1.0;
        decision.window_packets = 1;
    }
}

controller!(Flow);
