//! Questions that take many runs, or a theory.
//!
//! | module | subject |
//! |---|---|
//! | [`papers`] | figures of papers as data: published values compared with ours |
//! | [`scoreboard`] | the page of stored outcomes |
//! | [`agreement`] | how well stored outcomes agree with print: conclusions, order, shape, size |
//! | [`evaluation`] | the questions of RFC 9743 to one controller |
//! | [`matrix`] | every pair of controllers |
//! | [`attack`] | the path on which a controller does worst |
//! | [`analysis`] | typed questions to the theories, and their answers |

pub mod agreement;
pub mod analysis;
pub mod attack;
pub mod evaluation;
pub mod matrix;
pub mod papers;
pub mod scoreboard;
