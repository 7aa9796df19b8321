//! User controllers, loaded from files: accepted ones, refused ones, and the messages.

use super::clang;
use super::connection::{goodput, transfer};
use super::flow::{Flow, Set};
use super::killed::machine;
use super::namespaces::{Bottleneck, MANY_SEGMENTS, Path as Route};
use super::{able, alone};
use linux::tcp::{self, Drained, Error, Options, UserController};
use std::path::PathBuf;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const SOURCE: &str = "examples/aimd.bpf.c";
/// Defines that break the example, with a part of the expected message.
const BROKEN: [(&str, &str); 7] = [
    ("-DNONE", "found 0 variables of struct tcp_congestion_ops; expected one"),
    ("-DTWO", "found 2 variables of struct tcp_congestion_ops; expected one"),
    ("-DINCOMPLETE", "has no function `undo_cwnd`; TCP needs one"),
    ("-DCLOSED", "the kernel refuses the licence"),
    ("-DFORBIDDEN", "the kernel's verifier refuses `aimd_cong_avoid`"),
    ("-DFROZEN", "it stalls"),
    ("-DCONSTANT", "its window does not grow: 10 packets at most"),
];

/// Define that makes the example pin a map by name.
const PINNED: &str = "-DPINNED";

pub fn objects() -> impl Iterator<Item = Vec<u8>> {
    let broken = BROKEN.iter().map(|(word, _)| clang::compiled(SOURCE, &[word]));
    [&[][..], &[PINNED]].into_iter().map(|words| clang::compiled(SOURCE, words)).chain(broken)
}

/// A file with the example, made so by a word to the compiler.
fn file(words: &[&str]) -> PathBuf {
    written(&words.concat(), &clang::compiled(SOURCE, words))
}

fn written(what: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("aimd{what}-{}.bpf.o", std::process::id()));
    std::fs::write(&path, bytes).expect("written");
    path
}

fn route(test: &str) -> Route {
    let route = Route::new(test, &Bottleneck { mbit: 20, limit: 100_000 });
    route.delay(20);
    route
}

fn refusal(refused: Result<tcp::LoadedFile, Error>) -> String {
    match refused {
        Ok(loaded) => panic!("accepted: {loaded:?}"),
        Err(Error::Input(words) | Error::Machine(words)) => words,
    }
}

#[test]
fn loads_and_unloads_user_controller() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = route("bring");
    route.segments(MANY_SEGMENTS);
    let was = machine(&route);
    let found = tcp::load_file(&file(&[]), None, false).unwrap_or_else(|error| panic!("{error}"));
    eprintln!("{:?}", found.tried);
    assert_eq!((found.name.as_str(), found.old), ("aimd", 0));
    assert!(found.tried.lossy.is_some(), "this kernel has netem");
    assert!(tcp::is_registered("aimd") && !tcp::is_registered("packetscale_try"));
    let empty = UserController { registered: true, users: 0, earlier: 0 };
    assert_eq!(tcp::user_controller("aimd").expect("root"), Some(empty));
    assert_eq!(tcp::user_controller("rapid").expect("root"), None);
    let rate = goodput(&transfer(&route, "aimd", 3 * SECOND), SECOND) / 1e6;
    eprintln!("{rate:.1} Mbit/s of 20");
    assert!(rate > 17.0, "{rate:.1} Mbit/s");
    // The kernel counts its users; at their end they are none.
    let flow = Flow::open(&route, "aimd", Set::BeforeConnect);
    assert_eq!(tcp::user_controller("aimd").expect("root"), Some(UserController { users: 1, ..empty }));
    drop(flow);
    for refused in [tcp::status("aimd").map(drop), tcp::switch("aimd", false), tcp::load(&named("aimd")).map(drop)] {
        let words = refused.expect_err("Rapid's affair").to_string();
        assert!(words.contains("was loaded from a file"), "{words}");
    }
    assert!(tcp::unload("aimd").expect("unloads") && !tcp::is_registered("aimd"));
    assert_eq!(machine(&route), was);
}

