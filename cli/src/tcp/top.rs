//! Rapid's connections in a terminal, updated continuously.
//!
//! `state` is what is seen and chosen, and knows no terminal; `view` draws it.

mod state;
mod view;

use crate::outcome::Failure;
use linux::tcp::status;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use state::{Key, Top};
use std::io;
use std::time::{Duration, Instant};
use view::Theme;

/// Shows the connections of the congestion control `name` until the user ends it, or nothing is loaded any more.
pub fn top(name: &str, every: Duration) -> Result<(), Failure> {
    // Before the terminal changes: nothing may be loaded.
    let mut top = Top::new(name);
    top.take(&status(name)?);
    let coloured = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let theme = if coloured { Theme::coloured() } else { Theme::plain() };
    let failed = |error: io::Error| Failure::Machine(format!("the terminal: {error}"));
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let ended = follow(&mut terminal, &mut top, &theme, every);
    let restored = ratatui::try_restore().map_err(failed);
    ended.and(restored)
}

fn follow(terminal: &mut DefaultTerminal, top: &mut Top, theme: &Theme, every: Duration) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Machine(format!("the terminal: {error}"));
    let mut due = Instant::now() + every;
    loop {
        terminal.draw(|frame| view::draw(frame, top, theme)).map_err(failed)?;
        let left = due.saturating_duration_since(Instant::now());
        if event::poll(left).map_err(failed)? {
            let Event::Key(pressed) = event::read().map_err(failed)? else { continue };
            if !key(&pressed).is_none_or(|key| top.press(key)) {
                return Ok(());
            }
        } else {
            top.take(&status(top.name())?);
            due = Instant::now() + every;
        }
    }
}

fn key(pressed: &KeyEvent) -> Option<Key> {
    if pressed.kind == KeyEventKind::Release {
        return None;
    }
    match pressed.code {
        KeyCode::Char('c') if pressed.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Quit),
        KeyCode::Char('q') => Some(Key::Quit),
        KeyCode::Char('s') => Some(Key::Sort),
        KeyCode::Up | KeyCode::Char('k') => Some(Key::Up),
        KeyCode::Down | KeyCode::Char('j') => Some(Key::Down),
        KeyCode::Enter => Some(Key::Open),
        KeyCode::Esc => Some(Key::Close),
        _ => None,
    }
}
