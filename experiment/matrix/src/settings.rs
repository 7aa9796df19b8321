//! The settings, compiled in: `settings.toml`.

use runner::Refusal;
use scenario::Scenario;
use serde::Deserialize;
use std::path::Path;

const FILE: &str = "settings.toml";
const TEXT: &str = include_str!("../settings.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    setting: Vec<Setting>,
}

/// A path on which pairs meet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub name: String,
    pub title: String,
    /// Changes that make the short form.
    quick: Vec<String>,
    scenario: String,
}

/// All settings, or the one of this name.
pub fn read(only: Option<&str>) -> Result<Vec<Setting>, Refusal> {
    let read: Settings =
        toml::from_str(TEXT).map_err(|error| Refusal::Input(format!("{FILE}: {}", error.message())))?;
    let mut settings = read.setting;
    let names: Vec<String> = settings.iter().map(|setting| setting.name.clone()).collect();
    settings.retain(|setting| only.is_none_or(|only| setting.name == only));
    if settings.is_empty() {
        let found = only.unwrap_or_default();
        return Err(Refusal::Input(format!("--only: found \"{found}\"; expected one of {}", names.join(", "))));
    }
    Ok(settings)
}

impl Setting {
    /// With these two controllers, each by its name or as a table.
    pub fn scenario(&self, first: &str, second: &str, quick: bool) -> Result<Scenario, Refusal> {
        let mut changes = vec![
            format!("flow.0.controller={first}"),
            format!("flow.1.controller={second}"),
            "record.streams=0".to_string(),
        ];
        if quick {
            changes.extend(self.quick.iter().cloned());
        }
        Scenario::parse(&self.scenario, Path::new(&format!("{}.toml", self.name)), &changes)
            .map_err(|error| Refusal::Input(error.to_string()))
    }
}