#[test]
fn maps_pinned_by_file_are_not_pinned() {
    if !able() {
        return;
    }
    let _alone = alone();
    tcp::load_file(&file(&[PINNED]), None, false).unwrap_or_else(|error| panic!("{error}"));
    assert!(!std::path::Path::new("/sys/fs/bpf/aimd_pinned").exists());
    assert!(tcp::unload("aimd").expect("unloads"));
}

fn named(name: &str) -> Options {
    Options { name: name.to_string(), flows: 4, ..Options::default() }
}

#[test]
fn refuses_broken_controllers_with_reason() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = route("broken");
    let was = machine(&route);
    for (word, why) in BROKEN {
        let words = refusal(tcp::load_file(&file(&[word]), None, false));
        eprintln!("{words}");
        assert!(words.contains(why) && words.contains("aimd-D"), "{word}: {words}");
        assert_eq!(machine(&route), was, "{word}");
    }
    let text = written("text", b"congestion control by hope");
    let own = std::env::current_exe().expect("a program of this machine");
    for (path, why) in [(text, "expected an ELF file"), (own, "expected an ELF file"), ("/none".into(), "No such file")]
    {
        let words = refusal(tcp::load_file(&path, None, false));
        assert!(words.contains(why) && words.starts_with(&path.display().to_string()), "{words}");
    }
    for (name, why) in [("cubic", "not ours"), ("a name", "letters"), ("sixteen_letters_", "15 letters")] {
        let words = refusal(tcp::load_file(&file(&[]), Some(name), false));
        assert!(words.contains(why), "{name}: {words}");
    }
    assert_eq!(machine(&route), was);
}

#[test]
fn user_controller_cannot_take_rapids_name() {
    if !able() {
        return;
    }
    let _alone = alone();
    let rapid = super::Loaded::new("bring", named(""));
    for replace in [false, true] {
        let words = refusal(tcp::load_file(&file(&[]), Some(&rapid.name), replace));
        assert!(words.contains("is Rapid"), "{words}");
    }
    assert_eq!(tcp::status(&rapid.name).expect("still loaded").flows, 4);
}

#[test]
#[ignore = "long: make test-long"]
fn replaced_version_drains_with_new_one() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = route("versions");
    route.segments(MANY_SEGMENTS);
    let was = machine(&route);
    let example = file(&[]);
    tcp::load_file(&example, None, false).unwrap_or_else(|error| panic!("{error}"));
    assert!(refusal(tcp::load_file(&example, None, false)).contains("--replace"));
    let mut old = Flow::open(&route, "aimd", Set::BeforeConnect);
    old.bulk(SECOND);
    let found = tcp::load_file(&example, None, true).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found.old, 1);
    let mut new = Flow::open(&route, "aimd", Set::BeforeConnect);
    let rates = [&mut old, &mut new].map(|flow| flow.bulk(SECOND) * 8.0 / 1e6);
    assert!(rates.iter().all(|rate| *rate > 1.0), "{rates:.1?} Mbit/s");
    let both = UserController { registered: true, users: 1, earlier: 1 };
    assert_eq!(tcp::user_controller("aimd").expect("root"), Some(both));
    // Those that have it keep it until they end.
    let late = tcp::drain("aimd", Some(Duration::ZERO)).expect("unloads");
    assert_eq!(late, Drained { there: true, left: 2, again: false });
    assert!(old.bulk(SECOND) > 1e5, "it goes on");
    drop((old, new));
    tcp::load_file(&example, None, false).unwrap_or_else(|error| panic!("{error}"));
    let flow = Flow::open(&route, "aimd", Set::BeforeConnect);
    std::thread::scope(|scope| {
        let drainer = scope.spawn(|| tcp::drain("aimd", Some(30 * SECOND)));
        while tcp::is_registered("aimd") {
            std::thread::sleep(Duration::from_millis(10));
        }
        let waits = UserController { registered: false, users: 1, earlier: 0 };
        // The kernel counts the registration itself until all processors have noticed that the name is gone.
        let began = std::time::Instant::now();
        while tcp::user_controller("aimd").expect("root") != Some(waits) {
            assert!(began.elapsed() < SECOND, "{:?}", tcp::user_controller("aimd"));
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(flow);
        let done = drainer.join().expect("no panic").expect("unloads");
        assert_eq!(done, Drained { there: true, left: 0, again: false });
    });
    assert_eq!(machine(&route), was);
}
