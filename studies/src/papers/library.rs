//! The collection of papers: compiled into the program, or in a folder.
//!
//! Papers are compiled in so that an installed command can reproduce them without the source tree. A path is read from
//! the disk, for authors of figures and private papers.

use crate::papers::error::PaperError;
use crate::papers::figure::Figure;
use crate::papers::file::{Conclusion, FigureFile, PaperFile, Table};
use crate::papers::table::NamedCell;
use include_dir::{Dir, include_dir};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../papers");
/// Recordings that figures replay.
static TRACES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../scenarios/traces");
/// The folder's name in figures.
const TRACES_AT: &str = "../../scenarios/traces";

const ABOUT: &str = "paper.toml";
/// Shared part of the paper's scenarios; not a figure.
const TESTBED: &str = "testbed.toml";
/// The folders of the scenarios that figures name, and of results obtained earlier.
const FOLDERS: [&str; 2] = [SCENARIOS, "recorded"];
const SCENARIOS: &str = "scenarios";

/// A paper: its description, and the texts of its folder.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Name of its folder.
    pub name: String,
    about: PaperFile,
    /// The folder's name in messages.
    folder: PathBuf,
    /// The TOML files next to `paper.toml` and in its [`FOLDERS`], by path from the folder.
    files: BTreeMap<String, String>,
}

/// All papers of the program.
#[derive(Debug)]
pub struct Library {
    papers: Vec<Paper>,
}

impl Library {
    /// Returns the compiled-in papers, by name.
    ///
    /// # Errors
    /// A paper that cannot be read.
    pub fn embedded() -> Result<Library, PaperError> {
        let mut papers = Vec::new();
        for folder in EMBEDDED.dirs() {
            let inner = FOLDERS.iter().filter_map(|name| folder.get_dir(folder.path().join(name)));
            let files = folder.files().chain(inner.flat_map(Dir::files));
            let named = files.filter_map(|file| {
                let name = file.path().strip_prefix(folder.path()).ok()?.to_str()?.to_string();
                Some((name, file.contents_utf8()?.to_string()))
            });
            papers.push(Paper::new(&Path::new("papers").join(folder.path()), named.collect())?);
        }
        papers.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Library { papers })
    }

    /// Returns all papers.
    pub fn papers(&self) -> &[Paper] {
        &self.papers
    }

    /// Returns the paper and the figures that `PAPER` or `PAPER/FIGURE` names.
    ///
    /// # Errors
    /// An unknown name; the message lists the known ones.
    pub fn find(&self, name: &str) -> Result<(Paper, Vec<String>), PaperError> {
        let (paper, figure) = name.split_once('/').map_or((name, None), |(paper, figure)| (paper, Some(figure)));
        let Some(found) = self.papers.iter().find(|known| known.name == paper) else {
            let names: Vec<&str> = self.papers.iter().map(|paper| paper.name.as_str()).collect();
            let expected = format!("one of {}, or a path that ends in .toml", names.join(", "));
            return Err(PaperError::about(name, format!("found no paper \"{paper}\"; expected {expected}")));
        };
        found.select(figure.filter(|figure| !figure.is_empty())).map(|figures| (found.clone(), figures))
    }
}

impl Paper {
    fn new(folder: &Path, mut files: BTreeMap<String, String>) -> Result<Paper, PaperError> {
        let name = folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        let path = folder.join(ABOUT).display().to_string();
        let text = files.remove(ABOUT).ok_or_else(|| PaperError::about(&path, "is missing; it describes the paper"))?;
        let about = toml::from_str(&text).map_err(|error| PaperError::toml(&path, &text, &error))?;
        files.retain(|name, _| name.ends_with(".toml"));
        Ok(Paper { name, about, folder: folder.to_path_buf(), files })
    }

