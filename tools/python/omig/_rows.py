# SPDX-License-Identifier: Apache-2.0
"""Results with names: a row says which rank, on which host, how much, and how sure that is.

A value that is unknown is None, never 0.
"""
import importlib
from typing import Any, Dict, Generic, Iterable, List, NamedTuple, Optional, Sequence, Tuple, TypeVar

from omig._values import Token

__all__ = ["Row", "CallRow", "Job", "Rows", "Whose"]


class Whose(NamedTuple):
    """A value with its object: a part of what WHO_MAX, WHO_MIN and TOP return."""
    object: Token
    rank: Optional[int]  # None: the object is not a rank
    host: str
    value: Optional[float]
    error: Optional[float]


class Row(NamedTuple):
    """A value of a measurement."""
    metric: str
    rank: Optional[int]  # None: the object is not a rank
    host: str  # of a process; the name of a node or site; "" for all together
    job: str
    program: str
    partner: Optional[int]  # the rank of the partner, with by="process,partner"
    region: str  # with by="process,region"
    value: Optional[float]  # None: unknown
    error: Optional[float]  # the true value is within value +- error; None: unknown
    unit: str
    k: int  # objects whose values it contains, of n
    n: int
    flags: Tuple[str, ...]  # "partial", "missing", "none-yet", ...: docs/flow.md
    read: int  # the number of the read
    time_ns: int  # its end, in ns since 1970
    vt: Optional[int]  # virtual time, of metrics that go by it
    buckets: Optional[List[List[float]]]  # of a histogram: low, high, number
    object: Token
    objects: Optional[List[Whose]] = None  # of WHO_MAX, WHO_MIN, TOP: the value is that of the first

    @property
    def is_complete(self) -> bool:
        """All n objects contribute, and nothing reduces what the value means."""
        return self.value is not None and self.k == self.n and not self.flags


class CallRow(NamedTuple):
    """What one kind of call, one rank, or one pair of ranks has done in MPI."""
    call: str  # by="call"; by="rank": the call in which the rank spent most time
    kind: str  # the class of the call
    rank: Optional[int]
    partner: Optional[int]
    host: str  # of a rank; "" for several hosts
    job: str
    calls: Optional[float]
    seconds: Optional[float]
    bytes_out: Optional[float]
    bytes_in: Optional[float]
    ranks: Optional[int]  # by="call": ranks that made it
    worst_rank: Optional[int]  # by="call": the rank with most time in it
    worst_seconds: Optional[float]

    @property
    def mean(self) -> Optional[float]:
        """Seconds of one call; None: unknown, or there was none."""
        return self.seconds / self.calls if self.seconds is not None and self.calls else None


class Job(NamedTuple):
    """A job that the monitor knows."""
    name: str
    program: str
    ranks: int
    processes: int
    hosts: Tuple[str, ...]
    has_ended: bool


T = TypeVar("T", bound=Tuple[Any, ...])


class Rows(List[T], Generic[T]):
    """A list of rows of one kind, which pandas reads."""

    def __init__(self, rows: Iterable[T] = (), missing: Sequence[Tuple[str, str]] = ()) -> None:
        super().__init__(rows)
        self.missing = list(missing)  # (object, reason): what did not reply

    @property
    def columns(self) -> Tuple[str, ...]:
        return tuple(getattr(self[0], "_fields")) if self else ()

    def to_dict(self) -> Dict[str, List[Any]]:
        """A list for each column."""
        return {name: [row[i] for row in self] for i, name in enumerate(self.columns)}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. ImportError where pandas is not installed."""
        return importlib.import_module("pandas").DataFrame(self.to_dict())
