//! Opens the page in headless Chromium: draws every picture, without logged errors and overflow.

mod chromium;
mod example;

use chromium::{attribute, chromium, noted, open};
use experiment::results::Results;

/// Draws a page and checks everything that must hold for any.
fn check(what: &str, page: &str, width: u32, figures: &[&str]) {
    let (dom, log) = open(page, width, "");
    assert_eq!(attribute(&dom, "<html", "data-errors"), Some("[]"), "{what} at {width}: {log}");
    assert!(!log.contains("CONSOLE"), "{what}: {log}");
    let drawing = dom.split("<body>").nth(1).and_then(|body| body.split("<script").next()).unwrap_or_default();
    assert!(!drawing.contains("NaN") && !drawing.contains("Infinity"), "{what}: a number that is none");
    assert_eq!(attribute(&dom, "<html", "data-fits"), Some("true"), "{what}: the page is wider than {width}");
    assert_eq!(attribute(&dom, "<html", "data-width"), Some(width.to_string().as_str()), "{what}");
    for figure in figures {
        let drawn = attribute(&dom, &format!("<figure data-figure=\"{figure}\""), "data-drawn");
        let points: usize = drawn.and_then(|d| d.parse().ok()).unwrap_or(0);
        assert!(points > 0, "{what}: {figure} is not drawn at {width}: {drawn:?}");
    }
    let present = dom.matches("<figure data-figure=").count();
    assert_eq!(present, figures.len(), "{what}: figures that nobody expected");
}

/// The pictures of one controller's runs, and what precedes them where there are several.
const CURVES: [&str; 10] =
    ["throughput", "shares", "rate", "delay", "ccdf", "rtt", "window", "losses", "stream", "stream-delay"];

#[test]
fn draws_every_kind_of_page_at_both_widths() {
    if !chromium() {
        return;
    }
    let page = |results: Results| report::page(&results);
    let curves = |before: &[&'static str], after: &[&'static str]| [before, &CURVES, after].concat();
    for (what, page, figures) in [
        ("demo", page(example::demo()), curves(&["tradeoff"], &[])),
        ("completions", page(example::arrivals()), curves(&["completions", "sizes", "tradeoff"], &[])),
        ("packets", page(example::packets()), curves(&["flow-tradeoff"], &["queues", "flight", "sequence"])),
        ("sweep", page(example::sweep()), curves(&["tradeoff", "sweep"], &[])),
        ("sweep without curves", page(without_curves()), vec!["tradeoff", "sweep"]),
        ("hostile names", page(example::hostile()), CURVES.to_vec()),
        ("no queue at all", page(without_queue()), curves(&["tradeoff"], &[])),
        ("no runs", page(example::empty()), vec![]),
        ("paper", report::paper_page(&example::paper()), vec!["picture-0", "picture-1"]),
        ("hostile paper", report::paper_page(&example::hostile_paper()), vec!["picture-0", "picture-1"]),
    ] {
        for width in [1280, 390] {
            check(what, &page, width, &figures);
        }
    }
}

#[test]
fn draws_each_picture_on_its_own_page() {
    if !chromium() {
        return;
    }
    for results in [example::demo(), example::arrivals(), example::packets(), example::sweep()] {
        for name in report::pictures(&results) {
            let page = report::picture(&results, &name).unwrap();
            let pair = ["stream", "stream-delay"];
            let figures = if pair.contains(&name.as_str()) { pair.to_vec() } else { vec![name.as_str()] };
            check(&name, &page, 700, &figures);
        }
    }
}

fn without_curves() -> Results {
    let mut results = example::sweep();
    for run in &mut results.runs {
        (run.series, run.streams, run.queue_delay) = Default::default();
    }
    results
}

