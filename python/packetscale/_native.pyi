"""What src/ gives to the package."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    import numpy as np
    import pandas  # type: ignore[import-untyped]
    import polars
    import pyarrow  # type: ignore[import-untyped]
    from numpy.typing import NDArray

_Path = str | os.PathLike[str]
_Report = Callable[[float, int], object]

VERSION: str
COMMIT: str | None

@final
class Scenario:
    """What to run: a scenario file, checked and resolved. It does not change; `set` returns another one.

    Quantities are text with a unit, as in the file: "10 Gbit/s", "30 ms", "2 MB", "1 bdp".
    """

    @staticmethod
    def load(path: _Path) -> Scenario:
        """Reads a scenario file. Its paths are relative to its folder."""
    @staticmethod
    def from_text(text: str, path: _Path = ...) -> Scenario:
        """Reads the text of a scenario as if it were the file `path`."""
    @staticmethod
    def _read(text: str, path: _Path, changes: Sequence[str]) -> Scenario: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, str, str, list[str]]]: ...
    def set(self, changes: dict[str, Any]) -> Scenario:
        """Returns the scenario with keys changed, as `--set` changes them."""
    @property
    def name(self) -> str: ...
    @property
    def seeds(self) -> list[int]: ...
    @property
    def planned(self) -> int:
        """Number of planned runs: sweep points times controllers times replications."""
    def to_toml(self) -> str:
        """The resolved file, with changes and defaults filled in."""

@final
class Table:
    """A table of results. It is an Arrow stream."""

    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def dictionary(self) -> dict[str, tuple[str, str]]:
        """Its columns: a dict of name to (unit, meaning)."""
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def to_polars(self) -> polars.DataFrame: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_pyarrow(self) -> pyarrow.Table: ...
    def to_csv(self) -> str:
        """The text of the table's CSV file, as the command writes it."""
    def _repr_html_(self) -> str: ...

@final
class Picture:
    """A picture of the page, displayed by notebooks: a self-contained page without network requests."""

    @property
    def name(self) -> str: ...
    def save(self, path: _Path) -> None:
        """Writes the picture as an HTML file."""
    def _repr_html_(self) -> str: ...

@final
class Results:
    """Results: tables, expectations, and how to reproduce them."""

    @property
    def runs(self) -> Table:
        """One row per run: controller, replication, seed, swept values, and the figures of the run."""
    @property
    def timing(self) -> Table:
        """Cost of each run. It differs between machines."""
    @property
    def flows(self) -> Table: ...
    @property
    def completions(self) -> Table: ...
    @property
    def transfers(self) -> Table: ...
    @property
    def phases(self) -> Table: ...
    @property
    def shares(self) -> Table: ...
    @property
    def traffic(self) -> Table: ...
    @property
    def windows(self) -> Table: ...
    @property
    def links(self) -> Table: ...
    @property
    def series(self) -> Table:
        """Curves over time: metric, flow, unit, time_s, value."""
    @property
    def tables(self) -> list[str]: ...
    def table(self, name: str) -> Table: ...
    @property
    def met(self) -> bool:
        """Whether every expectation of the scenario was met."""
    @property
    def expectations(self) -> list[dict[str, Any]]: ...
    @property
    def manifest(self) -> dict[str, Any]: ...
    def report(self, path: _Path = ...) -> None:
        """Writes the interactive page: one HTML file without network requests."""
    @property
    def pictures(self) -> list[str]:
        """The names of the pictures of the page."""
    def plot(self, picture: str | None = ...) -> Picture:
        """Returns a picture of the page, by default its first, for a notebook to show."""
    def write(self, folder: _Path) -> None:
        """Writes all files of the command except the page."""
    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...

@final
class Start:
    """Parameters of a flow, for its controller."""

    @property
    def now_ns(self) -> int: ...
    @property
    def packet_bytes(self) -> int: ...
    @property
    def handshake_rtt_ns(self) -> int: ...
    @property
    def initial_window_packets(self) -> int: ...
    @property
    def seed(self) -> int: ...

