//! Available bandwidth from one probe stream.
//!
//! A sender creates gaps between packets. A receiver sees other gaps between the same packets, and the difference shows
//! how much capacity was available. A [`Denoiser`] makes the receive gaps readable; an [`Estimator`] reads them. Both
//! have names in a registry, and they compose: `bass+multi-rate` is a [`Method`].
//!
//! An estimator gives a value with an interval, or abstains with a reason. It never guesses.
mod average;
mod bass;
mod combined;
mod contract;
mod fleet;
mod imr;
mod learnt;
mod method;
mod multi_pass;
mod multi_rate;
mod normalise;
mod pathload;
mod posterior;
mod prc_mt;
mod readable;
mod receive_rate;
mod registry;
mod score;
mod stream;
mod trend;
mod wavelet;
mod whole;
mod window;

pub use contract::{Abstain, Denoiser, Estimate, Estimator, Probing, Verdict};
pub use fleet::{Search, of_fleet};
pub use method::{Method, MethodError};
pub use prc_mt::{LengthError, Tuning, tune_length};
pub use registry::{Entry, denoisers, estimators};
pub use score::{Decisions, Reading, Score};
pub use stream::{Gap, Stream};
pub use trend::{Thresholds, Trend, trend};
pub use whole::{Ended, Found, Sender, Tool, find};
