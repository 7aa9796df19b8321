//! What holds for every controller, whatever happens to it.

mod any_events;
