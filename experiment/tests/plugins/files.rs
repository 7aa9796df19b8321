//! Files that are no controllers, and decisions that make no sense. Each file is compiled from a few lines of C.

use experiment::plugins::{LARGEST_WINDOW, LONGEST_WAIT, Object, open};
use packetscale_models::congestion::{AckSample, AnyController, Controller, Setup};
use packetscale_models::settings::{Setting, SettingError, Settings};
use packetscale_models::units::{Bytes, Span, Time};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A controller without behaviour, whose parts a test replaces.
const PLAIN: &str = r#"
#include <packetscale/controller.h>
static const struct packetscale_setting list[] = {
	{ "gain", "a setting", 5, 1, 9, PACKETSCALE_INTEGER, 0 },
	{ "wait", "another", 1000, 0, UINT64_MAX, PACKETSCALE_TIME_PS, 0 },
};
static int32_t start(void *state, const struct packetscale_setup *setup, struct packetscale_decision *decision)
{
	*(uint64_t *)state = setup->settings[0];
	(void)decision;
	return START;
}
static void on_ack(void *state, const struct packetscale_ack *ack, struct packetscale_decision *decision)
{
	(void)ack; (void)state;
	ON_ACK
}
static void on_loss(void *s, const struct packetscale_loss *e, struct packetscale_decision *d) { (void)s; (void)e; (void)d; }
static void on_timeout(void *s, const struct packetscale_timeout *e, struct packetscale_decision *d)
{
	(void)s; (void)e; (void)d;
}
const struct packetscale_controller packetscale_controller = {
	.abi = PACKETSCALE_ABI, .struct_bytes = sizeof(struct packetscale_controller), .name = "plain", .summary = "none",
	.settings = list, .settings_count = 2, .state_bytes = 8, .state_align = 8,
	.start = start, .on_ack = on_ack, .on_loss = on_loss, .on_timeout = on_timeout, CHANGES
};
"#;

/// Compiles a text; `None`, with the reason on the terminal, where there is no compiler.
fn compiled(folder: &TempDir, text: &str) -> Option<PathBuf> {
    let (source, file) = (folder.path().join("it.c"), folder.path().join("it.so"));
    std::fs::write(&source, text).expect("written");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../controller/include");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-O1", "-fPIC", "-Wno-override-init", "-I"]).arg(include).arg(&source).arg("-o").arg(&file);
    match cc.output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            eprintln!("skipped: no C compiler (cc: {error})");
            return None;
        }
    }
    Some(file)
}

fn plain(changes: &str, on_ack: &str, start: &str) -> String {
    PLAIN.replace("CHANGES", changes).replace("ON_ACK", on_ack).replace("START", start)
}

fn opened(text: &str) -> Option<&'static Object> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = compiled(&folder, text)?;
    Some(open(&file).unwrap_or_else(|error| panic!("{error}")))
}

#[track_caller]
fn refused(text: &str, found: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(file) = compiled(&folder, text) else { return };
    let error = open(&file).expect_err("it is wrong");
    assert_eq!(error.found, found, "{error}");
    assert!(error.to_string().starts_with(&format!("{}: found ", file.display())), "{error}");
}

const SETUP: Setup = Setup {
    now: Time::ZERO,
    packet: Bytes::new(1500),
    handshake_rtt: Span::from_millis(10),
    initial_window: 10,
    seed: 1,
};

fn acknowledged(controller: &mut AnyController, now: Time) {
    let rtt = Span::from_millis(10);
    controller.on_ack(&AckSample {
        now,
        delivered: 1,
        cumulative: 1,
        prior_in_flight: 2,
        in_flight: 1,
        rtt: Some(rtt),
        srtt: rtt,
        min_rtt: rtt,
        next_unacked: 1,
        next_unsent: 2,
        window_limited: true,
        in_recovery: false,
        arrivals: &[],
        rate: None,
    });
}

#[test]
fn refuses_invalid_controller_with_one_message() {
    refused("int nothing;", "no symbol \"packetscale_controller\"");
    refused(&plain(".abi = 2", "", "0"), "interface number 2");
    refused(&plain(".struct_bytes = 16", "", "0"), "a table of 16 bytes");
    refused(&plain(".name = \"cubic\"", "", "0"), "the name \"cubic\"");
    refused(&plain(".name = \"No Name\"", "", "0"), "the name \"No Name\"");
    refused(&plain(".summary = 0", "", "0"), "nothing as the summary");
    refused(&plain(".state_align = 3", "", "0"), "a state aligned to 3");
    refused(&plain(".state_bytes = 1u << 30", "", "0"), "a state of 1073741824 bytes");
    refused(&plain(".needs = 128", "", "0"), "needs 0x80");
    refused(&plain(".needs = 48", "", "0"), "both ECT(0) and ECT(1)");
    refused(&plain(".on_loss = 0", "", "0"), "no function \"on_loss\"");
    refused(&plain(".settings = 0", "", "0"), "2 settings");
    refused(&plain("", "", "0").replace("\"wait\"", "\"gain\""), "setting \"gain\" twice");
    refused(&plain("", "", "0").replace("\"wait\"", "\"kind\""), "\"kind\" as the name of setting 2");
    refused(&plain("", "", "0").replace("5, 1, 9", "0, 1, 9"), "least 1, preset 0 and most 9 of setting \"gain\"");
}