    /// Returns the paper of a folder, or of one figure's file, and the selected figures.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read(path: &Path) -> Result<(Paper, Vec<String>), PaperError> {
        let (folder, file) =
            if path.is_dir() { (path, None) } else { (path.parent().unwrap_or(path), path.file_stem()) };
        let shown = |error: std::io::Error| PaperError::about(&path.display().to_string(), error);
        let inside = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let mut files = BTreeMap::new();
        read_folder(inside, "", &mut files)?;
        for name in FOLDERS.iter().filter(|name| inside.join(name).is_dir()) {
            read_folder(&inside.join(name), &format!("{name}/"), &mut files)?;
        }
        let absolute = inside.canonicalize().map_err(shown)?;
        let mut paper = Paper::new(&absolute, files)?;
        paper.folder = folder.to_path_buf();
        let figures = paper.select(file.and_then(|stem| stem.to_str()))?;
        Ok((paper, figures))
    }

    /// Returns the paper with the recordings that its figures replay. They come from the place of its folder. If they
    /// are not there, because the program may be installed anywhere, the compiled-in ones are written into the folder
    /// `into`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn with_traces(mut self, into: &Path) -> Result<Paper, PaperError> {
        let replayed = |name: &str| self.files.values().any(|text| text.contains(&format!("{TRACES_AT}/{name}")));
        if !replayed("") || self.folder.join(TRACES_AT).is_dir() {
            return Ok(self);
        }
        let refused = |error: std::io::Error| PaperError::about(&into.display().to_string(), error);
        let (folder, traces) = (into.join("papers").join(&self.name), into.join("scenarios/traces"));
        // Paths go up from the folder of a scenario, so that folder must exist.
        fs::create_dir_all(folder.join(SCENARIOS)).and_then(|()| fs::create_dir_all(&traces)).map_err(refused)?;
        for file in TRACES.files() {
            let name = file.path().to_string_lossy();
            if replayed(&name) {
                experiment::results::write_file(&traces, &name, |out| out.write_all(file.contents()))
                    .map_err(refused)?;
            }
        }
        self.folder = folder;
        Ok(self)
    }

    /// The names of its figures, the files next to `paper.toml`, with numbers in numeric order.
    pub fn figures(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.files.keys().filter(|name| !name.contains('/') && *name != TESTBED).map(|name| stem(name)).collect();
        names.sort_by_key(|name| counted(name));
        names
    }

    fn select(&self, figure: Option<&str>) -> Result<Vec<String>, PaperError> {
        let figures = self.figures();
        match figure {
            None => Ok(figures),
            Some(name) if figures.iter().any(|known| known == name) => Ok(vec![name.to_string()]),
            Some(name) => {
                let what = format!("found no figure \"{name}\"; expected one of {}", figures.join(", "));
                Err(PaperError::about(&self.name, what))
            }
        }
    }

    /// Reads and checks a figure, in its short form if `quick`.
    ///
    /// # Errors
    /// The first mistake in it, with its line.
    pub fn figure(&self, name: &str, quick: bool) -> Result<Figure, PaperError> {
        let file = format!("{name}.toml");
        let text = self.files.get(&file).ok_or_else(|| PaperError::about(&file, "does not exist"))?;
        Figure::read(name, &self.folder.join(&file), text, &self.files, quick)
    }

    /// The contents of the files that determine a figure's findings, by name: its own, those of its folder that it names,
    /// and the recordings that these replay.
    pub fn depends_on(&self, figure: &str) -> BTreeMap<String, &[u8]> {
        let file = format!("{figure}.toml");
        let Some(text) = self.files.get(&file) else { return BTreeMap::new() };
        let beside = self.files.iter().filter(|(name, _)| text.contains(&format!("\"{name}\"")));
        let texts: Vec<(String, &String)> =
            std::iter::once((file, text)).chain(beside.map(|(name, text)| (name.clone(), text))).collect();
        let replayed = TRACES.files().filter_map(|trace| {
            let name = trace.path().to_string_lossy().into_owned();
            texts.iter().any(|(_, text)| text.contains(&format!("traces/{name}"))).then_some((name, trace.contents()))
        });
        let mut all: BTreeMap<String, &[u8]> = replayed.collect();
        all.extend(texts.into_iter().map(|(name, text)| (name, text.as_bytes())));
        all
    }

    /// Whether a figure has a source of this kind, `simulate`, `probe` or `compute`, without checking the figure. One that
    /// cannot be read may have all.
    pub fn asks_for(&self, figure: &str, table: &str) -> bool {
        let text = self.files.get(&format!("{figure}.toml")).map_or("", String::as_str);
        text.parse::<toml::Table>().map_or(true, |file| file.contains_key(table))
    }

    /// Whether a figure names a run that shows why something differs, without checking the figure.
    pub fn explains(&self, figure: &str) -> bool {
        let text = self.files.get(&format!("{figure}.toml"));
        text.is_some_and(|text| text.contains("shown_by = "))
    }

    /// Returns the title of a figure, without checking the figure.
    pub fn title_of(&self, figure: &str) -> Option<String> {
        let table: toml::Table = self.files.get(&format!("{figure}.toml"))?.parse().ok()?;
        Some(table.get("title")?.as_str()?.to_string())
    }

    /// Returns the names of the tables of a figure and of their cells, without checking the figure.
    ///
    /// # Errors
    /// A file that is not there or is no figure.
    pub fn tables(&self, figure: &str) -> Result<Vec<(String, Vec<NamedCell>)>, PaperError> {
        let file = format!("{figure}.toml");
        let text = self.files.get(&file).ok_or_else(|| PaperError::about(&file, "does not exist"))?;
        let read: FigureFile = toml::from_str(text).map_err(|error| PaperError::toml(&file, text, &error))?;
        let named = |table: &toml::Spanned<Table>| (table.as_ref().what.clone(), table.as_ref().names());
        Ok(read.table.iter().map(named).collect())
    }

    /// Returns how many values and statements a figure has to be judged, without checking the figure.
    pub(crate) fn judged_in(&self, figure: &str) -> usize {
        let Some(text) = self.files.get(&format!("{figure}.toml")) else { return 0 };
        let Ok(file) = text.parse::<toml::Table>() else { return 0 };
        let list = |key: &str| file.get(key).and_then(toml::Value::as_array).cloned().unwrap_or_default();
        let length = |of: Option<&toml::Value>| of.and_then(toml::Value::as_array).map_or(0, Vec::len);
        let cells = |table: &toml::Value| {
            let columns = length(table.get("columns"));
            let rows = table.get("rows").and_then(toml::Value::as_table).map_or(0, toml::Table::len);
            let orders = table.get("order").and_then(toml::Value::as_bool).unwrap_or(false);
            columns * (rows + usize::from(orders))
        };
        let is_counted = |claim: &&toml::Value| {
            claim.get("place").and_then(toml::Value::as_str).is_some_and(crate::papers::rule::is_of_the_paper)
        };
        list("value").len()
            + list("claim").iter().filter(is_counted).count()
            + list("table").iter().map(cells).sum::<usize>()
    }

    /// Returns its conclusions.
    pub fn conclusions(&self) -> &[Conclusion] {
        &self.about.conclusion
    }

    /// Returns its title.
    pub fn title(&self) -> &str {
        &self.about.title
    }

    /// Returns the paper as results show it, with these figures.
    pub fn outcome(
        &self,
        figures: Vec<experiment::results::reproduction::Figure>,
    ) -> experiment::results::reproduction::Paper {
        experiment::results::reproduction::Paper {
            name: self.name.clone(),
            title: self.about.title.clone(),
            authors: self.about.authors.clone(),
            published: self.about.published.clone(),
            about: self.about.about.clone(),
            figures,
        }
    }
}

/// Adds the texts of a folder's TOML files to `files`; their names begin with `prefix`.
fn read_folder(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) -> Result<(), PaperError> {
    let refused = |path: &Path, error: std::io::Error| PaperError::about(&path.display().to_string(), error);
    for entry in fs::read_dir(folder).map_err(|error| refused(folder, error))? {
        let path = entry.map_err(|error| refused(folder, error))?.path();
        let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        if name.ends_with(".toml") {
            files.insert(format!("{prefix}{name}"), fs::read_to_string(&path).map_err(|error| refused(&path, error))?);
        }
    }
    Ok(())
}

/// Splits a name into words and numbers, so that `figure-10` comes after `figure-9`.
pub(crate) fn counted(name: &str) -> Vec<(String, u64)> {
    let part = |part: &str| (part.trim_end_matches(|c: char| c.is_ascii_digit()).to_string(), digits(part));
    name.split_inclusive(|c: char| !c.is_ascii_digit()).map(part).collect()
}

fn digits(part: &str) -> u64 {
    let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
    part[word.len()..].parse().unwrap_or(0)
}

fn stem(name: &str) -> String {
    name.trim_end_matches(".toml").to_string()
}
