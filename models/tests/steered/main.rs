//! Controllers that an agent steers.

mod schemes;
