//! The scenario file as a tree in which every value knows where it was written.
//!
//! Sweeps and `--set` replace values in this tree before anything is read from it. So they can change every key, and
//! they are checked like the file itself. Reading fills in the defaults (see `fields`), so that the tree printed
//! afterwards is the resolved file.

use crate::scenario::error::{Place, ScenarioError, listed, perhaps};
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub value: Value,
    pub place: Place,
}

/// The values of TOML. Numbers keep their spelling, so that tables show them as they were written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(String),
    Switch(bool),
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// Keys and values in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub entries: Vec<KeyValue>,
}

/// One key of a table.
#[derive(Clone, Debug)]
pub(crate) struct KeyValue {
    pub key: String,
    pub key_place: Place,
    pub node: Node,
}

/// Two trees are equal when their values are equal, wherever they were written.
impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.value == other.value
    }
}

impl PartialEq for KeyValue {
    fn eq(&self, other: &KeyValue) -> bool {
        self.key == other.key && self.node == other.node
    }
}

/// Turns byte offsets into line numbers.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn new(text: &str) -> Lines {
        Lines { starts: std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect() }
    }

    fn place(&self, offset: usize) -> Place {
        Place::Line(self.starts.partition_point(|start| *start <= offset))
    }
}

/// Reads TOML.
pub(crate) fn parse(text: &str) -> Result<Table, ScenarioError> {
    let lines = Lines::new(text);
    let tree = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let place = lines.place(span.start);
        if let Some(key) = text.get(span.clone()).filter(|_| error.message() == TWICE) {
            let first = first_of(text, span.start).map(|offset| lines.place(offset));
            let first =
                if let Some(Place::Line(line)) = first { format!(", first on line {line}") } else { String::new() };
            return ScenarioError::at(&place, key, format!("the key twice{first}"), "each key once");
        }
        ScenarioError::at(&place, "", syntax(&error), "a TOML file")
    })?;
    table(tree.get_ref(), &|offset| lines.place(offset))
}

/// The parser's message for a duplicate key.
const TWICE: &str = "duplicate key";

/// The first occurrence of the key or heading on the line at `offset`; `None` if it is not alone on its line.
fn first_of(text: &str, offset: usize) -> Option<usize> {
    let begins = |offset: usize| text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let heads = |line: &str| line.trim_start().starts_with('[');
    let name = |line: &str| {
        let end = if heads(line) { line.find(']') } else { line.find('=') };
        end.map(|end| line[..end].trim().to_string())
    };
    let line = |begin: usize| text[begin..].lines().next().unwrap_or_default();
    let mut begin = begins(offset);
    let (head, twice) = (heads(line(begin)), name(line(begin))?);
    while begin > 0 {
        begin = begins(begin - 1);
        // Within a text of several lines no line ends a file.
        if name(line(begin)).as_ref() == Some(&twice) && DeTable::parse(&text[..begin]).is_ok() {
            return Some(begin);
        }
        if heads(line(begin)) && !head {
            return None;
        }
    }
    None
}

/// Reads the value of a `--set KEY=VALUE` as TOML, or else as text.
pub(crate) fn argument(text: &str, place: &Place) -> Result<Node, ScenarioError> {
    match DeValue::parse(text) {
        Ok(parsed) => node(&parsed, &|_| place.clone()),
        Err(_) => Ok(Node { value: Value::Text(text.to_string()), place: place.clone() }),
    }
}

fn syntax(error: &toml::de::Error) -> String {
    error.message().lines().collect::<Vec<_>>().join(", ")
}

fn table(from: &DeTable<'_>, place: &dyn Fn(usize) -> Place) -> Result<Table, ScenarioError> {
    let mut in_order: Vec<_> = from.iter().collect();
    in_order.sort_by_key(|(key, _)| key.span().start);
    let entries = in_order.into_iter().map(|(key, value)| {
        let key_place = place(key.span().start);
        Ok(KeyValue { key: key.get_ref().to_string(), key_place, node: node(value, place)? })
    });
    Ok(Table { entries: entries.collect::<Result<_, ScenarioError>>()? })
}

