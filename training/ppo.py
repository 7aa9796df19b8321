"""Trains a policy for Aurora's environment by proximal policy optimisation, and compares it with other controllers.

    uv run --with ../target/python/wheels/packetscale-*.whl ppo.py            # trains, writes policy.npz and ppo.csv
    uv run --with ../target/python/wheels/packetscale-*.whl ppo.py --compare  # only compares policy.npz again

Everything is simulated. The algorithm is PPO with clipping and generalised advantages (Schulman et al., arXiv:1707.06347 and
1506.02438), in numpy: its two networks have 32 and 16 units, as Aurora's. stable-baselines3 would need PyTorch, whose wheel
on PyPI comes with 3.0 GB of CUDA.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import packetscale as ps
import packetscale.gym

HERE = Path(__file__).parent
ENVIRONMENTS, STEPS, UPDATES = 64, 128, 100
EPOCHS, BATCH = 6, 1024
GAMMA, LAMBDA, CLIP, RATE, ENTROPY = 0.99, 0.95, 0.2, 1e-3, 1e-3
UNITS = (32, 16)
#: Actions are sent in these: 1 is a rate changed by 12.5 %.
ACTION = 5.0


def seen(observations: np.ndarray) -> np.ndarray:
    """Observations as the networks take them: without the values of a quiet path, and without far ends."""
    return np.arcsinh(observations - np.tile([0.0, 1.0, 1.0], observations.shape[-1] // 3))


class Network:
    """Layers of tanh with one linear output, and Adam (Kingma and Ba, arXiv:1412.6980)."""

    def __init__(self, inputs: int, random: np.random.Generator) -> None:
        sizes = [inputs, *UNITS, 1]
        self.parts: list[np.ndarray] = []
        for number, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
            scale = 0.01 if number == len(UNITS) else 1.0
            self.parts += [random.normal(size=(fan_in, fan_out)) * scale / np.sqrt(fan_in), np.zeros(fan_out)]
        self.steps = 0
        self.means = [np.zeros_like(part) for part in self.parts]
        self.squares = [np.zeros_like(part) for part in self.parts]

    def layers(self, inputs: np.ndarray) -> list[np.ndarray]:
        """The inputs, and what each layer makes of them."""
        values = [inputs]
        for number in range(0, len(self.parts), 2):
            value = values[-1] @ self.parts[number] + self.parts[number + 1]
            values.append(value if number == 2 * len(UNITS) else np.tanh(value))
        return values

    def __call__(self, inputs: np.ndarray) -> np.ndarray:
        return self.layers(inputs)[-1][..., 0]

    def learn(self, values: list[np.ndarray], slope: np.ndarray) -> None:
        """One step down, given the slope of the loss at the output."""
        slope, slopes = slope[:, None], []
        for number in range(len(self.parts) - 2, -1, -2):
            below = values[number // 2]
            slopes = [below.T @ slope, slope.sum(0), *slopes]
            slope = (slope @ self.parts[number].T) * (1 - below**2)
        norm = np.sqrt(sum((one**2).sum() for one in slopes))
        self.steps += 1
        for part, one, mean, square in zip(self.parts, slopes, self.means, self.squares):
            one = one * min(1.0, 0.5 / (norm + 1e-8))
            mean += 0.1 * (one - mean)
            square += 0.001 * (one**2 - square)
            step = mean / (1 - 0.9**self.steps) / (np.sqrt(square / (1 - 0.999**self.steps)) + 1e-8)
            part -= RATE * step


class Policy:
    """What was learnt: the mean action."""

    def __init__(self, parts: list[np.ndarray]) -> None:
        self.network = Network(parts[0].shape[0], np.random.default_rng(0))
        self.network.parts = parts

    def __call__(self, observation: np.ndarray) -> float:
        return ACTION * float(self.network(seen(observation[None, :]))[0])

    @staticmethod
    def load(file: Path) -> "Policy":
        with np.load(file) as parts:
            return Policy([parts[f"part{number}"] for number in range(len(parts.files))])


def advantages(rewards, values, last, over, skipped):
    """Generalised advantages. What follows the end of an episode does not count; an episode that is cut off goes on in vain."""
    found, running = np.zeros_like(rewards), np.zeros(rewards.shape[1])
    following = last
    for step in range(len(rewards) - 1, -1, -1):
        error = rewards[step] + GAMMA * following - values[step]
        running = error + GAMMA * LAMBDA * running * ~over[step]
        running[skipped[step]] = 0.0
        found[step], following = running, values[step]
    return found


def train(scenario: ps.Scenario, updates: int) -> tuple[Policy, list[float], float]:
    """Returns the policy, the mean reward of each update, and steps per second with learning."""
    random = np.random.default_rng(1)
    envs = ps.gym.CongestionVectorEnv(scenario, ENVIRONMENTS)
    observation, _ = envs.reset(seed=1)
    width = observation.shape[1]
    actor, critic, spread = Network(width, random), Network(width, random), np.log(0.5)
    curve, began, over_before = [], time.perf_counter(), np.zeros(ENVIRONMENTS, bool)
    for _ in range(updates):
        inputs, actions, rewards, over, skipped = (np.zeros((STEPS, ENVIRONMENTS, *more)) for more in ((width,), (), (), (), ()))
        over, skipped = over.astype(bool), skipped.astype(bool)
        for step in range(STEPS):
            inputs[step] = seen(observation)
            actions[step] = actor(inputs[step]) + np.exp(spread) * random.normal(size=ENVIRONMENTS)
            # The step after an end only begins the next episode: it is no transition.
            skipped[step] = over_before
            observation, rewards[step], _, over[step], _ = envs.step(ACTION * actions[step])
            over_before = over[step]
        values = critic(inputs)
        found = advantages(rewards, values, critic(seen(observation)), over, skipped)
        use = ~skipped.ravel()
        flat = [one.reshape(STEPS * ENVIRONMENTS, -1)[use] for one in (inputs, actions, found, found + values)]
        means = actor(flat[0])
        before = -((flat[1][:, 0] - means) ** 2) / (2 * np.exp(2 * spread)) - spread
        spread = improve(actor, critic, spread, flat, before, random)
        curve.append(float(rewards.ravel()[use].mean()))
        print(f"update {len(curve)}: mean reward {curve[-1]:.3f}, spread {np.exp(spread):.3f}", flush=True)
    return Policy(actor.parts), curve, updates * STEPS * ENVIRONMENTS / (time.perf_counter() - began)


def improve(actor, critic, spread, flat, before, random) -> float:
    """A few passes over what was seen. Returns the new logarithm of the spread of actions."""
    inputs, actions, found, targets = flat[0], *(one[:, 0] for one in flat[1:])
    found = (found - found.mean()) / (found.std() + 1e-8)
    for _ in range(EPOCHS):
        order = random.permutation(len(inputs))
        for at in range(0, len(order), BATCH):
            chosen = order[at : at + BATCH]
            layers = actor.layers(inputs[chosen])
            error, variance = actions[chosen] - layers[-1][:, 0], np.exp(2 * spread)
            ratio = np.exp(np.clip(-(error**2) / (2 * variance) - spread - before[chosen], -20, 20))
            gain = found[chosen]
            clipped = ((gain > 0) & (ratio > 1 + CLIP)) | ((gain < 0) & (ratio < 1 - CLIP))
            weight = np.where(clipped, 0.0, ratio * gain) / len(chosen)
            actor.learn(layers, -weight * error / variance)
            spread += RATE * (float((weight * (error**2 / variance - 1)).sum()) + ENTROPY)
            layers = critic.layers(inputs[chosen])
            critic.learn(layers, (layers[-1][:, 0] - targets[chosen]) / len(chosen))
    return float(np.clip(spread, np.log(0.05), np.log(2.0)))


def compare(files: list[Path]) -> list[str]:
    """A table: each controller alone on the paths of each file."""
    ps.gym.controller("ppo", Policy.load(HERE / "policy.npz"))
    lines = ["paths,controller,utilisation,loss_percent,queue_delay_mean_ms"]
    for file in files:
        scenario = ps.Scenario.load(file).set({"compare.controllers": ["ppo", "cubic", "bbr", "rapid"], "run.warmup": "10 s"})
        runs = ps.run(scenario).runs.to_pandas()
        columns = ["utilisation", "loss_ratio", "queue_delay_mean_s"]
        for name, row in runs.groupby("controller", sort=False)[columns].mean().iterrows():
            figures = f"{row['utilisation']:.3f},{100 * row['loss_ratio']:.2f},{1000 * row['queue_delay_mean_s']:.1f}"
            lines.append(f"{file.stem} ({scenario.planned // 4}),{name},{figures}")
    return lines


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--compare", action="store_true", help="only compare the policy of policy.npz")
    words.add_argument("--updates", type=int, default=UPDATES, help="updates of the policy")
    given = words.parse_args()
    paths = [HERE / "paths" / name for name in ("trained.toml", "between.toml", "faster.toml")]
    if not given.compare:
        policy, curve, speed = train(ps.Scenario.load(paths[0]), given.updates)
        np.savez(HERE / "policy.npz", **{f"part{number}": part for number, part in enumerate(policy.network.parts)})
        print(f"{len(curve) * STEPS * ENVIRONMENTS} steps, {speed:.0f} a second; first {curve[0]:.3f}, last {curve[-1]:.3f}")
    table = "\n".join(compare(paths))
    print(table)
    (HERE / "ppo.csv").write_text(table + "\n")


if __name__ == "__main__":
    main()
