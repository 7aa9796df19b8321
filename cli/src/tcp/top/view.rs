//! Draws `tcp top`.

use super::state::{Line, Steered, Top};
use crate::tcp::words::{activity, because, part, rate, source, time};
use linux::tcp::{Limit, Report, SHORTEST_ROUND_TRIP};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line as Words;
use ratatui::widgets::{Cell, Paragraph, Row, Sparkline, Table, TableState};
use std::net::SocketAddr;

/// How things look.
pub struct Theme {
    head: Style,
    chosen: Style,
    graph: Style,
    cubic: Style,
}

impl Theme {
    pub fn coloured() -> Theme {
        let plain = Theme::plain();
        Theme {
            head: plain.head.fg(Color::Cyan),
            graph: Style::new().fg(Color::Green),
            cubic: Style::new().fg(Color::Yellow),
            ..plain
        }
    }

    /// Without colours.
    pub fn plain() -> Theme {
        Theme {
            head: Style::new().add_modifier(Modifier::BOLD),
            chosen: Style::new().add_modifier(Modifier::REVERSED),
            graph: Style::new(),
            cubic: Style::new(),
        }
    }
}

/// Rows of the graph of all rates together, where there is room for it.
const GRAPH_ROWS: u16 = 3;
const ROOM_FOR_GRAPH: u16 = 20;

pub fn draw(frame: &mut Frame, top: &Top, theme: &Theme) {
    let graph = if frame.area().height >= ROOM_FOR_GRAPH { GRAPH_ROWS } else { 1 };
    let rows = [Constraint::Length(4), Constraint::Length(graph), Constraint::Min(3), Constraint::Length(1)];
    let [head, sum, body, foot] = Layout::vertical(rows).areas(frame.area());
    frame.render_widget(Paragraph::new(totals(top, theme)), head);
    spark(frame, &top.sum, theme, sum);
    match top.chosen().filter(|_| top.open).and_then(|at| top.lines.get(at)) {
        Some(line) => detail(frame, top, line, theme, body),
        None => table(frame, top, theme, body),
    }
    let keys = if top.open { "Enter back  q quit" } else { "Up/Down choose  Enter open  s sort  q quit" };
    frame.render_widget(Paragraph::new(keys).style(theme.head), foot);
}

/// Four lines of at most 60 columns, as long as the numbers are small.
fn totals(top: &Top, theme: &Theme) -> Vec<Words<'static>> {
    let counters = &top.counters;
    let back = |limit| time(counters.limited_ns(limit));
    let [application, receiver, window] = [Limit::Application, Limit::Receiver, Limit::Window].map(back);
    let sum = rate(top.sum.last().copied().unwrap_or(0));
    let unlisted = if top.listed { "" } else { " (not listed)" };
    let head = format!("{}  {} of {} connections  {sum}", top.name(), counters.now(), top.flows);
    vec![
        Words::styled(head, theme.head),
        Words::from(format!(
            "begun {}, steered {}, taken over by CUBIC {}{unlisted}",
            counters.begun,
            counters.steered,
            counters.all_fallen()
        )),
        Words::from(format!("limited: app {application}, receiver {receiver}, window {window}")),
        Words::from(format!(
            "timeouts {} (undone {}), guard {}, ceased {}, distrusted {}",
            counters.timeouts, counters.undone, counters.guarded, counters.silenced, counters.distrusted
        )),
    ]
}

/// The latest values that fit, the newest at the right.
fn spark(frame: &mut Frame, values: &[u64], theme: &Theme, area: Rect) {
    let fits = values.len().saturating_sub(usize::from(area.width));
    frame.render_widget(Sparkline::default().data(&values[fits..]).style(theme.graph), area);
}

/// A column: its head, its width, from which width of the terminal on it is shown, and what it says.
struct Column {
    head: &'static str,
    width: u16,
    from: u16,
    says: fn(&Top, &Line) -> String,
}

/// Columns of an address: as many as the longest of IPv4 needs, with its port.
const ADDRESS: u16 = 21;

const COLUMNS: [Column; 9] = [
    Column { head: "remote", width: ADDRESS, from: 0, says: |_, line| fitting(line.address.remote()) },
    Column { head: "local", width: ADDRESS, from: 102, says: |_, line| fitting(line.address.local()) },
    Column { head: "does", width: 8, from: 0, says: |_, line| does(line).to_string() },
    Column { head: "rate", width: 13, from: 0, says: |_, line| line.rate().map_or("-".to_string(), rate) },
    Column { head: "estimate", width: 13, from: 116, says: |_, line| of_rapid(line, estimate) },
    Column { head: "queue", width: 8, from: 72, says: |_, line| of_rapid(line, |report| time(report.queue_ns)) },
    Column { head: "rtt", width: 8, from: 0, says: |_, line| time(line.srtt_ns()) },
    Column { head: "lost", width: 6, from: 60, says: |_, line| of_rapid(line, |report| report.lost.to_string()) },
    Column { head: "trend", width: 10, from: 80, says: trend },
];