fn node(from: &Spanned<DeValue<'_>>, place: &dyn Fn(usize) -> Place) -> Result<Node, ScenarioError> {
    let here = place(from.span().start);
    let value = match from.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(n) => Value::Integer(i64::from_str_radix(n.as_str(), n.radix()).map_err(|_| {
            ScenarioError::at(&here, "", format!("the number {n}"), "a whole number that fits 64 bits")
        })?),
        DeValue::Float(x) => Value::Float(x.as_str().to_string()),
        DeValue::Boolean(switch) => Value::Switch(*switch),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| node(item, place)).collect::<Result<_, ScenarioError>>()?)
        }
        DeValue::Table(inner) => Value::Table(table(inner, place)?),
    };
    Ok(Node { value, place: here })
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&KeyValue> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub fn node_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
    }

    /// Returns the value of `key`; adds an empty table if it is missing.
    pub fn node_or_table(&mut self, key: &str, place: &Place) -> &mut Node {
        let at = self.entries.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
            let node = Node { value: Value::Table(Table::default()), place: place.clone() };
            self.entries.push(KeyValue { key: key.to_string(), key_place: place.clone(), node });
            self.entries.len() - 1
        });
        &mut self.entries[at].node
    }

    /// Puts `node` at the dotted `path`. Makes the tables that are missing; a number names an entry of a list.
    pub fn substitute(&mut self, path: &str, node: Node) -> Result<(), ScenarioError> {
        let place = node.place.clone();
        let (heads, last) = match path.rsplit_once('.') {
            Some((heads, last)) => (heads.split('.').collect(), last),
            None => (Vec::new(), path),
        };
        if last.is_empty() || heads.iter().any(|head| head.is_empty()) {
            return Err(ScenarioError::at(&place, path, "an empty part in this key", "a dotted key like path.rate"));
        }
        let mut inner = self;
        let mut steps = heads.into_iter();
        while let Some(step) = steps.next() {
            let no_table = |other: &Value| {
                let found = format!("\"{step}\", which is {}", other.described());
                ScenarioError::at(&place, path, found, "a table before the last dot")
            };
            inner = match &mut inner.node_or_table(step, &place).value {
                Value::Table(table) => table,
                Value::List(items) => match steps.next() {
                    Some(index) => match &mut numbered(items, step, index, path, &place)?.value {
                        Value::Table(table) => table,
                        other => return Err(no_table(other)),
                    },
                    None => {
                        *numbered(items, step, last, path, &place)? = node;
                        return Ok(());
                    }
                },
                other => return Err(no_table(other)),
            };
        }
        match inner.node_mut(last) {
            Some(there) => *there = node,
            None => inner.entries.push(KeyValue { key: last.to_string(), key_place: place, node }),
        }
        Ok(())
    }
}

/// The table of this number in a list.
fn numbered<'a>(
    items: &'a mut [Node],
    list: &str,
    index: &str,
    path: &str,
    place: &Place,
) -> Result<&'a mut Node, ScenarioError> {
    let count = items.len();
    let item = index.parse::<usize>().ok().and_then(|index| items.get_mut(index));
    match item.filter(|item| matches!(item.value, Value::Table(_))) {
        Some(item) => Ok(item),
        None => {
            let expected = match count {
                0 | 1 => format!("\"{list}.0\", the only one"),
                _ => format!("a number from 0 to {} after \"{list}.\"", count - 1),
            };
            Err(ScenarioError::at(place, path, format!("\"{list}.{index}\""), expected))
        }
    }
}

impl Value {
    /// Returns the value as messages show it: `10`, `"fast"`, `a list`.
    pub fn described(&self) -> String {
        match self {
            Value::Text(_) | Value::Integer(_) | Value::Float(_) | Value::Switch(_) => self.to_string(),
            Value::Date(date) => format!("the date {date}"),
            Value::List(_) => "a list".to_string(),
            Value::Table(_) => "a table".to_string(),
        }
    }

    /// Returns the value as a table's column shows it: text without its quotes.
    pub fn plain(&self) -> String {
        match self {
            Value::Text(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// Writes TOML on one line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => write!(f, "{}", quoted(text)),
            Value::Integer(n) => write!(f, "{n}"),
            Value::Float(x) => f.write_str(x),
            Value::Switch(switch) => write!(f, "{switch}"),
            Value::Date(date) => f.write_str(date),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.value.to_string()).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Value::Table(table) if table.entries.is_empty() => f.write_str("{}"),
            Value::Table(table) => {
                let entries: Vec<String> = table.entries.iter().map(KeyValue::to_string).collect();
                write!(f, "{{ {} }}", entries.join(", "))
            }
        }
    }
}

impl fmt::Display for KeyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !self.key.is_empty() && self.key.chars().all(bare) {
            write!(f, "{} = {}", self.key, self.node.value)
        } else {
            write!(f, "{} = {}", quoted(&self.key), self.node.value)
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\""
}

/// The sections of a scenario, in the order in which they are printed.
pub(crate) const SECTIONS: &[&str] =
    &["run", "path", "link", "receiver", "sender", "flow", "probe", "traffic", "compare", "sweep", "record", "expect"];

impl Table {
    /// Refuses sections that do not exist, and values outside any section.
    pub fn check_sections(&self) -> Result<(), ScenarioError> {
        let unknown = self.entries.iter().find(|entry| !SECTIONS.contains(&entry.key.as_str()));
        unknown.map_or(Ok(()), |entry| {
            let found = format!("an unknown key{}", perhaps(&entry.key, SECTIONS.iter().copied()));
            let expected = format!("one of {}", listed(SECTIONS.iter().copied()));
            Err(ScenarioError::at(&entry.key_place, &entry.key, found, expected))
        })
    }

    /// Puts the sections in their usual order.
    pub fn sort_sections(&mut self) {
        self.entries.sort_by_key(|entry| SECTIONS.iter().position(|section| *section == entry.key));
    }

    /// Returns the text of a TOML file.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        for KeyValue { key, node, .. } in &self.entries {
            match &node.value {
                Value::Table(table) => print_section(&mut out, &format!("[{key}]"), table),
                Value::List(items) => items.iter().for_each(|item| {
                    if let Value::Table(table) = &item.value {
                        print_section(&mut out, &format!("[[{key}]]"), table);
                    }
                }),
                _ => {}
            }
        }
        out
    }
}

fn print_section(out: &mut String, header: &str, table: &Table) {
    if table.entries.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(header);
    out.push('\n');
    for entry in &table.entries {
        out.push_str(&format!("{entry}\n"));
    }
}
