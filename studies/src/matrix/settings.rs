//! The settings, compiled in: `settings.toml`.

use experiment::scenario::Scenario;
use harness::runner::Refusal;
use serde::Deserialize;
use std::path::Path;

const FILE: &str = "settings.toml";
const TEXT: &str = include_str!("../../matrix.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    setting: Vec<Setting>,
}

/// A path for pairs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub name: String,
    pub title: String,
    /// Changes that make the short form.
    quick: Vec<String>,
    scenario: String,
}

/// All settings, or those with these names.
pub fn read(only: &[String]) -> Result<Vec<Setting>, Refusal> {
    let read: Settings =
        toml::from_str(TEXT).map_err(|error| Refusal::Input(format!("{FILE}: {}", error.message())))?;
    let mut settings = read.setting;
    let names: Vec<String> = settings.iter().map(|setting| setting.name.clone()).collect();
    if let Some(found) = only.iter().find(|only| !names.contains(only)) {
        return Err(Refusal::Input(format!("--only: found \"{found}\"; expected one of {}", names.join(", "))));
    }
    settings.retain(|setting| only.is_empty() || only.contains(&setting.name));
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
        Scenario::parse(&self.scenario, Path::new(&format!("{}.toml", self.name)), &changes).map_err(|error| {
            let of = |(flow, controller)| Some(format!("judge matrix {controller}: {}", error.of_controller(flow)?));
            let asked = [(0, first), (1, second)].into_iter().find_map(of);
            Refusal::Input(asked.unwrap_or_else(|| error.to_string()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_names_requested_controller() {
        let settings = read(&[]).unwrap_or_else(|_| panic!("the settings are read"));
        let refusal = |first, second| match settings[0].scenario(first, second, true) {
            Err(refusal) => refusal.to_string(),
            Ok(_) => panic!("{first} and {second} were taken"),
        };
        let tau = "{kind = \"rapid\", tau = \"x\"}";
        assert!(refusal("venno", "cubic").starts_with("judge matrix venno: found the unknown controller \"venno\""));
        assert!(
            refusal("cubic", tau).starts_with(&format!("judge matrix {tau}: tau: found a setting of rapid-thesis"))
        );
    }
}
