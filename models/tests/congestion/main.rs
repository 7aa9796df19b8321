//! Properties of every controller, for any events.

mod any_events;
