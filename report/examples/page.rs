//! Writes a page to the file named on the command line, for viewing: the example of the name that follows, or the page of
//! the folders that follow.
#[path = "../tests/example/mod.rs"]
mod example;
#[path = "../tests/example/pages.rs"]
mod pages;

use std::path::Path;

type Done = Result<(), Box<dyn std::error::Error>>;

fn main() -> Done {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().unwrap_or_else(|| "report.html".to_string());
    let wanted: Vec<String> = arguments.collect();
    let example = pages::pages().into_iter().find(|(name, _)| wanted.first().is_none_or(|wanted| wanted == name));
    let page = match example {
        Some((_, page)) => page,
        None => {
            let named =
                |folder: &String| experiment::results::read(Path::new(folder)).map(|results| (folder.clone(), results));
            let all = wanted.iter().map(named).collect::<Result<Vec<_>, _>>()?;
            if let [(_, alone)] = all.as_slice() { report::page(alone) } else { report::overlaid_page(&all) }
        }
    };
    Ok(std::fs::write(file, page)?)
}