/// Every packet found an empty queue.
fn without_queue() -> Results {
    let mut results = example::demo();
    for run in &mut results.runs {
        let delays = run.series.iter_mut().filter(|series| series.metric.starts_with("queue_delay"));
        delays.flat_map(|series| &mut series.values).flatten().for_each(|delay| *delay = 0.0);
        run.queue_delay.count =
            std::iter::once(100).chain(std::iter::repeat(0)).take(run.queue_delay.count.len()).collect();
        let summary = &mut run.summary;
        (summary.queue_delay_mean_s, summary.queue_delay_p50_s) = (Some(0.0), Some(0.0));
        (summary.queue_delay_p95_s, summary.queue_delay_p99_s) = (Some(0.0), Some(0.0));
    }
    results
}

#[test]
fn sweep_without_curves_has_no_controls() {
    assert!(!report::page(&without_curves()).contains("class=\"controls\""));
}

/// Reads, in the picture of the links' queues, where the cells of the darkest shade begin and end; in that of packets, how
/// many dots each list has.
const LISTER: &str = r#"
    const host = (name) => page.document.querySelector(`[data-figure="${name}"]`);
    const rows = [...host('queues').querySelectorAll('g[aria-label="y-axis tick label"] text')].map((t) => t.textContent).reverse();
    note('rows', rows.join('; '));
    note('keys', [...host('queues').querySelectorAll('.key')].length);
    note('csv', page.eval('Save').csv(host('queues')).split('\n')[1]);
    const panel = host('sequence').querySelectorAll('.panel')[1];
    note('dots', [...panel.querySelectorAll('.frame g.dots')].map((dots) => dots.children.length).join());
    note('names', [...panel.querySelectorAll('.key span')].map((t) => t.textContent).join('; '));
"#;

#[test]
fn links_have_rows_and_packets_have_dots() {
    if !chromium() {
        return;
    }
    let (dom, log) = open(&report::page(&example::packets()), 1280, LISTER);
    let noted = |name: &str| noted(&dom, &log, name);
    assert_eq!(noted("rows"), "access; west; a link with a long n…; east", "a name that is too long is cut");
    assert_eq!(noted("keys"), "6", "shades");
    // The first link of the example has no queue.
    assert!(
        noted("csv").starts_with("Queueing delay (s),,access,") && noted("csv").ends_with(",0,,"),
        "{}",
        noted("csv")
    );
    assert_eq!(noted("names"), "acknowledged; sent; sent again; dropped or lost");
    let dots: Vec<usize> = noted("dots").split(',').map(|count| count.parse().unwrap()).collect();
    assert_eq!(dots[1..], [2, 2]);
}

/// The outline and the fill of each marker in the legends of a picture, whatever its colour.
fn markers<'a>(dom: &'a str, figure: &str) -> Vec<(&'a str, bool)> {
    let from = dom.split(&format!("<figure data-figure=\"{figure}\"")).nth(1).unwrap();
    let samples = from.split("</figure>").next().unwrap().split("class=\"sample\"").skip(1);
    let marker = |sample: &'a str| {
        let inside = sample.split("</svg>").next().unwrap();
        let path = inside.split(" d=\"").nth(1).and_then(|rest| rest.split('"').next());
        let outline = path.or_else(|| inside.contains("<circle").then_some("circle"))?;
        Some((outline, inside.contains("var(--paper)")))
    };
    samples.filter_map(marker).collect()
}

/// Two controllers, and eighteen more names of theirs.
#[test]
fn twenty_controllers_have_distinct_markers() {
    if chromium() {
        let mut results = example::sweep();
        let own = results.runs.clone();
        for copy in 1..10 {
            results.runs.extend(own.iter().cloned().map(|mut run| {
                run.controller = format!("{}-{copy}", run.controller);
                run
            }));
        }
        let (dom, _) = open(&report::page(&results), 1280, "");
        let mut drawn = markers(&dom, "sweep");
        assert_eq!(drawn.len(), 20);
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 20, "{drawn:?}");
    }
}

