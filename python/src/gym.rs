//! Environments for reinforcement learning: runs of the simulator that pause at the end of each interval for an action.
//!
//! One call steps all of them, in parallel and without the interpreter's lock; results are copied into arrays of the
//! caller. An episode is one run of the scenario's plan, drawn with its seed from the environment's seed and the episode's
//! number.

use crate::controller::Raised;
use crate::fault::input;
use crate::scenario::Scenario;
use experiment::plugins::{Maker, Own};
use experiment::scenario::{ControllerSpec, Experiment, Record};
use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray1, PyReadwriteArray2};
use packetscale_models::congestion::{AnyController, External, Setup};
use packetscale_models::steered::{Guided, Outcome, Policy, Scheme, Steered};
use packetscale_models::units::{Random, Rate, Time};
use pyo3::prelude::*;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use simulator::Paused;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// Default of the highest rate, as a multiple of the fastest link's (as in PCC-RL).
const MOST_OF_LINK: u64 = 2;
/// Number of values of `info`: time_s, throughput_bps, latency_s, loss_ratio.
const INFO: usize = 4;

fn scheme(name: &str, most: Rate) -> PyResult<Scheme> {
    match name {
        "aurora" => Ok(Scheme::Aurora { most }),
        "orca" => Ok(Scheme::Orca),
        other => Err(input(format!("scheme: found \"{other}\"; expected \"aurora\" or \"orca\"")).into()),
    }
}

/// An observation holds at least one interval.
fn some(intervals: usize) -> PyResult<usize> {
    match intervals {
        0 => Err(input("intervals: found 0; expected 1 or more").into()),
        some => Ok(some),
    }
}

/// Checks the size of the caller's array, before a run is touched.
fn fits(what: &str, found: usize, expected: usize) -> PyResult<()> {
    if found == expected {
        return Ok(());
    }
    Err(input(format!("{what}: found {found} values; expected {expected}")).into())
}

/// Observations and actions, and their sizes.
#[derive(Clone, Copy)]
struct Shape {
    scheme: Scheme,
    intervals: usize,
}

impl Shape {
    fn controller(self, setup: &Setup) -> Steered {
        Steered::new(self.scheme, self.intervals, setup).expect("the laws take their defaults")
    }
}

impl Maker for Shape {
    fn make(&self, setup: &Setup) -> Box<dyn External> {
        Box::new(self.controller(setup))
    }
}

/// State that all environments share.
struct Common {
    shape: Shape,
    flow: usize,
    plan: Vec<Experiment>,
}

/// One environment.
struct Environment {
    seed: u64,
    episode: u64,
    run: Option<Paused>,
    /// When the interval under way ends.
    due: Time,
    step: Step,
}

/// Result of the last step.
#[derive(Clone, Copy, Default)]
struct Step {
    reward: f64,
    truncated: bool,
    info: [f64; INFO],
}

fn steered(controller: &mut AnyController) -> &mut Steered {
    let AnyController::External(external) = controller else { unreachable!("the flow's controller was replaced") };
    let any: &mut dyn Any = &mut **external;
    any.downcast_mut().expect("the flow's controller was replaced")
}

impl Environment {
    /// Begins an episode, and ends its first interval. Writes the observation to `place`.
    fn begin(&mut self, common: &Common, place: &mut [f32]) -> Result<(), String> {
        let mut random = Random::new(Random::new(self.seed).bits() ^ self.episode);
        let experiment = &common.plan[(random.bits() % common.plan.len() as u64) as usize];
        // Seeds are below 2^53, as those of scenarios.
        let experiment = Experiment { seed: random.bits() >> 11, ..experiment.clone() };
        let mut run = Paused::new(Arc::new(experiment)).map_err(|error| error.to_string())?;
        self.due = run.with_controller(common.flow, |controller| steered(controller).due());
        let outcome = self.end_interval(&mut run, common, place)?;
        self.step = Step { reward: 0.0, truncated: false, info: info(&run, &outcome) };
        self.run = Some(run);
        Ok(())
    }

    /// Acts, and runs until the interval is over. After the end of an episode the next begins, as Gymnasium has it.
    fn act(&mut self, common: &Common, action: f32, place: &mut [f32]) -> Result<(), String> {
        let Some(mut run) = self.run.take().filter(|_| !self.step.truncated) else {
            self.episode += 1;
            return self.begin(common, place);
        };
        run.with_controller(common.flow, |controller| steered(controller).act(action));
        let outcome = self.end_interval(&mut run, common, place)?;
        self.step = Step { reward: outcome.reward, truncated: run.is_over(), info: info(&run, &outcome) };
        self.run = Some(run);
        Ok(())
    }

