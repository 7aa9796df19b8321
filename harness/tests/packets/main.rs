//! Packets, in files of other tools.

mod read_again;
