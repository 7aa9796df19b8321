"""Answers from closed forms and exact methods, without a simulation.

Each function takes the parameters of `packetscale theory NAME --help`, with underscores, and returns the object that the
command prints with `--json`; docs/theory.md explains its fields, whose names end in their units. Quantities are text with
a unit: "10 Gbit/s", "30 ms". Omitted parameters have the command's defaults.
"""

from __future__ import annotations

from typing import Any

from packetscale import _native

Answer = dict[str, Any]


def _ask(name: str, parameters: dict[str, Any]) -> Answer:
    return _native.theory(name, {key: value for key, value in parameters.items() if value is not None})


def burstiness(
    *,
    capacity: str,
    average: str,
    on: str,
    off: str,
    increase: str,
    decrease: str,
    rtt: str | None = None,
    filter: str | None = None,
    curve: str | None = None,
) -> Answer:
    """One Rapid flow against periodic on-off cross traffic: throughput, queue, stability.

    capacity: rate of the bottleneck. average: rate of the cross traffic over bursts and silences.
    on, off: lengths of a burst and of the silence behind it.
    increase, decrease: time constants tau and eta. rtt: round trip without queue; else the one with the longest queue.
    filter: "linear" or "exponential". curve: a time from which `rate_curve` begins (s, bit/s).
    """
    return _ask("burstiness", locals())


def multiplexing(
    *,
    flows: int,
    utilisation: float | None = None,
    arrivals: str | None = None,
    buffer: str | int | None = None,
    target_loss: float | None = None,
    runs: int | None = None,
    seed: int | None = None,
    curves: bool | None = None,
) -> Answer:
    """Many flows of constant rate on one link: the least queue and loss, and the buffer or load for a loss.

    utilisation: load of all flows, above 0 and at most 1. arrivals: "uniform", "exponential", "pareto:INDEX", "phases".
    buffer: packets with the one in service, or "unlimited". target_loss: a ratio to plan for.
    """
    return _ask("multiplexing", locals())


def qlbp(
    *,
    mu_max: str,
    q_max: str,
    mu_min: str | None = None,
    packet: str | None = None,
    counts: str | None = None,
    rate: str | None = None,
    peak: str | None = None,
    idle: str | None = None,
    burst: str | None = None,
    window: str | None = None,
    pacers: int | None = None,
) -> Answer:
    """A queue-length based pacer: delay, response, and how much smoother traffic leaves.

    mu_min, mu_max: rates with an empty queue and at q_max. q_max: a number of packets, as in "100 packets".
    packet: size. counts: "waiting" or "with-in-service". rate: constant rate of the question.
    peak, idle, burst: of a Markov on-off source. window: time in which packets are counted. pacers: how many in tandem.
    """
    return _ask("qlbp", locals())


def rapid(
    *,
    flows: int | None = None,
    margin: float | None = None,
    rate: str | None = None,
    rtt: str | None = None,
    packet: str | None = None,
    queue: str | None = None,
    elastic: float | None = None,
) -> Answer:
    """Equal flows of Rapid on one path: where they rest, whether they swing, and how a queue drains.

    flows: how many. margin: part that each leaves free. rate, rtt, packet: the path without a queue, and packets.
    queue: a standing queue to drain. elastic: share of others that are clocked by acknowledgments.
    """
    return _ask("rapid", locals())


def tdqm(*, load: float, accumulate: float | None = None, lengths: int | None = None) -> Answer:
    """The burstiness that a TDQM queue sees in Poisson traffic.

    load: above 0 and below 1. accumulate: busy time before eta is taken, in packet times.
    lengths: how many lengths of busy periods to list.
    """
    return _ask("tdqm", locals())
