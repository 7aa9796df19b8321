//! Curves of links: oracle by hand.

use crate::{ms, planned};
use experiment::scenario::Experiment;
use harness::measure::{Recorder, Seen};
use packetscale_models::units::{Bytes, Span, Time};

/// One run of 400 ms with a warm-up of 200 ms.
fn experiment(detail: bool) -> Experiment {
    planned(&format!(
        "run = {{ duration = \"400 ms\", warmup = \"200 ms\" }}\n\
         path = {{ rate = \"8 Mbit/s\", delay = \"5 ms\", buffer = \"10 kB\" }}\nflow = [{{ controller = \"cubic\" }}]\n\
         record = {{ links = true, step = \"100 ms\", detail = {detail} }}\n"
    ))
}

/// Two packets that waited 4 and 8 ms leave in the first interval, none in the second, one of 1 ms in the third.
#[test]
fn each_interval_has_a_links_mean_wait() {
    let link = |detail: bool| {
        let experiment = experiment(detail);
        let mut recorder = Recorder::new(&experiment, &[Time::ZERO], Some(Span::from_millis(10)));
        for (arrives, begins) in [(10, 14), (20, 28), (230, 231)] {
            recorder.links.served(0, Bytes::new(1000), ms(arrives), ms(begins), ms(begins + 1));
        }
        let mut run = recorder.finish(&experiment, Seen::default());
        run.links.remove(0)
    };
    let found = link(true);
    let micros: Vec<Option<i64>> =
        found.queue_delay.values.iter().map(|wait| wait.map(|wait| (f64::from(wait) * 1e6).round() as i64)).collect();
    assert_eq!(micros, [Some(6000), None, Some(1000), None]);
    assert_eq!((found.queue_delay.start_s, found.queue_delay.step_s), (0.05, 0.1));
    assert_eq!(found.packets, 1, "figures leave the warm-up out");
    assert!(link(false).queue_delay.is_empty());
}
