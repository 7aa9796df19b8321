//! `packetscale sweep submit`: writes the script of a job from a template, and starts it. The tasks of the job are
//! `packetscale run --shard`, what follows is `packetscale sweep merge`: a script of one's own does as well.

use crate::args::sweep::{Engine, Submit};
use crate::hosts::chosen;
use crate::outcome::{Failure, unwritable};
use crate::output::say;
use crate::sweep::division::{command, jobs, quoted, read, shards};
use experiment::results::write_file;
use harness::runner::{Host, Unfit, shards_of};
use packetscale_models::units::Span;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The script's name, in the folder of the results.
const SCRIPT: &str = "submit.sh";
/// The folder in that of the results where tasks say what they have to say.
const LOGS: &str = "logs";
/// Time of a shard where nothing else is asked for: batch systems like tasks of minutes.
const A_SHARD: Span = Span::from_secs(20 * 60);

/// A job for an engine.
struct Job {
    engine: Engine,
    folder: PathBuf,
    script: String,
    /// The command that merges.
    merge: String,
    options: Vec<String>,
}

pub fn submit(arguments: &Submit, hosts: &[&dyn Host]) -> Result<(), Failure> {
    let (scenario, plan) = read(&arguments.file, &arguments.set)?;
    let host = chosen(arguments.on.as_deref(), hosts)?;
    host.accept(&plan).map_err(|Unfit { key, found, expected }| {
        let found = format!("{found} with --on {}", host.word());
        Failure::Input(scenario.refuse(&arguments.file, &key, found, expected).to_string())
    })?;
    let jobs = jobs(&plan, host)?;
    let asked = shards(&arguments.division, &jobs, arguments.jobs.unwrap_or(1));
    let shards = asked.unwrap_or_else(|| shards_of(&jobs, A_SHARD));
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(scenario.name()));
    let job = Job::new(arguments, host, scenario.name(), shards, &absolute(&folder)?)?;
    if arguments.dry_run {
        return say(&format!(
            "{}\nWould be written to {}, and started with:\n{}\n",
            job.script,
            job.file().display(),
            job.how()
        ));
    }
    let written = std::fs::create_dir_all(job.folder.join(LOGS))
        .and_then(|()| write_file(&job.folder, SCRIPT, |out| out.write_all(job.script.as_bytes())));
    written.map_err(|error| unwritable(&job.folder, &error))?;
    job.start()
}

impl Job {
    fn new(asked: &Submit, host: &dyn Host, name: &str, shards: u32, folder: &Path) -> Result<Job, Failure> {
        let program = std::env::current_exe().map_err(|error| Failure::Machine(error.to_string()))?;
        let program = plain(&program)?;
        plain(folder)?;
        let mut run = command(program, Path::new(plain(&absolute(&asked.file)?)?), host.word(), &asked.set, folder);
        // A task has the cores that it asks for; this machine has those that it has.
        let cores = asked.jobs.or((asked.engine != Engine::Here).then_some(1));
        if let Some(cores) = cores {
            run.push_str(&format!(" --jobs {cores}"));
        }
        if let Some(cache) = &asked.cache {
            run.push_str(&format!(" --cache {}", quoted([plain(&absolute(cache)?)?])));
        }
        let mut merge = quoted([program, "sweep", "merge", plain(folder)?]);
        if asked.output.replace {
            [&mut run, &mut merge].into_iter().for_each(|command| command.push_str(" --replace"));
        }
        let (template, sign) = match asked.engine {
            Engine::Slurm => (include_str!("../../assets/submit/slurm.sh"), "#SBATCH"),
            Engine::Hyperqueue => (include_str!("../../assets/submit/hyperqueue.sh"), "#HQ"),
            Engine::Here => (include_str!("../../assets/submit/here.sh"), "#"),
        };
        if asked.engine == Engine::Here && !asked.options.is_empty() {
            let found = quoted(asked.options.iter().map(String::as_str));
            return Err(Failure::Input(format!(
                "--: found {found}; expected no options, since there is no batch system"
            )));
        }
        let options: String = asked.options.iter().map(|option| format!("{sign} {option}\n")).collect();
        if let Some(option) = asked.options.iter().find(|option| option.contains(char::is_control)) {
            return Err(Failure::Input(format!("--: found {option:?}; expected options without control characters")));
        }
        let (output, errors) = match asked.engine {
            Engine::Slurm => (directed(asked.engine, folder, "%a.log")?, String::new()),
            Engine::Hyperqueue => {
                (directed(asked.engine, folder, "%{TASK_ID}.log")?, directed(asked.engine, folder, "%{TASK_ID}.err")?)
            }
            Engine::Here => Default::default(),
        };
        let script = filled(
            template,
            &[
                ("name", &job_name(name)),
                ("shards", &shards.to_string()),
                ("cores", &cores.unwrap_or(1).to_string()),
                ("output", &output),
                ("errors", &errors),
                ("options", &options),
                ("run", &run),
                ("merge", &merge),
            ],
        );
        let (engine, folder, options) = (asked.engine, folder.to_path_buf(), asked.options.clone());
        Ok(Job { engine, folder, script, merge, options })
    }

