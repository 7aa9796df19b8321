//! Modules of one crate use each other one way: no module uses, through others, one that uses it.

use std::collections::{BTreeMap, BTreeSet};

/// For each module, the sibling modules that it names.
pub type Uses = BTreeMap<String, BTreeSet<String>>;

/// Reads the modules in `folder` of a crate, with path `place` (`crate::`, `crate::results::`), from its files: their
/// paths and texts. A module and what is inside it are one; the root of the folder is none.
pub fn uses(folder: &str, place: &str, files: &[(String, String)]) -> Uses {
    let start = format!("{folder}/");
    let inside: Vec<(&str, &str)> =
        files.iter().filter_map(|(path, text)| Some((top(path.strip_prefix(&start)?)?, text.as_str()))).collect();
    let modules: BTreeSet<&str> = inside.iter().map(|(module, _)| *module).collect();
    let mut uses = Uses::new();
    for (module, text) in inside {
        let named = named(text, place).into_iter().filter(|name| *name != module && modules.contains(name));
        uses.entry(module.to_string()).or_default().extend(named.map(str::to_string));
    }
    uses
}

/// The top module of a file; the crate's root has none.
fn top(path: &str) -> Option<&str> {
    let first = path.split('/').next()?;
    let module = first.strip_suffix(".rs").unwrap_or(first);
    (!["lib", "main", "mod"].contains(&module)).then_some(module)
}

/// The names right after `place`, alone or in braces. Tests, which come last in a file, may use anything.
fn named<'a>(text: &'a str, place: &str) -> Vec<&'a str> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let after = code.iter().flat_map(|line| line.split(place).skip(1));
    let mut found: Vec<&str> = after.map(first_word).filter(|word| !word.is_empty()).collect();
    for group in text.split(&format!("{place}{{")).skip(1) {
        let group = group.split('}').next().unwrap_or_default();
        found.extend(group.split(',').map(|item| first_word(item.trim())));
    }
    found
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// A circle of modules for each module that is in one, as a path from the module back to itself.
pub fn circles(folder: &str, uses: &Uses) -> Vec<String> {
    let circle = |module: &String| {
        let path = way_back(uses, module)?;
        Some(format!("{folder}: {} use each other in a circle", path.join(" -> ")))
    };
    uses.keys().filter_map(circle).collect()
}

/// The shortest way from a module back to itself.
fn way_back<'a>(uses: &'a Uses, module: &'a str) -> Option<Vec<&'a str>> {
    let mut ways = vec![vec![module]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in uses.get(*way.last()?).into_iter().flatten() {
                let way = [way.as_slice(), &[next.as_str()]].concat();
                if next == module {
                    return Some(way);
                }
                if seen.insert(next) {
                    longer.push(way);
                }
            }
        }
        ways = longer;
    }
    None
}