@final
class Left:
    """A packet has left; retransmissions count too."""

    @property
    def now_ns(self) -> int: ...
    @property
    def transmission(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def in_flight_packets(self) -> int: ...
    @property
    def app_limited(self) -> bool: ...
    @property
    def retransmission(self) -> bool: ...

@final
class Ack:
    """An acknowledgment arrived. Times are nanoseconds, rounded down."""

    @property
    def now_ns(self) -> int: ...
    @property
    def rtt_ns(self) -> int | None: ...
    @property
    def srtt_ns(self) -> int: ...
    @property
    def min_rtt_ns(self) -> int: ...
    @property
    def delivered_packets(self) -> int: ...
    @property
    def cumulative_packets(self) -> int: ...
    @property
    def prior_in_flight_packets(self) -> int: ...
    @property
    def in_flight_packets(self) -> int: ...
    @property
    def next_unacked(self) -> int: ...
    @property
    def next_unsent(self) -> int: ...
    @property
    def window_limited(self) -> bool: ...
    @property
    def in_recovery(self) -> bool: ...

@final
class Lost:
    """Packets were declared lost. `enters_recovery`: the first loss of an episode, the one to react to."""

    @property
    def now_ns(self) -> int: ...
    @property
    def srtt_ns(self) -> int: ...
    @property
    def lost_packets(self) -> int: ...
    @property
    def prior_in_flight_packets(self) -> int: ...
    @property
    def enters_recovery(self) -> bool: ...

@final
class Marks:
    """Packets arrived marked. `answer`: the first congestion mark of a window."""

    @property
    def now_ns(self) -> int: ...
    @property
    def srtt_ns(self) -> int: ...
    @property
    def congestion_packets(self) -> int: ...
    @property
    def burstiness_packets(self) -> int: ...
    @property
    def answer(self) -> bool: ...

@final
class Expired:
    """The retransmission timer expired. `first`: not again for the same data."""

    @property
    def now_ns(self) -> int: ...
    @property
    def in_flight_packets(self) -> int: ...
    @property
    def first(self) -> bool: ...

@final
class Undone:
    """The last reduction was spurious: no packet was lost."""

    @property
    def now_ns(self) -> int: ...

@final
class Environments:
    """Environments that step together. See `packetscale.gym`."""

    def __new__(
        cls,
        scenario: Scenario,
        count: int,
        scheme: str,
        intervals: int,
        flow: int,
        most_rate_bps: int | None,
        threads: int | None,
    ) -> Environments: ...
    @property
    def bounds(self) -> list[tuple[float, float]]: ...
    @property
    def most_action(self) -> float: ...
    def reset(
        self, seeds: Sequence[int | None], observations: NDArray[np.float32], info: NDArray[np.float64]
    ) -> None: ...
    def step(
        self,
        actions: NDArray[np.float32],
        observations: NDArray[np.float32],
        info: NDArray[np.float64],
        rewards: NDArray[np.float64],
        truncated: NDArray[np.bool_],
    ) -> None: ...

def guide(
    name: str,
    policy: Callable[[NDArray[np.float32]], float],
    source: str,
    scheme: str,
    intervals: int,
    most_rate_bps: int,
) -> None: ...
def register(name: str, class_: type, source: str) -> None: ...
def run(
    scenario: Scenario, jobs: int | None, out: _Path | None, replace: bool, progress: _Report | None
) -> Results: ...
def shard(scenario: Scenario, number: int, of: int, out: _Path, replace: bool) -> int: ...
def merge(scenario: Scenario, out: _Path, replace: bool) -> Results: ...
def read(folder: _Path) -> Results:
    """Reads results that the command or `Results.write` has written."""

def report(folders: Sequence[_Path], out: _Path) -> None: ...
def reproduce(
    what: str, quick: bool, jobs: int | None, out: _Path | None, replace: bool, progress: _Report | None
) -> list[dict[str, Any]]: ...
def evaluate(
    controller: str,
    only: str | None,
    quick: bool,
    jobs: int | None,
    out: _Path | None,
    replace: bool,
    progress: _Report | None,
) -> dict[str, Any]: ...
def matrix(
    controllers: Sequence[str],
    only: Sequence[str],
    quick: bool,
    jobs: int | None,
    out: _Path | None,
    replace: bool,
    progress: _Report | None,
) -> dict[str, Any]: ...
def theory(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]: ...
def estimates(
    name: _Path, text: str | None, method: str | None
) -> list[tuple[str, int | None, int | None, int | None, str | None]]: ...
def streams(
    rows: _Path, gaps: _Path | None, runs: int, seed: int, settings: Mapping[str, str]
) -> None: ...
def main(words: list[str]) -> int: ...