    fn end_interval(&mut self, run: &mut Paused, common: &Common, place: &mut [f32]) -> Result<Outcome, String> {
        run.advance(self.due).map_err(|error| error.to_string())?;
        let now = run.now();
        Ok(run.with_controller(common.flow, |controller| {
            let steered = steered(controller);
            let outcome = steered.end_interval(now);
            place.copy_from_slice(steered.observation());
            self.due = steered.due();
            outcome
        }))
    }
}

fn info(run: &Paused, outcome: &Outcome) -> [f64; INFO] {
    let interval = &outcome.interval;
    let throughput_bps = interval.delivered_per_s() * 8.0 * interval.packet.get() as f64;
    [run.now().as_secs_f64(), throughput_bps, interval.rtt_s.unwrap_or(interval.srtt_s), interval.loss_ratio()]
}

struct All {
    each: Vec<Environment>,
    observations: Vec<f32>,
    steps: Vec<Step>,
}

/// Environments that step together.
#[pyclass(frozen, module = "packetscale._native")]
pub struct Environments {
    common: Common,
    count: usize,
    all: Mutex<All>,
    pool: ThreadPool,
}

#[pymethods]
impl Environments {
    #[new]
    #[pyo3(signature = (scenario, count, scheme, intervals, flow, most_rate_bps, threads))]
    fn new(
        scenario: PyRef<'_, Scenario>,
        count: usize,
        scheme: &str,
        intervals: usize,
        flow: usize,
        most_rate_bps: Option<u64>,
        threads: Option<usize>,
    ) -> PyResult<Environments> {
        let mut plan = scenario.resolved.plan();
        let fastest = plan.iter().flat_map(|one| &one.links).map(|link| link.rate).max().unwrap_or(Rate::from_bps(0));
        let most = most_rate_bps.unwrap_or(fastest.bps().saturating_mul(MOST_OF_LINK));
        let shape = Shape { scheme: self::scheme(scheme, Rate::from_bps(most))?, intervals: some(intervals)? };
        let own = Own::new("steered", scheme, Arc::new(shape));
        for experiment in &mut plan {
            let flows = experiment.flows.len();
            let Some(spec) = experiment.flows.get_mut(flow) else {
                return Err(input(format!(
                    "flow: found {flow}; expected a number below {flows}, the scenario's flows"
                ))
                .into());
            };
            spec.controller = ControllerSpec { own: Some(own.clone()), ..ControllerSpec::default() };
            experiment.record = Record { step: experiment.duration, ..Record::PLAIN };
        }
        let pool = ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
        let pool = pool.map_err(|error| input(format!("threads: {error}")))?;
        let each = || Environment { seed: 0, episode: 0, run: None, due: Time::ZERO, step: Step::default() };
        let width = shape.intervals * shape.scheme.bounds().len();
        let all = All {
            each: (0..count).map(|_| each()).collect(),
            observations: vec![0.0; count * width],
            steps: vec![Step::default(); count],
        };
        Ok(Environments { common: Common { shape, flow, plan }, count, all: Mutex::new(all), pool })
    }

    /// Bounds of the values observed of one interval.
    #[getter]
    fn bounds(&self) -> Vec<(f32, f32)> {
        self.common.shape.scheme.bounds().to_vec()
    }

    /// The largest action; the smallest is its opposite.
    #[getter]
    fn most_action(&self) -> f32 {
        self.common.shape.scheme.most_action()
    }

    /// Begins episodes: the first of the seed where one is given, else the next.
    fn reset(
        &self,
        py: Python<'_>,
        seeds: Vec<Option<u64>>,
        observations: PyReadwriteArray2<'_, f32>,
        info: PyReadwriteArray2<'_, f64>,
    ) -> PyResult<()> {
        fits("seeds", seeds.len(), self.count)?;
        self.fit(&observations, &info)?;
        self.together(py, |common, number, environment, place| {
            match seeds[number] {
                Some(seed) => (environment.seed, environment.episode) = (seed, 0),
                None => environment.episode += 1,
            }
            environment.begin(common, place)
        })?;
        self.show(observations, info, None)
    }

    /// Acts in all.
    fn step(
        &self,
        py: Python<'_>,
        actions: PyReadonlyArray1<'_, f32>,
        observations: PyReadwriteArray2<'_, f32>,
        info: PyReadwriteArray2<'_, f64>,
        rewards: PyReadwriteArray1<'_, f64>,
        truncated: PyReadwriteArray1<'_, bool>,
    ) -> PyResult<()> {
        let actions = actions.as_slice()?.to_vec();
        fits("actions", actions.len(), self.count)?;
        fits("rewards", rewards.as_slice()?.len(), self.count)?;
        fits("truncated", truncated.as_slice()?.len(), self.count)?;
        self.fit(&observations, &info)?;
        if let Some(number) = actions.iter().position(|action| action.is_nan()) {
            return Err(input(format!("actions: found NaN for environment {number}; expected a number")).into());
        }
        self.together(py, |common, number, environment, place| environment.act(common, actions[number], place))?;
        self.show(observations, info, Some((rewards, truncated)))
    }
}