    fn file(&self) -> PathBuf {
        self.folder.join(SCRIPT)
    }

    /// What starts it.
    fn words(&self) -> Vec<String> {
        let file = self.file().display().to_string();
        match self.engine {
            Engine::Slurm => ["sbatch", "--parsable", &file].map(str::to_string).to_vec(),
            Engine::Hyperqueue => ["hq", "submit", &file].map(str::to_string).to_vec(),
            Engine::Here => ["sh", &file].map(str::to_string).to_vec(),
        }
    }

    /// What merges after a job of SLURM, whether all of its tasks were done or not: what is missing is then in the log.
    fn after(&self, job: &str) -> Vec<String> {
        let log = self.folder.join(LOGS).join("merge.log").display().to_string();
        let words = ["sbatch", "--parsable", "--dependency", &format!("afterany:{job}"), "--output", &log];
        let words = words.iter().map(ToString::to_string).chain(self.options.iter().cloned());
        words.chain(["--wrap".to_string(), self.merge.clone()]).collect()
    }

    /// For people: all that is started, or is left to do.
    fn how(&self) -> String {
        let line = |words: &[String]| format!("  {}", quoted(words.iter().map(String::as_str)));
        match self.engine {
            Engine::Slurm => format!("{}\n{}", line(&self.words()), line(&self.after("JOB"))),
            Engine::Hyperqueue => format!("{}\nWhen all tasks are done:\n  {}", line(&self.words()), self.merge),
            Engine::Here => line(&self.words()),
        }
    }

    fn start(&self) -> Result<(), Failure> {
        match self.engine {
            Engine::Slurm => {
                let array = answered(&self.words())?;
                let merge = answered(&self.after(&array))?;
                let log = self.folder.join(LOGS).join("merge.log");
                say(&format!("SLURM: job {array}, then job {merge}, which merges; {}\n", log.display()))
            }
            Engine::Hyperqueue => {
                let said = answered(&self.words())?;
                say(&format!("{said}\nWhen all tasks are done: {}\n", self.merge))
            }
            Engine::Here => {
                let mut child = begun(&self.words(), Stdio::inherit())?;
                let status = child.wait().map_err(|error| Failure::Machine(error.to_string()))?;
                match status.code() {
                    Some(code @ 1..=3) => Err(Failure::Reported(code as u8)),
                    _ => ended(&self.words(), status),
                }
            }
        }
    }
}

