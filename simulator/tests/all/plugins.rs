//! Controllers of files, at work. The oracle of CUBIC in C is the built-in CUBIC: another text, by the same RFC.

use super::*;
use std::process::Command;
use std::sync::OnceLock;

/// CUBIC in C, compiled once; `None` where there is no C compiler.
fn cubic() -> Option<&'static Path> {
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let compiled = || {
        let controller = Path::new(env!("CARGO_MANIFEST_DIR")).join("../controller");
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cubic-in-c.so");
        let mut cc = Command::new("cc");
        cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-O2", "-fPIC", "-ffp-contract=off", "-I"]);
        cc.arg(controller.join("include")).arg(controller.join("examples/cubic.c")).arg("-o").arg(&file);
        match cc.output() {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => {
                eprintln!("skipped: no C compiler (cc: {error})");
                return None;
            }
        }
        Some(file)
    };
    FILE.get_or_init(compiled).as_deref()
}

/// The runs of a scenario with this controller in the place of CONTROLLER.
fn plan(text: &str, controller: &str) -> Vec<Experiment> {
    support::plan(&text.replace("CONTROLLER", controller))
}

fn in_c(file: &Path, settings: &str) -> String {
    format!("{{ kind = \"c\", file = \"{}\", label = \"it\"{settings} }}", file.display())
}

/// All that comes out of the runs, but the time they took.
fn outcome(plan: &[Experiment]) -> String {
    let runs = plan.iter().map(|experiment| {
        let mut run = run(experiment);
        run.summary.cpu_s = None;
        run.colour = String::new();
        serde_json::to_string(&run).expect("written").replace("cubic-in-c", "cubic")
    });
    runs.collect::<Vec<_>>().join("\n")
}

/// Where two texts begin to differ.
fn differ(one: &str, other: &str) -> String {
    let at = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.chars().skip(at.saturating_sub(80)).take(200).collect::<String>();
    format!("{}\n{}", around(one), around(other))
}

/// What each case exercises, its scenario, and the settings of its controller.
const CASES: [(&str, &str, &str); 4] = [
    (
        "a full queue: slow start, HyStart++, losses, two flows of different round trips",
        r#"
        run = { duration = "12 s", warmup = "2 s", seed = 3, replications = 2 }
        path = { rate = "50 Mbit/s", delay = "10 ms", buffer = "1 bdp" }
        flow = [{ controller = CONTROLLER }, { controller = CONTROLLER, rtt = "60 ms", start = "1 s" }]
        "#,
        "",
    ),
    (
        "losses by chance, many of them together: timeouts and needless reductions",
        r#"
        run = { duration = "15 s", seed = 5 }
        path = { rate = "20 Mbit/s", delay = "20 ms", buffer = "20 packets", loss = 0.04 }
        flow = [{ controller = CONTROLLER, count = 3 }]
        "#,
        "",
    ),
    (
        "marks, and every setting changed",
        r#"
        run = { duration = "10 s", seed = 7 }
        path = { rate = "40 Mbit/s", delay = "15 ms", buffer = "2 bdp", queue = "codel" }
        sender = { ecn = true }
        flow = [{ controller = CONTROLLER, count = 2 }]
        "#,
        ", beta = 0.8, abe = true, c = 1.3, fast_convergence = false, reno_friendly = false, full_reno = false, hystart = false",
    ),
    (
        "an application that pauses: acknowledgments that no window limits",
        r#"
        run = { duration = "20 s", seed = 9 }
        path = { rate = "30 Mbit/s", delay = "25 ms", buffer = "1 bdp" }
        [[flow]]
        controller = CONTROLLER
        application = { kind = "on-off", on = "800 ms", off = "500 ms", rate = "60 Mbit/s" }
        [[flow]]
        controller = CONTROLLER
        "#,
        "",
    ),
];

#[test]
fn cubic_in_c_is_cubic() {
    let Some(file) = cubic() else { return };
    for (why, text, settings) in CASES {
        let own = outcome(&plan(text, &format!("{{ kind = \"cubic\", label = \"it\"{settings} }}")));
        let external = outcome(&plan(text, &in_c(file, settings)));
        assert!(own.contains("\"cubic\""), "{why}: the flows are named");
        assert!(own == external, "{why}: {}", differ(&own, &external));
    }
    let run = run(&plan(CASES[1].1, "\"cubic\"")[0]);
    assert!(run.flows.iter().any(|flow| flow.timeouts > Some(0)), "the second scenario has no timeout");
}

#[test]
fn fused_is_stepped_for_a_controller_of_a_file() {
    let Some(file) = cubic() else { return };
    let text = r#"
        run = { duration = "6 s", seed = 11 }
        path = { rate = "30 Mbit/s", delay = "10 ms", buffer = "0.5 bdp" }
        flow = [{ controller = CONTROLLER, count = 3 }]
        "#;
    same_in_both_modes(&plan(text, &in_c(file, ""))[0], 1001);
}

/// The id of a run covers what the file contains: the experiment names it among its files.
#[test]
fn a_controllers_file_is_among_the_runs_files() {
    let Some(file) = cubic() else { return };
    let text = r#"
        run = { duration = "1 s" }
        path = { rate = "10 Mbit/s", delay = "5 ms", buffer = "1 bdp" }
        flow = [{ controller = CONTROLLER, count = 5 }]
        "#;
    let runs = plan(text, &in_c(file, "").replace(", label = \"it\"", ""));
    assert_eq!(runs[0].files().collect::<Vec<_>>(), [file]);
    assert_eq!(runs[0].controller, "cubic-in-c");
    assert_eq!(plan(text, "\"cubic\"")[0].files().count(), 0);
}

/// The largest state that a file may request, in more flows than a run has memory for.
#[test]
fn refuses_states_beyond_memory_before_the_run() {
    let Some(file) = cubic() else { return };
    let controller = Path::new(env!("CARGO_MANIFEST_DIR")).join("../controller");
    let text = std::fs::read_to_string(controller.join("examples/cubic.c")).expect("the example");
    let large = text.replace(".state_bytes = sizeof(struct cubic)", ".state_bytes = 1u << 24");
    assert_ne!(large, text);
    let (source, object) = (file.with_file_name("large.c"), file.with_file_name("large.so"));
    std::fs::write(&source, large).expect("written");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-O1", "-fPIC", "-I"]).arg(controller.join("include")).arg(&source).arg("-o").arg(&object);
    assert!(cc.status().expect("cc starts").success());
    let run = |flows: u32| {
        let text = format!(
            "run = {{ duration = \"1 ms\" }}\npath = {{ rate = \"10 Mbit/s\", delay = \"5 ms\", buffer = \"1 bdp\" }}\n\
             [[flow]]\ncontroller = CONTROLLER\ncount = {flows}\n"
        );
        simulator::run(&plan(&text, &in_c(&object, ""))[0])
    };
    // 2^30 bytes are 64 states of 2^24.
    assert!(run(64).is_ok());
    let message = run(65).expect_err("too much").to_string();
    let expected =
        "found more than 1073741824 bytes of state in 65 flows; expected fewer flows, or a smaller state_bytes";
    assert_eq!(message, format!("{}: {expected}", object.display()));
}
