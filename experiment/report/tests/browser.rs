//! Opens the page in headless Chromium: every picture is drawn, no error is logged, nothing overflows.

mod example;

use results::Results;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether Chromium is installed. Its absence fails the test where `CI=true` promises it, and skips it elsewhere.
fn chromium() -> bool {
    let found = Command::new("chromium").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "chromium is not installed, and CI needs it");
    eprintln!("skipped: chromium is not installed");
    false
}

/// Returns the page after its script has run at this width, and the browser's log.
///
/// Headless Chromium makes no window narrower than 500 pixels. So a frame of the same origin, with the wanted width,
/// opens the page; then the page replaces the document around it, for `--dump-dom` to print.
/// `visit` is a script that runs in between. It has `page`, the page's window, and `note(name, value)`, which puts an
/// attribute on the page's root.
fn open(page: &str, width: u32, visit: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, framed(page, width, visit)).unwrap();
    let output = Command::new("chromium").args(flags(folder.path())).arg(url(&file)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn framed(page: &str, width: u32, visit: &str) -> String {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!doctype html><meta charset=\"utf-8\"><script>
         function visit(holder) {{
            const page = holder.contentWindow, root = page.document.documentElement;
            const note = (name, value) => root.setAttribute('data-' + name, value);
            {visit}
            document.documentElement.replaceWith(document.importNode(root, true));
         }}
         </script><iframe style=\"width:{width}px;height:2000px;border:0\" srcdoc=\"{page}\" onload=\"visit(this)\"></iframe>"
    )
}

fn flags(folder: &Path) -> Vec<String> {
    let fixed = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
                 --disable-component-update --disable-sync --virtual-time-budget=5000 --enable-logging=stderr --v=0 --dump-dom";
    let mut flags: Vec<String> = fixed.split_whitespace().map(String::from).collect();
    flags.push(format!("--user-data-dir={}", folder.join("profile").display()));
    flags.push("--window-size=1400,2400".to_string());
    flags
}

fn url(file: &Path) -> String {
    format!("file://{}", file.display())
}

/// Returns the value of `name` in the first tag that contains `tag`.
fn attribute<'a>(dom: &'a str, tag: &str, name: &str) -> Option<&'a str> {
    let opened = &dom[dom.find(tag)?..];
    let opened = &opened[..opened.find('>')?];
    let value = &opened[opened.find(&format!("{name}=\""))? + name.len() + 2..];
    Some(&value[..value.find('"')?])
}

/// Draws `results` at `width` and checks everything that must hold for any page.
fn check(results: &Results, width: u32, figures: &[&str]) {
    check_page(&packetscale_report::page(results), width, figures);
}

fn check_page(page: &str, width: u32, figures: &[&str]) {
    let (dom, log) = open(page, width, "");
    assert_eq!(attribute(&dom, "<html", "data-errors"), Some("[]"), "at {width}: {log}");
    assert!(!log.contains("CONSOLE"), "{log}");
    assert_eq!(attribute(&dom, "<html", "data-fits"), Some("true"), "the page is wider than {width}");
    assert_eq!(attribute(&dom, "<html", "data-width"), Some(width.to_string().as_str()));
    for figure in figures {
        let drawn = attribute(&dom, &format!("<figure data-figure=\"{figure}\""), "data-drawn");
        let points: usize = drawn.and_then(|d| d.parse().ok()).unwrap_or(0);
        assert!(points > 0, "{figure} is not drawn at {width}: {drawn:?}");
    }
    let present = dom.matches("<figure data-figure=").count();
    assert_eq!(present, figures.len(), "figures that nobody expected");
}

const DEMO: [&str; 11] =
    ["tradeoff", "throughput", "shares", "rate", "queue", "ccdf", "rtt", "window", "losses", "stream", "stream-delay"];