/// A template with its places filled, in one pass: what is filled in is not searched for places again.
fn filled(template: &str, places: &[(&str, &str)]) -> String {
    let mut script = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        script.push_str(before);
        let place = places.iter().find_map(|(name, text)| Some((text, after.strip_prefix(name)?.strip_prefix('}')?)));
        rest = match place {
            Some((text, after)) => {
                script.push_str(text);
                after
            }
            None => {
                script.push('{');
                after
            }
        };
    }
    script + rest
}

/// A path for a script: in UTF-8, and in one line.
fn plain(path: &Path) -> Result<&str, Failure> {
    path.to_str().filter(|text| !text.contains(char::is_control)).ok_or_else(|| {
        Failure::Input(format!("found {path:?}; expected a path in UTF-8 without line breaks and control characters"))
    })
}

/// A file among the logs in a line for the batch system, which is read by its own rules. `sbatch` takes an argument in
/// double quotes as one; folders whose signs either of them reads as something else are refused.
fn directed(engine: Engine, folder: &Path, file: &str) -> Result<String, Failure> {
    const READ_OTHERWISE: [char; 7] = ['"', '\'', '\\', '%', '#', '{', '}'];
    let text = plain(folder)?;
    let spaces = text.contains(char::is_whitespace);
    if text.contains(READ_OTHERWISE) || (spaces && engine != Engine::Slurm) {
        let expected = match engine {
            Engine::Slurm => "a folder without \", ', \\, %, #, { and }, which sbatch may read as something else",
            _ => "a folder without spaces, \", ', \\, %, #, { and }, which hq may read as something else",
        };
        return Err(Failure::Input(format!("--out: found {text}; expected {expected}")));
    }
    let file = format!("{text}/{LOGS}/{file}");
    Ok(if spaces { format!("\"{file}\"") } else { file })
}

/// A name for a job: signs that a batch system may read as something else become `_`.
fn job_name(scenario: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    scenario.chars().map(plain).collect()
}

/// What a command says; of SLURM's cluster and job the job.
fn answered(words: &[String]) -> Result<String, Failure> {
    let child = begun(words, Stdio::piped())?;
    let output = child.wait_with_output().map_err(|error| Failure::Machine(error.to_string()))?;
    ended(words, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().split(';').next().unwrap_or_default().to_string())
}

fn begun(words: &[String], output: Stdio) -> Result<std::process::Child, Failure> {
    let child = Command::new(&words[0]).args(&words[1..]).stdout(output).spawn();
    child.map_err(|error| Failure::Machine(format!("{}: cannot be started: {error}", words[0])))
}

fn ended(words: &[String], status: std::process::ExitStatus) -> Result<(), Failure> {
    if status.success() {
        return Ok(());
    }
    Err(Failure::Machine(format!("`{}` ended with {status}", quoted(words.iter().map(String::as_str)))))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_in_values_are_not_expanded() {
        let filled = filled("exec {run} {merge} %{TASK_ID} {", &[("run", "'{merge}'"), ("merge", "m")]);
        assert_eq!(filled, "exec '{merge}' m %{TASK_ID} {");
    }

    #[test]
    fn batch_folder_is_one_argument_or_refused() {
        let directed = |engine, folder: &str| directed(engine, Path::new(folder), "%a").ok();
        assert_eq!(directed(Engine::Slurm, "/out").as_deref(), Some("/out/logs/%a"));
        assert_eq!(directed(Engine::Slurm, "/my out").as_deref(), Some("\"/my out/logs/%a\""));
        assert_eq!(directed(Engine::Hyperqueue, "/my out"), None);
        for folder in ["/lo\ntouch x\n", "/a\"b", "/a'b", "/a\\b", "/50%j", "/a #b", "/a\tb", "/{merge}"] {
            assert_eq!(directed(Engine::Slurm, folder), None, "{folder:?}");
        }
    }

    #[test]
    fn job_name_is_one_word() {
        assert_eq!(job_name("b;touch $(x) '\"\n#a-1.0_é"), "b_touch___x______a-1.0_é");
    }
}