impl Environments {
    /// Checks that the caller's arrays have the right sizes.
    fn fit(&self, observations: &PyReadwriteArray2<'_, f32>, info: &PyReadwriteArray2<'_, f64>) -> PyResult<()> {
        let width = self.common.shape.intervals * self.common.shape.scheme.bounds().len();
        fits("observations", observations.as_slice()?.len(), self.count * width)?;
        fits("info", info.as_slice()?.len(), self.count * INFO)
    }

    /// Does this in all environments, in parallel, and observes.
    fn together(
        &self,
        py: Python<'_>,
        work: impl Fn(&Common, usize, &mut Environment, &mut [f32]) -> Result<(), String> + Sync,
    ) -> PyResult<()> {
        let common = &self.common;
        let all = || {
            let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
            let All { each, observations, steps } = &mut *all;
            let width = observations.len() / each.len().max(1);
            let one = |(number, ((environment, place), step)): (usize, ((&mut Environment, &mut [f32]), &mut Step))| {
                work(common, number, environment, place)?;
                *step = environment.step;
                Ok(())
            };
            let places = observations.par_chunks_mut(width.max(1));
            let all = each.par_iter_mut().zip(places).zip(steps.par_iter_mut()).enumerate();
            self.pool.install(|| all.try_for_each(one))
        };
        match py.detach(|| catch_unwind(AssertUnwindSafe(all))) {
            Ok(done) => done.map_err(|error: String| input(error).into()),
            Err(why) => {
                let Raised(error) = *why.downcast().unwrap_or_else(|why| resume_unwind(why));
                Err(error)
            }
        }
    }

    /// Copies what was seen into the caller's arrays.
    fn show(
        &self,
        mut observations: PyReadwriteArray2<'_, f32>,
        mut info: PyReadwriteArray2<'_, f64>,
        judged: Option<(PyReadwriteArray1<'_, f64>, PyReadwriteArray1<'_, bool>)>,
    ) -> PyResult<()> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        observations.as_slice_mut()?.copy_from_slice(&all.observations);
        for (place, step) in info.as_slice_mut()?.chunks_mut(INFO).zip(&all.steps) {
            place.copy_from_slice(&step.info);
        }
        if let Some((mut rewards, mut truncated)) = judged {
            for ((reward, over), step) in
                rewards.as_slice_mut()?.iter_mut().zip(truncated.as_slice_mut()?).zip(&all.steps)
            {
                (*reward, *over) = (step.reward, step.truncated);
            }
        }
        Ok(())
    }
}

/// A policy written in Python: a function of an array, which returns a number.
#[derive(Debug)]
struct Function(Py<PyAny>);

impl Clone for Function {
    fn clone(&self) -> Function {
        Python::attach(|py| Function(self.0.clone_ref(py)))
    }
}

impl Policy for Function {
    fn act(&mut self, observation: &[f32]) -> f32 {
        let asked = Python::attach(|py| {
            let observation = PyArray1::from_slice(py, observation);
            let action: f32 = self.0.call1(py, (observation,))?.extract(py)?;
            if action.is_nan() {
                return Err(input("policy: found the action NaN; expected a number").into());
            }
            Ok(action)
        });
        asked.unwrap_or_else(|error| resume_unwind(Box::new(Raised(error))))
    }
}

struct Guide {
    shape: Shape,
    policy: Function,
}

impl Maker for Guide {
    fn make(&self, setup: &Setup) -> Box<dyn External> {
        Box::new(Guided::new(self.shape.controller(setup), self.policy.clone()))
    }
}

/// Gives a policy to the scenarios that are read from now on, as a controller. See `packetscale.gym.controller`.
#[pyfunction]
pub fn guide(
    name: &str,
    policy: Py<PyAny>,
    source: &str,
    scheme: &str,
    intervals: usize,
    most_rate_bps: u64,
) -> PyResult<()> {
    let shape = Shape { scheme: self::scheme(scheme, Rate::from_bps(most_rate_bps))?, intervals: some(intervals)? };
    let guide = Guide { shape, policy: Function(policy) };
    experiment::plugins::register(name, source, Arc::new(guide)).map_err(|error| crate::controller::misnamed(&error))
}
