//! Questions that take many runs, or a theory.
//!
//! | module | what it asks |
//! |---|---|
//! | [`papers`] | figures of papers as data: what was published beside what we find |
//! | [`evaluation`] | the questions of RFC 9743 to one controller |
//! | [`matrix`] | every controller beside every other |
//! | [`attack`] | the path on which a controller does worst |
//! | [`analysis`] | questions to the theories, typed, and their answers |

pub mod analysis;
pub mod attack;
pub mod evaluation;
pub mod matrix;
pub mod papers;
