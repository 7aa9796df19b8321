"""Environments of Gymnasium: its requirements, and agreement with the simulator."""

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import packetscale as ps
import packetscale.gym
import pytest
from gymnasium.utils.env_checker import check_env

SCHEMES = ps.gym.SCHEMES

#: Two paths, each half a second with random traffic.
PATHS = """
[run]
duration = "1 s"

[path]
rate = "4 Mbit/s"
delay = "10 ms"
buffer = "20 packets"

[[flow]]
controller = "cubic"

[[traffic]]
kind = "poisson"
rate = "1 Mbit/s"

[sweep]
"path.rate" = ["4 Mbit/s", "6 Mbit/s"]
"""


@pytest.fixture
def paths() -> ps.Scenario:
    return ps.Scenario.from_text(PATHS)


def trajectory(env: gymnasium.Env[Any, Any], seed: int, actions: np.ndarray) -> list[Any]:
    """Observation, reward and end of each step, with a reset wherever an episode ends."""
    seen = [env.reset(seed=seed)[0].tolist()]
    over = False
    for action in actions:
        if over:
            observation, over = env.reset()[0], False
            seen.append((observation.tolist(), 0.0, False))
            continue
        observation, reward, _, over, _ = env.step(action)
        seen.append((observation.tolist(), reward, over))
    return seen


def drawn(steps: int, env: gymnasium.Env[Any, Any]) -> np.ndarray:
    assert env.action_space.shape is not None
    high = env.action_space.high  # type: ignore[attr-defined]
    return np.random.default_rng(3).uniform(-high / 4, high / 4, (steps, *env.action_space.shape)).astype(np.float32)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_gymnasium_accepts_environment(paths: ps.Scenario, scheme: str) -> None:
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter("always")
        check_env(ps.gym.CongestionEnv(paths, scheme), skip_render_check=True)
    said = [str(one.message) for one in log]
    # It has no name in Gymnasium's registry, so no spec; and Aurora's actions are as published, not between -1 and 1.
    known = ("spec", "symmetric and normalized")
    assert all(any(words in one for words in known) for one in said), said


@pytest.mark.parametrize("scheme", SCHEMES)
def test_seed_determines_trajectory(paths: ps.Scenario, scheme: str) -> None:
    env = ps.gym.CongestionEnv(paths, scheme)
    actions = drawn(120, env)
    first = trajectory(env, 5, actions)
    assert first == trajectory(ps.gym.CongestionEnv(paths, scheme), 5, actions)
    assert first == trajectory(env, 5, actions)
    assert first != trajectory(env, 6, actions)
    assert any(over for _, _, over in first[1:])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_vector_matches_single_environments(paths: ps.Scenario, scheme: str) -> None:
    count, steps = 5, 120
    vec = ps.gym.CongestionVectorEnv(paths, count, scheme, threads=2)
    actions = np.stack([drawn(steps, ps.gym.CongestionEnv(paths, scheme))] * count, axis=1)
    actions *= np.linspace(0.5, 1.0, count, dtype=np.float32)[None, :, None]
    together = [[one.tolist()] for one in vec.reset(seed=40)[0]]
    for row in actions:
        observations, rewards, terminated, truncated, infos = vec.step(row)
        assert not terminated.any() and infos["loss_ratio"].shape == (count,)
        for number in range(count):
            seen = (observations[number].tolist(), float(rewards[number]), bool(truncated[number]))
            together[number].append(seen)
    for number in range(count):
        alone = trajectory(ps.gym.CongestionEnv(paths, scheme), 40 + number, actions[:, number])
        assert together[number] == alone


def test_action_sets_rate() -> None:
    """Alone on 4 Mbit/s, a rate that stays at its bound of 2 Mbit/s delivers 2 Mbit/s, without loss or queue."""
    scenario = ps.Scenario.from_text(PATHS.split("[[traffic]]")[0] + "[receiver]\ndelayed_ack = 1\n")
    env = ps.gym.CongestionEnv(scenario, "aurora", most_rate_bps=2e6)
    _, info = env.reset(seed=1)
    rates, over = [], False
    while not over:
        _, _, _, over, info = env.step(env.action_space.high)  # type: ignore[attr-defined]
        assert info["loss_ratio"] == 0.0 and info["latency_s"] < 0.0241, info
        rates.append(info["throughput_bps"])
    assert info["time_s"] == 1.0
    # An interval of half a round trip counts one packet of two at most too many or too few; their mean does not.
    assert np.mean(rates[10:]) == pytest.approx(2e6, rel=0.02)