/// An address in the room of its column; of one that is too long the end stays, and so the port.
fn fitting(address: SocketAddr) -> String {
    let text = address.to_string();
    let surplus = text.len().saturating_sub(usize::from(ADDRESS));
    if surplus == 0 { text } else { format!("…{}", &text[surplus + 1..]) }
}

fn does(line: &Line) -> &'static str {
    match &line.steered {
        Steered::Rapid(report) => activity(report.activity()),
        Steered::Cubic(_) => "cubic",
    }
}

fn of_rapid(line: &Line, says: impl Fn(&Report) -> String) -> String {
    match &line.steered {
        Steered::Rapid(report) if line.rate().is_some() => says(report),
        _ => "-".to_string(),
    }
}

fn estimate(report: &Report) -> String {
    if report.estimated_ns > 0 { rate(report.available) } else { "-".to_string() }
}

/// The rate's latest values as blocks: the highest of them is the highest block.
fn trend(top: &Top, line: &Line) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const SHOWN: usize = 10;
    let history = top.history(line);
    let latest = &history[history.len().saturating_sub(SHOWN)..];
    let highest = latest.iter().copied().max().unwrap_or(0);
    if highest == 0 {
        return String::new();
    }
    let block = |value: &u64| BLOCKS[(u128::from(*value) * 7 / u128::from(highest)) as usize];
    latest.iter().map(block).collect()
}

fn table(frame: &mut Frame, top: &Top, theme: &Theme, area: Rect) {
    let columns: Vec<&Column> = COLUMNS.iter().filter(|column| column.from <= area.width).collect();
    let head = |column: &&Column| {
        let ordered = column.head == top.order.word();
        Cell::from(if ordered { format!("{}*", column.head) } else { column.head.to_string() })
    };
    let row = |line: &Line| {
        let style = if matches!(line.steered, Steered::Cubic(_)) { theme.cubic } else { Style::new() };
        Row::new(columns.iter().map(|column| Cell::from((column.says)(top, line)))).style(style)
    };
    let widths = columns.iter().map(|column| Constraint::Length(column.width));
    let table = Table::new(top.lines.iter().map(row), widths)
        .header(Row::new(columns.iter().map(head)).style(theme.head))
        .row_highlight_style(theme.chosen)
        .column_spacing(1);
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(top.chosen()));
}

fn detail(frame: &mut Frame, top: &Top, line: &Line, theme: &Theme, area: Rect) {
    let graph = if area.height > GRAPH_ROWS + 8 { GRAPH_ROWS } else { 0 };
    let [words, sparks] = Layout::vertical([Constraint::Min(3), Constraint::Length(graph)]).areas(area);
    let title = format!("{} {}", line.address.local(), line.address.remote());
    let facts = match &line.steered {
        Steered::Rapid(report) => of_report(report, top.now_ns),
        Steered::Cubic(fallen) => vec![
            ("CUBIC for", time(top.now_ns.saturating_sub(fallen.at_ns))),
            ("because", because(fallen.why()).to_string()),
            ("packets", format!("{} before", fallen.packets)),
            ("rate", if fallen.rate > 0 { rate(fallen.rate) } else { "not yet set".to_string() }),
            ("rtt", time(fallen.srtt_ns)),
            ("cwnd", format!("{} packets", fallen.cwnd)),
        ],
    };
    let facts = facts.into_iter().map(|(name, value)| Words::from(format!("{name:<10}{value}")));
    let lines: Vec<Words> = std::iter::once(Words::styled(title, theme.head)).chain(facts).collect();
    frame.render_widget(Paragraph::new(lines), words);
    spark(frame, top.history(line), theme, sparks);
}

/// The least round trip, as the law counts it: shorter ones are the shortest to it.
fn least(report: &Report) -> String {
    let shorter = report.rtt_ns <= SHORTEST_ROUND_TRIP.nanos();
    format!("{}{}", time(report.rtt_ns), if shorter { " or less" } else { "" })
}

