"""Environments of Gymnasium: a flow whose rate or window an agent sets, in the simulator.

    import packetscale as ps, packetscale.gym

    env = ps.gym.CongestionEnv(scenario, scheme="aurora")
    many = ps.gym.CongestionVectorEnv(scenario, num_envs=256, scheme="orca")

`pip install packetscale[gym]`. Observations, actions and rewards: docs/gym.md.

An episode is one run of the scenario's plan, drawn by seed, with its own seed: a scenario with a sweep has many paths.
It is truncated at `run.duration`. The same seed gives the same trajectory.
"""

from __future__ import annotations

import hashlib
import numbers
import pickle
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from packetscale import _native
from packetscale._native import Scenario

__all__ = ["SCHEMES", "CongestionEnv", "CongestionVectorEnv", "controller"]

#: Observation and action schemes.
SCHEMES = ("aurora", "orca")
#: Intervals in an observation, as in Aurora; Orca's network remembers as many.
INTERVALS = 10
#: Keys of `info`, for an interval.
_INFO = ("time_s", "throughput_bps", "latency_s", "loss_ratio")

_Floats = NDArray[np.float32]


class _Environments:
    """Environments in Rust, and the arrays that they fill."""

    def __init__(
        self,
        scenario: Scenario,
        count: int,
        scheme: str,
        intervals: int,
        flow: int,
        most_rate_bps: float | None,
        threads: int | None,
    ) -> None:
        most = None if most_rate_bps is None else int(most_rate_bps)
        self.rust = _native.Environments(scenario, count, scheme, intervals, flow, most, threads)
        low, high = np.array(self.rust.bounds, dtype=np.float32).T
        self.observation_space = gymnasium.spaces.Box(np.tile(low, intervals), np.tile(high, intervals))
        most_action = np.float32(self.rust.most_action)
        self.action_space = gymnasium.spaces.Box(-most_action, most_action, (1,), np.float32)
        self.observations = np.zeros((count, intervals * len(low)), np.float32)
        self.info = np.zeros((count, len(_INFO)))
        self.rewards = np.zeros(count)
        self.truncated = np.zeros(count, np.bool_)

    def reset(self, seeds: Sequence[int | None]) -> None:
        self.truncated[:] = False
        self.rust.reset(list(seeds), self.observations, self.info)

    def step(self, actions: NDArray[Any]) -> None:
        """Acts. One action per environment; a wrong number changes no environment."""
        flat = np.ascontiguousarray(actions, np.float32).reshape(-1)
        self.rust.step(flat, self.observations, self.info, self.rewards, self.truncated)


class CongestionEnv(gymnasium.Env[_Floats, _Floats]):
    """One flow of a scenario, steered.

    scheme: "aurora" (a rate) or "orca" (the window of CUBIC).
    flow: the number of the flow whose controller is replaced.
    intervals: how many an observation holds, the newest last.
    most_rate_bps: bound of the rate of "aurora"; by default twice the fastest link of the plan.

    `info` has `time_s`, `throughput_bps`, `latency_s` (mean round trip) and `loss_ratio` of the last interval.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        scenario: Scenario,
        scheme: str = "aurora",
        *,
        flow: int = 0,
        intervals: int = INTERVALS,
        most_rate_bps: float | None = None,
    ) -> None:
        self._one = _Environments(scenario, 1, scheme, intervals, flow, most_rate_bps, 1)
        self.observation_space = self._one.observation_space
        self.action_space = self._one.action_space
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Floats, dict[str, Any]]:
        """Begins an episode: the first of this seed, or the next."""
        super().reset(seed=seed)
        if seed is None and not self._begun:
            seed = _any_seed()
        self._one.reset([seed])
        self._begun = True
        return self._one.observations[0].copy(), self._info()

    def step(self, action: _Floats) -> tuple[_Floats, float, bool, bool, dict[str, Any]]:
        """Acts, and runs until the interval is over."""
        one = self._one
        if not self._begun or one.truncated[0]:
            raise gymnasium.error.ResetNeeded("found no episode under way; expected reset() before step()")
        one.step(np.asarray(action))
        return one.observations[0].copy(), float(one.rewards[0]), False, bool(one.truncated[0]), self._info()

    def _info(self) -> dict[str, Any]:
        return dict(zip(_INFO, self._one.info[0].tolist(), strict=True))


class CongestionVectorEnv(gymnasium.vector.VectorEnv[_Floats, _Floats, NDArray[Any]]):
    """Many environments, stepped in Rust on all cores, without the interpreter's lock.

    Environment `i` equals a `CongestionEnv` with the seed `seed + i`. After the end of an episode the next step begins
    another (`AutoresetMode.NEXT_STEP`). threads: by default one per core. copy: whether to copy arrays; otherwise the next step
    overwrites them.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        scenario: Scenario,
        num_envs: int,
        scheme: str = "aurora",
        *,
        flow: int = 0,
        intervals: int = INTERVALS,
        most_rate_bps: float | None = None,
        threads: int | None = None,
        copy: bool = True,
    ) -> None:
        self._all = _Environments(scenario, num_envs, scheme, intervals, flow, most_rate_bps, threads)
        self.num_envs = num_envs
        self.single_observation_space = self._all.observation_space
        self.single_action_space = self._all.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._copy = copy
        self._begun = False
        self._there = np.ones(num_envs, np.bool_)
        self._terminated = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Floats, dict[str, Any]]:
        """Begins an episode in each: the first of its seed, or the next."""
        if seed is None and not self._begun:
            seed = _any_seed()
        self._all.reset(self._seeds(seed))
        self._begun = True
        return self._given(self._all.observations), self._infos()

    def step(
        self, actions: _Floats
    ) -> tuple[_Floats, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Acts in each, and runs until its interval is over."""
        if not self._begun:
            raise gymnasium.error.ResetNeeded("found no episode under way; expected reset() before step()")
        everything = self._all
        everything.step(np.asarray(actions))
        given = self._given
        observations, rewards = given(everything.observations), given(everything.rewards)
        return observations, rewards, self._terminated.copy(), given(everything.truncated), self._infos()

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | numbers.Integral):
            return [int(seed) + number for number in range(self.num_envs)]
        return [None if one is None else int(one) for one in seed]

    def _given(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self._copy else array

    def _infos(self) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for name, column in zip(_INFO, self._given(self._all.info).T, strict=True):
            infos[name], infos[f"_{name}"] = column, self._there
        return infos


def controller(
    name: str,
    policy: Callable[[_Floats], Any],
    scheme: str = "aurora",
    *,
    intervals: int = INTERVALS,
    most_rate_bps: float = 100e9,
) -> None:
    """Registers a policy as the controller of this name, for scenarios read from now on.

    policy: takes an observation and returns an action, a number or an array of one. Called at the first event after each
    interval. The ids of runs depend on its `pickle`; without one, its runs are always new.
    """
    try:
        known = hashlib.sha256(pickle.dumps(policy)).hexdigest()
    except (pickle.PicklingError, AttributeError, TypeError):
        known = uuid.uuid4().hex
    source = f"policy:{name}:{scheme}:{intervals}:{int(most_rate_bps)}:{known}"

    def act(observation: _Floats) -> float:
        return float(np.asarray(policy(observation)).reshape(()))

    _native.guide(name, act, source, scheme, intervals, int(most_rate_bps))


def _any_seed() -> int:
    return int(np.random.SeedSequence().generate_state(1)[0])