def test_paths_and_draws_differ_by_seed(paths: ps.Scenario) -> None:
    vec = ps.gym.CongestionVectorEnv(paths, 8, "orca")
    vec.reset(seed=0)
    for _ in range(30):
        observations, *_ = vec.step(np.zeros((8, 1), np.float32))
    assert len({tuple(one) for one in observations.tolist()}) == 8


def test_error_names_wrong_input(paths: ps.Scenario) -> None:
    for wrong in ({"scheme": "vegas"}, {"flow": 1}):
        with pytest.raises(ps.InputError, match=str(next(iter(wrong.values())))):
            ps.gym.CongestionEnv(paths, **wrong)  # type: ignore[arg-type]
    with pytest.raises(gymnasium.error.ResetNeeded):
        ps.gym.CongestionEnv(paths).step(np.zeros(1, np.float32))


@pytest.mark.parametrize("count", [1, 3])
def test_refuses_invalid_count(paths: ps.Scenario, count: int) -> None:
    vec = ps.gym.CongestionVectorEnv(paths, 2)
    with pytest.raises(ps.InputError, match=f"seeds: found {count} values; expected 2"):
        vec.reset(seed=[5] * count)
    vec.reset(seed=5)
    with pytest.raises(ps.InputError, match=f"actions: found {count} values; expected 2"):
        vec.step(np.zeros((count, 1), np.float32))


def test_refuses_zero_interval(paths: ps.Scenario) -> None:
    with pytest.raises(ps.InputError, match="intervals: found 0"):
        ps.gym.CongestionVectorEnv(paths, 2, intervals=0)


def test_vector_needs_reset_before_step(paths: ps.Scenario) -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        ps.gym.CongestionVectorEnv(paths, 2).step(np.zeros((2, 1), np.float32))


def test_refused_step_changes_nothing(paths: ps.Scenario) -> None:
    action, wrong = np.zeros((2, 1), np.float32), np.zeros((3, 1), np.float32)
    seen = []
    for refused in (False, True):
        vec = ps.gym.CongestionVectorEnv(paths, 2)
        vec.reset(seed=5)
        vec.step(action)
        if refused:
            with pytest.raises(ps.InputError):
                vec.step(wrong)
        seen.append(vec.step(action)[0].tolist())
    assert seen[0] == seen[1]


def test_accepts_numpy_seed(paths: ps.Scenario) -> None:
    vec = ps.gym.CongestionVectorEnv(paths, 2)
    assert vec.reset(seed=np.int64(5))[0].tolist() == vec.reset(seed=5)[0].tolist()  # type: ignore[arg-type]


class Still:
    """A policy without effect."""

    def __call__(self, observation: np.ndarray) -> float:
        assert observation.shape == (30,)
        return 0.0


class Wrong:
    """A policy that fails."""

    def __call__(self, observation: np.ndarray) -> float:
        raise ArithmeticError("no idea")


def test_policy_works_as_controller(tmp_path: Path) -> None:
    """It stays at the rate that it begins with: 10 packets of 1500 bytes in 20 ms are 6 Mbit/s, less than the 8 of the path."""
    ps.gym.controller("still", Still())
    text = PATHS.split("[[traffic]]")[0].replace('"cubic"', '"still"').replace("4 Mbit/s", "8 Mbit/s")
    scenario = ps.Scenario.from_text(text)
    run = ps.run(scenario).runs.to_polars()
    assert run["controller"][0] == "still"
    assert run["throughput_bps"][0] == pytest.approx(6e6, rel=0.03)
    ps.gym.controller("wrong", Wrong())
    with pytest.raises(ArithmeticError, match="no idea"):
        ps.run(ps.Scenario.from_text(text.replace('"still"', '"wrong"')))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_refuses_nan_action(paths: ps.Scenario, scheme: str) -> None:
    nan = np.array([np.nan], np.float32)
    env = ps.gym.CongestionEnv(paths, scheme)
    env.reset(seed=1)
    with pytest.raises(ps.InputError, match="actions: found NaN for environment 0"):
        env.step(nan)
    every = ps.gym.CongestionVectorEnv(paths, 2, scheme)
    every.reset(seed=1)
    with pytest.raises(ps.InputError, match="actions: found NaN for environment 1"):
        every.step(np.array([[0.0], [np.nan]], np.float32))
    # An infinite action is the largest.
    _, reward, *_ = env.step(np.array([np.inf], np.float32))
    assert np.isfinite(reward)


def test_refuses_nan_of_policy() -> None:
    ps.gym.controller("diverged", lambda observation: float("nan"))
    with pytest.raises(ps.InputError, match="policy: found the action NaN"):
        ps.run(ps.Scenario.from_text(PATHS.replace("cubic", "diverged")))
