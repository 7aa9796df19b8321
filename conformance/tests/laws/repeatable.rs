//! The same seed gives the same bytes, and unrelated changes do not affect a flow.

use super::contenders;
use super::path::{dumbbell, flow, link, run, traffic};
use experiment::scenario::{Buffer, Experiment, FlowSpec, GapModel, TrafficKind};
use packetscale_models::units::{Packets, Rate, Ratio, Span};
use simulator::{Mode, Served};

/// An experiment with everything that is drawn at random: loss, traffic, gap noise.
fn random(flow: FlowSpec) -> Experiment {
    let mut wire = link(Rate::from_mbps(50), Span::from_millis(5), Buffer::Packets(Packets::new(40)));
    wire.loss = Ratio::of(1, 500);
    let mut experiment = dumbbell(wire, Span::from_secs(3));
    experiment.gaps = GapModel::Noise(Span::from_micros(5));
    experiment.flows = vec![flow.clone().into(), flow.into()];
    experiment.traffic = vec![traffic(TrafficKind::Poisson { rate: Rate::from_mbps(10) }, 700)];
    experiment.record.detail = true;
    experiment.record.streams = 3;
    experiment
}

/// Returns a run as the bytes that are written for it, without the time it took.
fn bytes(experiment: &Experiment) -> String {
    let mut run = run(experiment);
    run.summary.cpu_s = None;
    serde_json::to_string(&run).expect("a run is JSON")
}

#[test]
fn a_seed_determines_the_bytes() {
    for (name, flow) in contenders(1000, Span::from_millis(20)) {
        let experiment = random(flow);
        let first = bytes(&experiment);
        assert!(first == bytes(&experiment), "{name}: two runs of one seed differ");
        let mut other = experiment.clone();
        other.seed += 1;
        let second = bytes(&other).replacen("\"seed\":2", "\"seed\":1", 1);
        assert!(first != second, "{name}: the seed changes nothing");
    }
}

/// Runs made in parallel on several threads equal runs made one after the other.
#[test]
fn concurrent_runs_are_independent() {
    let experiments: Vec<Experiment> =
        contenders(1000, Span::from_millis(20)).into_iter().map(|(_, flow)| random(flow)).collect();
    let alone: Vec<String> = experiments.iter().map(bytes).collect();
    let together: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = experiments.iter().map(|experiment| scope.spawn(|| bytes(experiment))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the run ends")).collect()
    });
    assert!(alone == together);
}

#[test]
fn a_flow_is_unaffected_by_links_it_does_not_cross() {
    for (name, one) in contenders(1000, Span::from_millis(20)) {
        let mut quiet = random(one);
        quiet.flows.truncate(1);
        quiet.links.push(link(Rate::from_mbps(30), Span::from_millis(3), Buffer::Packets(Packets::new(20))));
        let mut busy = quiet.clone();
        let mut elsewhere = flow("cubic", 1500, Span::from_millis(11));
        elsewhere.route = vec![1];
        busy.flows.push(elsewhere.into());
        let here = |experiment: &Experiment| -> Vec<Served> {
            let log = simulator::log(experiment, Mode::Fused).unwrap();
            log.into_iter().filter(|served| served.link == 0 && served.owner == 0).collect()
        };
        let (alone, beside) = (here(&quiet), here(&busy));
        assert!(alone.len() > 300, "{name}: only {} packets", alone.len());
        assert!(alone == beside, "{name}");
    }
}
