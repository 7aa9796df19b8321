//! Opens pages in headless Chromium.
#![allow(dead_code, missing_docs)]

use std::path::Path;
use std::process::{Command, Stdio};

/// Whether Chromium is installed. Its absence fails the test where `CI=true` promises it, and skips it elsewhere.
pub fn chromium() -> bool {
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
/// Headless Chromium makes no window narrower than 500 pixels. So a frame of the same origin, with this width,
/// opens the page; then the page replaces the document around it, for `--dump-dom` to print.
/// `visit` is a script that runs in between. It has `page`, the page's window, and `note(name, value)`, which sets an
/// attribute of the page's root.
pub fn open(page: &str, width: u32, visit: &str) -> (String, String) {
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
         async function visit(holder) {{
            const page = holder.contentWindow, root = page.document.documentElement;
            const note = (name, value) => root.setAttribute('data-' + name, value);
            // What is folded is drawn when it opens.
            page.document.querySelectorAll('details').forEach((fold) => {{ fold.open = true; }});
            await new Promise((done) => setTimeout(done, 200));
            {visit}
            document.documentElement.replaceWith(document.importNode(root, true));
         }}
         </script><iframe style=\"width:{width}px;height:2000px;border:0\" srcdoc=\"{page}\" onload=\"visit(this)\"></iframe>"
    )
}

pub fn flags(folder: &Path) -> Vec<String> {
    let fixed = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
                 --disable-component-update --disable-sync --virtual-time-budget=5000 --enable-logging=stderr --v=0 --dump-dom";
    let mut flags: Vec<String> = fixed.split_whitespace().map(String::from).collect();
    flags.push(format!("--user-data-dir={}", folder.join("profile").display()));
    flags.push("--window-size=1400,2400".to_string());
    flags
}

pub fn url(file: &Path) -> String {
    format!("file://{}", file.display())
}

/// Returns the value of `name` in the first tag that contains `tag`.
pub fn attribute<'a>(dom: &'a str, tag: &str, name: &str) -> Option<&'a str> {
    let opened = &dom[dom.find(tag)?..];
    let opened = &opened[..opened.find('>')?];
    let value = &opened[opened.find(&format!("{name}=\""))? + name.len() + 2..];
    Some(&value[..value.find('"')?])
}

/// A value noted by a visitor's script.
pub fn noted<'a>(dom: &'a str, log: &str, name: &str) -> &'a str {
    attribute(dom, "<html", &format!("data-{name}")).unwrap_or_else(|| panic!("no {name}: {log}"))
}