const SWEEP: [&str; 12] = [
    "tradeoff",
    "sweep",
    "throughput",
    "shares",
    "rate",
    "queue",
    "ccdf",
    "rtt",
    "window",
    "losses",
    "stream",
    "stream-delay",
];

#[test]
fn the_demo_is_drawn_on_a_desktop_and_on_a_phone() {
    if chromium() {
        check(&example::demo(), 1280, &DEMO);
        check(&example::demo(), 390, &DEMO);
    }
}

#[test]
fn a_sweep_is_drawn() {
    if chromium() {
        check(&example::sweep(), 1280, &SWEEP);
    }
}

#[test]
fn hostile_names_are_drawn_as_text_and_run_nothing() {
    if chromium() {
        check(&example::hostile(), 390, &DEMO[1..]);
    }
}

#[test]
fn the_pictures_of_a_paper_are_drawn_on_a_desktop_and_on_a_phone() {
    if chromium() {
        for paper in [example::paper(), example::hostile_paper()] {
            let page = packetscale_report::paper_page(&paper);
            check_page(&page, 1280, &["picture-0", "picture-1"]);
            check_page(&page, 390, &["picture-0", "picture-1"]);
        }
    }
}

#[test]
fn no_runs_give_a_page_without_errors() {
    if chromium() {
        check(&example::empty(), 390, &[]);
    }
}

/// Acts like a reader: reads a value, zooms by key and by drag, goes back, chooses another replication. It acts where
/// all three flows are active (after 40 s, 733 pixels from the left), so that the points seen are in proportion to
/// time.
const READER: &str = r#"
    const figure = page.document.querySelector('[data-figure="throughput"]');
    const frame = () => figure.querySelector('.frame');
    const drawn = () => Number(figure.dataset.drawn), all = drawn();
    const box = frame().getBoundingClientRect();
    const pointer = (type, x) => frame().dispatchEvent(
        new page.PointerEvent(type, { clientX: box.left + x, clientY: box.top + 20, bubbles: true, button: 0 }));
    pointer('pointermove', 850);
    note('value', figure.querySelector('output').textContent);
    frame().dispatchEvent(new page.KeyboardEvent('keydown', { key: '+' }));
    note('key', drawn() / all);
    frame().dispatchEvent(new page.MouseEvent('dblclick'));
    note('back', drawn() / all);
    pointer('pointerdown', 760); pointer('pointermove', 800); pointer('pointerup', 960);
    note('drag', drawn() / all);
    note('button', page.document.getElementById('reset').hidden);
    page.document.getElementById('reset').click();
    note('again', drawn() / all);
    const path = () => figure.querySelector('path.heavy[clip-path], g path.heavy').getAttribute('d'), before = path();
    const select = page.document.getElementById('replication');
    select.value = '1';
    select.dispatchEvent(new page.Event('change'));
    note('replaced', path() !== before);
"#;

#[test]
fn a_reader_can_zoom_go_back_read_values_and_choose_a_replication() {
    if !chromium() {
        return;
    }
    let (dom, log) = open(&packetscale_report::page(&example::demo()), 1280, READER);
    let noted =
        |name: &str| attribute(&dom, "<html", &format!("data-{name}")).unwrap_or_else(|| panic!("no {name}: {log}"));
    let share = |name: &str| noted(name).parse::<f64>().unwrap();
    assert!(noted("value").ends_with("bit/s"), "{}", noted("value"));
    assert!((share("key") - 0.5).abs() < 0.02, "one key press shows {} of the time, not half", share("key"));
    assert_eq!(share("back"), 1.0, "a double click shows the whole run");
    // 200 of the 1012 pixels between the axes: a page of 1120 less its margins of 40 and the figure's of 68.
    assert!((share("drag") - 200.0 / 1012.0).abs() < 0.02, "{}", share("drag"));
    assert_eq!((noted("button"), share("again"), noted("replaced")), ("false", 1.0, "true"));
    assert_eq!(attribute(&dom, "<html", "data-errors"), Some("[]"));
}