/// Acts like a reader: reads a value, zooms by key and by drag, goes back, chooses another replication. Checks the axis.
const READER: &str = r#"
    const figure = page.document.querySelector('[data-figure="throughput"]');
    const frame = () => figure.querySelector('.frame');
    const labels = () => [...frame().querySelectorAll('g[aria-label="x-axis tick label"] text')].map((t) => Number(t.textContent));
    const span = () => { const x = figureOf(); return x[1] - x[0]; };
    const figureOf = () => page.eval('View.all')[0].range;
    const all = span(), box = frame().getBoundingClientRect();
    const pointer = (type, x) => frame().dispatchEvent(
        new page.PointerEvent(type, { clientX: box.left + x, clientY: box.top + 60, bubbles: true, button: 0 }));
    const output = () => [...figure.querySelectorAll('output')].find((o) => o.previousElementSibling.textContent.includes('flow 0')).textContent;
    note('mean', output());
    pointer('pointermove', 850);
    note('value', output());
    frame().dispatchEvent(new page.KeyboardEvent('keydown', { key: '+' }));
    note('key', span() / all);
    frame().dispatchEvent(new page.MouseEvent('dblclick'));
    note('back', span() / all);
    pointer('pointerdown', 760); pointer('pointermove', 800); pointer('pointerup', 960);
    note('drag', span() / all);
    const lowest = figure.querySelectorAll('.frame')[2].querySelectorAll('g[aria-label="x-axis tick label"] text');
    note('ticks', JSON.stringify([...lowest].map((t) => Number(t.textContent))));
    const button = page.document.querySelector('.reset');
    note('button', button.hidden);
    button.click();
    note('again', span() / all);
    const path = () => figure.querySelector('path.curve, .curve path').getAttribute('d'), before = path();
    const select = page.document.querySelector('select.replication');
    select.value = '1';
    select.dispatchEvent(new page.Event('change'));
    note('replaced', path() !== before);
    note('alike', [...page.document.querySelectorAll('select.replication')].every((box) => box.value === '1'));
"#;

#[test]
fn reader_can_zoom_read_and_choose_replication() {
    if !chromium() {
        return;
    }
    let (dom, log) = open(&report::page(&example::demo()), 1280, READER);
    let noted = |name: &str| noted(&dom, &log, name);
    let share = |name: &str| noted(name).parse::<f64>().unwrap();
    assert!(noted("mean").starts_with("mean ") && noted("mean").ends_with("bit/s"), "{}", noted("mean"));
    assert!(!noted("value").contains("mean") && noted("value").ends_with("bit/s"), "{}", noted("value"));
    assert!((share("key") - 0.5).abs() < 0.02, "one key press shows {} of the time, not half", share("key"));
    assert_eq!(share("back"), 1.0, "a double click shows the whole run");
    // 200 of the 1014 pixels between the axes: a page of 1120 less its margins of 40 and the figure's of 66.
    assert!((share("drag") - 200.0 / 1014.0).abs() < 0.01, "{}", share("drag"));
    // From pixel 760 - 52 of 1014, at 41.9 s, to pixel 960 - 52, at 53.7 s.
    let ticks: Vec<f64> = serde_json::from_str(noted("ticks")).unwrap();
    assert!(ticks.len() > 2 && ticks[0] >= 41.8 && ticks[ticks.len() - 1] <= 53.8, "{ticks:?}");
    assert_eq!((noted("button"), share("again"), noted("replaced"), noted("alike")), ("false", 1.0, "true", "true"));
    assert_eq!(attribute(&dom, "<html", "data-errors"), Some("[]"));
}