/// In eight lines: the space on a screen of 15.
fn of_report(report: &Report, now: u64) -> Vec<(&'static str, String)> {
    let gap = |part| report.gap_error_ns(part).map_or("-".to_string(), time);
    let stamped = 100.0 * part(report.stamped, report.delivered);
    let [application, receiver, window] = report.limited_ns.map(time);
    vec![
        ("does", format!("{} for {}", activity(report.activity()), time(now.saturating_sub(report.began_ns)))),
        ("rate", format!("{}, estimate {}", rate(report.rate), estimate(report))),
        ("rtt", format!("{}, least {}, queue {}", time(report.srtt_ns), least(report), time(report.queue_ns))),
        ("arrivals", format!("{}, {stamped:.1} % stamped, {} malformed", source(report.source()), report.malformed)),
        ("packets", format!("{} sent, {} lost, {} again", report.packets, report.lost, report.retransmitted)),
        ("gaps", format!("late by {} (p50), {} (p95), {} bursts", gap(0.5), gap(0.95), report.bursts)),
        ("limited", format!("app {application}, receiver {receiver}, window {window}")),
        ("streams", format!("{}, {} unusable, rate capped {} times", report.streams, report.unusable, report.capped)),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::state::{Key, Order, Top};
    use super::*;
    use linux::tcp::{Address, Counters, Fallen, Status};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::buffer::Buffer;
    use std::collections::BTreeSet;

    fn address(number: usize) -> Address {
        let [local, remote] = [1, 2].map(|net| format!("10.0.{net}.{number}:443").parse().expect("an address"));
        Address::between(local, remote)
    }

    /// A connection that sends with this rate in Mbit/s.
    fn report(number: usize, mbit: u64) -> Report {
        Report {
            address: address(number),
            mode: 1,
            source: 1,
            startup: 0,
            waiting: 0,
            began_ns: 1,
            acked_ns: 0,
            rate: mbit * 125_000,
            available: mbit * 125_000,
            estimated_ns: 5,
            queue_ns: 300_000,
            queue_max_ns: 0,
            rtt_ns: 40_000_000,
            srtt_ns: 41_000_000 + number as u64 * 1_000_000,
            packets: 5000,
            bytes: 0,
            delivered: 4900,
            stamped: 4851,
            lost: 7 * number as u64,
            retransmitted: 9,
            streams: 80,
            unusable: 3,
            capped: 2,
            bursts: 0,
            malformed: 0,
            unlogged: 0,
            limited_ns: [1_500_000_000, 0, 0],
            gap_error: [0; 64],
        }
    }

    /// Three connections: rates 5, 20, and one that only receives; and a fourth, which CUBIC has.
    fn status() -> Status {
        let mut receives = report(3, 6);
        receives.packets = 0;
        let fallen =
            Fallen { at_ns: 7, packets: 85, rate: 0, srtt_ns: 9_000_000, cwnd: 10, ssthresh: 9, reason: 2, source: 0 };
        Status {
            flows: 256,
            window: 3584,
            memory: 42 << 20,
            off: false,
            draining: false,
            connections: vec![report(1, 5), report(2, 20), receives],
            slots: vec![1, 2, 3],
            fallen: vec![(address(4), fallen), (address(5), fallen)],
            open: BTreeSet::from([address(4)]),
            unlisted: None,
            counters: Counters { begun: 12, steered: 9, ended: 9, timeouts: 2, undone: 1, ..Counters::default() },
            now_ns: 2_000_000_007,
        }
    }

    fn top() -> Top {
        let mut top = Top::new("rapid");
        top.take(&status());
        top
    }

    fn screen(top: &Top, theme: &Theme, width: u16, height: u16) -> Buffer {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal.draw(|frame| draw(frame, top, theme)).expect("draws");
        terminal.backend().buffer().clone()
    }

    fn lines(buffer: &Buffer) -> Vec<String> {
        let width = usize::from(buffer.area.width);
        let cells: Vec<&str> = buffer.content.iter().map(|cell| cell.symbol()).collect();
        cells.chunks(width).map(|row| row.concat().trim_end().to_string()).collect()
    }

    #[test]
    fn at_80_by_24_the_fastest_connection_comes_first_and_the_keys_last() {
        let shown = lines(&screen(&top(), &Theme::coloured(), 80, 24));
        assert_eq!(shown[0], "rapid  3 of 256 connections  25.00 Mbit/s");
        assert_eq!(shown[1], "begun 12, steered 9, taken over by CUBIC 0");
        assert_eq!(shown[3], "timeouts 2 (undone 1), guard 0, ceased 0, distrusted 0");
        assert_eq!(shown[7], "remote                does     rate*         queue    rtt      lost   trend");
        assert_eq!(shown[8], "10.0.2.2:443          rapid    20.00 Mbit/s  300.0 us 43.0 ms  14     █");
        assert_eq!(shown[9], "10.0.2.1:443          rapid    5.00 Mbit/s   300.0 us 42.0 ms  7      █");
        let rest = [shown[10].as_str(), shown[11].as_str(), shown[12].as_str()];
        assert_eq!(rest[0], "10.0.2.3:443          receives -             -        44.0 ms  -");
        assert_eq!(rest[1], "10.0.2.4:443          cubic    -             -        9.0 ms   -");
        assert_eq!(rest[2], "", "omits ended connections");
        assert_eq!(shown[23], "Up/Down choose  Enter open  s sort  q quit");
    }

    #[test]
    fn totals_report_missing_kernel_list() {
        let mut top = top();
        top.take(&Status { open: BTreeSet::new(), unlisted: Some("EPERM".to_string()), ..status() });
        let shown = lines(&screen(&top, &Theme::plain(), 60, 15));
        assert_eq!(shown[1], "begun 12, steered 9, taken over by CUBIC 0 (not listed)");
    }

    #[test]
    fn at_60_by_15_nothing_is_cut_off() {
        let shown = lines(&screen(&top(), &Theme::plain(), 60, 15));
        assert_eq!(shown[2], "limited: app 0 s, receiver 0 s, window 0 s");
        assert_eq!(shown[5], "remote                does     rate*         rtt      lost");
        assert_eq!(shown[6], "10.0.2.2:443          rapid    20.00 Mbit/s  43.0 ms  14");
        assert_eq!(shown[14], "Up/Down choose  Enter open  s sort  q quit");
        let mut top = top();
        top.press(Key::Open);
        let shown = lines(&screen(&top, &Theme::plain(), 60, 15));
        assert_eq!(shown[5], "10.0.1.2:443 10.0.2.2:443");
        assert_eq!(shown[6], "does      rapid for 2.0 s");
        assert_eq!(shown[12], "limited   app 1.5 s, receiver 0 s, window 0 s");
        assert_eq!(shown[13], "streams   80, 3 unusable, rate capped 2 times");
        assert_eq!(shown[14], "Enter back  q quit");
    }

    #[test]
    fn smaller_terminals_are_drawn_without_a_panic() {
        let mut top = top();
        for open in [false, true] {
            top.open = open;
            for (width, height) in [(1, 1), (10, 3), (30, 8), (200, 60)] {
                screen(&top, &Theme::coloured(), width, height);
            }
        }
    }

    #[test]
    fn keys_choose_open_and_sort() {
        let mut top = top();
        assert_eq!(top.chosen(), None);
        assert!(top.press(Key::Down));
        assert_eq!(top.chosen(), Some(0));
        top.press(Key::Down);
        assert_eq!(top.lines[1].rate(), Some(5 * 125_000));
        top.press(Key::Sort);
        // By round trip the slowest is first, and the choice stays with its connection.
        assert_eq!((top.order, top.chosen()), (Order::RoundTrip, Some(2)));
        assert_eq!(top.lines[0].srtt_ns(), 44_000_000);
        for _ in 0..9 {
            top.press(Key::Down);
        }
        assert_eq!(top.chosen(), Some(3));
        top.press(Key::Open);
        assert!(top.open);
        let shown = lines(&screen(&top, &Theme::plain(), 80, 24));
        assert!(shown.contains(&"because   the peer reports no arrival times".to_string()), "{shown:#?}");
        // It ends: the table is back.
        top.take(&Status { open: BTreeSet::new(), ..status() });
        assert_eq!((top.open, top.chosen()), (false, None));
        assert!(!top.press(Key::Quit));
    }

    #[test]
    fn trend_shows_latest_rates() {
        let mut top = Top::new("rapid");
        for mbit in [1, 2, 4, 8] {
            top.take(&Status { connections: vec![report(1, mbit)], ..status() });
        }
        // 7 eighths of the highest: 0.875, 1.75, 3.5 and 7, rounded down.
        assert_eq!(trend(&top, &top.lines[0]), "▁▂▄█");
        assert_eq!(top.sum, [1, 2, 4, 8].map(|mbit| mbit * 125_000));
    }

    #[test]
    fn an_address_that_is_too_long_keeps_its_port() {
        let short = |text: &str| fitting(text.parse().expect("an address"));
        assert_eq!(short("255.255.255.255:65535"), "255.255.255.255:65535");
        assert_eq!(short("[2001:db8::7:1234]:443"), "…001:db8::7:1234]:443");
        assert_eq!(short("[2001:db8::7:1234]:443").chars().count(), 21);
    }

    #[test]
    fn marks_a_round_trip_at_the_floor() {
        let report = |rtt_ns| Report { rtt_ns, ..report(1, 5) };
        assert_eq!(least(&report(40_000_000)), "40.0 ms");
        assert_eq!(least(&report(20_000_000)), "20.0 ms or less");
    }

    #[test]
    fn without_colour_no_cell_has_one() {
        let coloured = |theme: &Theme| {
            let buffer = screen(&top(), theme, 80, 24);
            buffer.content.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
        };
        assert_eq!((coloured(&Theme::plain()), coloured(&Theme::coloured())), (false, true));
    }
}