#[test]
fn refuses_files_other_than_shared_objects() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("it.so");
    let absent = open(&file).expect_err("it is not there");
    assert!(absent.found.starts_with("that it cannot be read"), "{absent}");
    std::fs::write(&file, "int main;").expect("written");
    assert_eq!(open(&file).expect_err("a text").found, "another kind of file");
    std::fs::write(&file, b"\x7fELF and no more").expect("written");
    let torn = open(&file).expect_err("torn");
    assert!(torn.found.starts_with("that it cannot be loaded: "), "{torn}");
    assert!(!torn.found.contains("/proc/"), "{torn}");
}

/// The bounds that the header states.
#[test]
fn invalid_decisions_are_bounded() {
    let nonsense = "decision->window_packets = 0; decision->departure_ps = UINT64_MAX;";
    let Some(object) = opened(&plain("", nonsense, "0")) else { return };
    let mut controller = object.build(&SETUP, &Settings::new()).expect("built");
    assert_eq!((controller.decision().window, controller.decision().departure), (10, Time::ZERO));
    let now = Time::from_nanos(5);
    acknowledged(&mut controller, now);
    assert_eq!((controller.decision().window, controller.decision().departure), (1, now.saturating_add(LONGEST_WAIT)));
    let Some(object) = opened(&plain("", "decision->window_packets = UINT32_MAX;", "0")) else { return };
    let mut controller = object.build(&SETUP, &Settings::new()).expect("built");
    acknowledged(&mut controller, now);
    assert_eq!(controller.decision().window, LARGEST_WINDOW);
}

/// The state is that of the flow: two flows and a copy count for themselves.
#[test]
fn each_flow_has_its_own_state() {
    let counts = "decision->window_packets = ++*(uint64_t *)state;";
    let Some(object) = opened(&plain("", counts, "0")) else { return };
    let settings = Settings::from([("gain".to_string(), Setting::Integer(7))]);
    let mut one = object.build(&SETUP, &settings).expect("built");
    let mut other = object.build(&SETUP, &Settings::new()).expect("built");
    acknowledged(&mut one, Time::ZERO);
    let mut copy = one.clone();
    acknowledged(&mut one, Time::ZERO);
    acknowledged(&mut other, Time::ZERO);
    acknowledged(&mut copy, Time::ZERO);
    // 7 as set, or 5 without a setting, and one for each acknowledgment.
    assert_eq!([&one, &other, &copy].map(|controller| controller.decision().window), [9, 6, 9]);
}

#[test]
fn settings_are_checked_against_the_file() {
    let Some(object) = opened(&plain("", "", "setup->settings[0] == 3 ? 2 : 0")) else { return };
    let with = |name: &str, setting| object.build(&SETUP, &Settings::from([(name.to_string(), setting)])).map(drop);
    assert_eq!(with("gain", Setting::Integer(9)), Ok(()));
    assert_eq!(with("gain", Setting::Integer(10)), Err(SettingError::invalid("gain", "a whole number from 1 to 9")));
    assert_eq!(with("pain", Setting::Integer(1)), Err(SettingError::Unknown { name: "pain".to_string() }));
    assert_eq!(
        with("gain", Setting::Integer(3)),
        Err(SettingError::invalid("wait", "a value that plain accepts here"))
    );
    assert_eq!(object.parameters.iter().map(|one| one.default()).collect::<Vec<_>>(), ["5", "1 ns"]);
}

/// A file that is compiled again under its name is another controller; the first goes on as it was.
#[test]
fn objects_are_identified_by_content() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(file) = compiled(&folder, &plain(".name = \"first\"", "", "0")) else { return };
    let first = open(&file).expect("opened");
    assert!(std::ptr::eq(first, open(&file).expect("opened again")));
    let file = compiled(&folder, &plain(".name = \"second\"", "", "0")).expect("compiled again");
    assert_eq!(open(&file).expect("opened").name, "second");
    assert!(first.build(&SETUP, &Settings::new()).is_ok());
}

#[test]
fn refuses_truncated_object_without_reading_past_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(file) = compiled(&folder, &plain("", "", "0")) else { return };
    let whole = std::fs::read(&file).expect("the object");
    let refused = (4..whole.len()).step_by(whole.len() / 40).filter(|&length| {
        std::fs::write(&file, &whole[..length]).expect("written");
        // Where only the table of sections is cut off, which nobody loads, the object is as good as before.
        open(&file).is_err()
    });
    assert!(refused.count() > 30);
}