/// Reads the throughput-delay picture: where its dots are, the labels of its axes, and what its buttons save.
const SAVER: &str = r#"
    const host = page.document.querySelector('[data-figure="tradeoff"]');
    const Save = page.eval('Save');
    const places = (g) => [...host.querySelectorAll(g)].map((e) => {
        const all = [...(e.getAttribute('transform') ?? '').matchAll(/translate\(([-\d.]+),([-\d.]+)\)/g)];
        return all.reduce(([x, y], m) => [x + Number(m[1]), y + Number(m[2])], [0, 0]);
    });
    const texts = (g) => [...host.querySelectorAll(g)].map((t) => Number(t.textContent));
    const axis = (c, at) => places(`g[aria-label="${c}-axis tick label"] text`).map((place, i) => [place[at], texts(`g[aria-label="${c}-axis tick label"] text`)[i]]);
    note('xs', JSON.stringify(axis('x', 0)));
    note('ys', JSON.stringify(axis('y', 1)));
    note('titles', [...host.querySelectorAll('g[aria-label$="axis label"] text')].map((t) => t.textContent).sort().join('; '));
    note('dots', JSON.stringify([...host.querySelectorAll('g.dots circle')].map((c) => [Number(c.getAttribute('cx')), Number(c.getAttribute('cy'))])));
    note('csv', Save.csv(host).replaceAll('\n', '|'));
    const svg = new page.DOMParser().parseFromString(Save.svg(host), 'image/svg+xml');
    note('svg', [svg.querySelectorAll('parsererror').length, svg.querySelectorAll('circle').length > 0, /var\(|oklab|light-dark|NaN/.test(Save.svg(host))].join());
"#;

/// Returns delays and throughputs of the written table, in the order of the runs.
fn written(results: &Results) -> Vec<(f64, f64)> {
    let folder = tempfile::tempdir().unwrap();
    experiment::results::write(results, folder.path()).unwrap();
    let text = std::fs::read_to_string(folder.path().join("runs.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |name: &str| head.iter().position(|column| *column == name).unwrap();
    let (delay, throughput) = (column("queue_delay_mean_s"), column("throughput_bps"));
    lines.map(|line| (line[delay].parse().unwrap(), line[throughput].parse().unwrap())).collect()
}

/// Two ticks give the line from a place on the axis to a value.
fn value(ticks: &[(f64, f64)], at: f64) -> f64 {
    let ((a, x), (b, y)) = (ticks[0], ticks[ticks.len() - 1]);
    x + (at - a) * (y - x) / (b - a)
}

#[test]
fn drawn_and_saved_numbers_match_table() {
    if !chromium() {
        return;
    }
    let mut results = example::demo();
    results.runs.retain(|run| run.controller != "rapid");
    for (number, run) in results.runs.iter_mut().enumerate() {
        run.summary.queue_delay_mean_s = Some(1e-3 + number as f64 * 0.37e-3);
    }
    let expected = written(&results);
    let (dom, log) = open(&report::page(&results), 1280, SAVER);
    let noted = |name: &str| noted(&dom, &log, name).replace("&quot;", "\"");
    assert_eq!(noted("titles"), "Queueing, mean (ms); Throughput (Gbit/s)");
    let pairs = |name: &str| serde_json::from_str::<Vec<(f64, f64)>>(&noted(name)).unwrap();
    let (xs, ys, dots) = (pairs("xs"), pairs("ys"), pairs("dots"));
    assert_eq!(dots.len(), expected.len());
    for ((x, y), (delay, throughput)) in dots.iter().zip(&expected) {
        // A pixel is about 3 us and 25 Mbit/s; places are written to a tenth of one.
        assert!((value(&xs, *x) * 1e-3 - delay).abs() < 1e-6, "{x} is {} ms, not {delay} s", value(&xs, *x));
        assert!((value(&ys, *y) * 1e9 - throughput).abs() < 1e7, "{y} is {} Gbit/s, not {throughput}", value(&ys, *y));
    }
    let csv = noted("csv");
    let rows: Vec<Vec<&str>> =
        csv.split('|').skip(1).filter(|row| !row.is_empty()).map(|row| row.split(',').collect()).collect();
    let saved: Vec<(f64, f64)> = rows.iter().map(|row| (row[3].parse().unwrap(), row[4].parse().unwrap())).collect();
    assert_eq!(saved, expected);
    assert_eq!(noted("svg"), "0,true,false");
}

/// Reads a sweep by keys and by pointer.
const SWEPT: &str = r#"
    const frame = page.document.querySelector('[data-figure="sweep"] .frame');
    const keys = ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft'];
    note('said', keys.map((key) => {
        frame.dispatchEvent(new page.KeyboardEvent('keydown', { key }));
        return page.document.getElementById('said').textContent.match(/path.buffer = ([^:]*)/)[1];
    }).join('; ').replaceAll('\u00a0', ' '));
    const box = frame.getBoundingClientRect(), seen = new Set();
    for (let x = 60; x < box.width - 20; x += 7) {
        frame.dispatchEvent(new page.PointerEvent('pointermove', { clientX: box.left + x, clientY: box.top + 60, bubbles: true }));
        seen.add(page.document.querySelector('[data-figure="sweep"] .where').textContent.split(' = ')[1].replaceAll('\u00a0', ' '));
    }
    note('seen', [...seen].join('; '));
"#;

#[test]
fn sweep_reads_only_values_that_were_run() {
    if !chromium() {
        return;
    }
    let (dom, log) = open(&report::page(&example::sweep()), 1280, SWEPT);
    let said = "5 packets; 10 packets; 20 packets; 40 packets; 40 packets; 20 packets";
    assert_eq!(noted(&dom, &log, "said"), said);
    assert_eq!(noted(&dom, &log, "seen"), "5 packets; 10 packets; 20 packets; 40 packets");
}

/// Saves a picture as PNG and reads it: its size, and whether there is ink where its heading, its caption and its
/// legend are.
const PNG: &str = r#"
    const host = page.document.querySelector('[data-figure="throughput"]'), Save = page.eval('Save');
    const png = await Save.png(host), image = new page.Image();
    await new Promise((done) => { image.onload = done; image.src = page.URL.createObjectURL(png); });
    note('png', [png.type, png.size > 1000].join());
    note('size', [image.width, image.height].join());
    const svg = new page.DOMParser().parseFromString(Save.svg(host), 'image/svg+xml').documentElement;
    note('expected', [2 * svg.getAttribute('width'), 2 * svg.getAttribute('height')].join());
    const canvas = page.document.createElement('canvas'), pen = canvas.getContext('2d', { willReadFrequently: true });
    [canvas.width, canvas.height] = [image.width, image.height];
    pen.drawImage(image, 0, 0);
    const inked = (element) => {
        const box = element.getBoundingClientRect(), frame = host.getBoundingClientRect();
        const place = [box.left - frame.left + 12, box.top - frame.top + 12, box.width, box.height].map((v) => Math.round(2 * v));
        const { data } = pen.getImageData(...place);
        return data.some((value, i) => i % 4 < 3 && Math.abs(value - data[i % 4]) > 100);
    };
    const shown = (name) => [...host.querySelectorAll(name)].find((element) => element.textContent && element.getBoundingClientRect().width > 0);
    note('ink', ['h3', 'figcaption p', '.key > span', '.key output', '.frame'].map((name) => inked(shown(name))).join());
"#;

#[test]
fn saved_png_has_double_size_caption_and_legend() {
    if !chromium() {
        return;
    }
    let (dom, log) = open(&report::page(&example::demo()), 1280, PNG);
    assert_eq!(noted(&dom, &log, "png"), "image/png,true");
    assert_eq!(noted(&dom, &log, "size"), noted(&dom, &log, "expected"));
    // A page of 1120 less its margins of 40, and 12 pixels to either side.
    assert!(noted(&dom, &log, "size").starts_with(&format!("{},", 2 * (1120 - 40 + 2 * 12))));
    assert_eq!(noted(&dom, &log, "ink"), "true,true,true,true,true");
}
