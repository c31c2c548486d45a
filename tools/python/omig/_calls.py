# SPDX-License-Identifier: Apache-2.0
"""Rows of omig_calls_profile: each host has added up its own ranks; hosts are joined here."""
from typing import Any, Dict, Iterable, List, Optional, Tuple

from omig._objects import Objects
from omig._reply import Reply
from omig._rows import CallRow, Rows

__all__ = ["KINDS", "call_rows"]

KINDS = ("call", "rank", "partner")
_HEAD = 11  # values of a host in front of its rows
_WORD = 9  # which of them says what all its ranks count
_TIME, _VOLUME = 1 << 1, 1 << 2  # bits of it
_Key = Tuple[Any, ...]


def _plus(a: Optional[float], b: Optional[float]) -> Optional[float]:
    return a if b is None else b if a is None else a + b


def _amount(value: Any, scale: float = 1.0) -> Optional[float]:
    return value * scale if isinstance(value, (int, float)) and value >= 0 else None


def _rank(value: Any) -> Optional[int]:
    return value if isinstance(value, int) and value >= 0 else None


class _Host:
    """What one host counts decides which of its numbers are known."""

    def __init__(self, word: int) -> None:
        self.has_time, self.has_bytes = bool(word & _TIME), bool(word & _VOLUME)

    def seconds(self, ns: Any) -> Optional[float]:
        return _amount(ns, 1e-9) if self.has_time else None

    def bytes(self, n: Any) -> Optional[float]:
        return _amount(n) if self.has_bytes else None


def _of_call(h: _Host, v: List[Any], job: str, _: Objects) -> Tuple[_Key, CallRow]:
    name, kind, calls, ns, _in_call, out, came, most_rank, most_ns, ranks = v[:10]
    row = CallRow(name, kind, None, None, "", job, _amount(calls), h.seconds(ns), h.bytes(out), h.bytes(came),
                  _rank(ranks), _rank(most_rank) if h.has_time else None, h.seconds(most_ns))
    return (name,), row


def _of_rank(h: _Host, v: List[Any], job: str, objects: Objects) -> Tuple[_Key, CallRow]:
    rank, token, _ended, calls, ns, out, came, _timed, name = v[:9]
    host = objects.host(objects.find(token))
    row = CallRow(name if h.has_time else "", "", _rank(rank), None, host, job, _amount(calls), h.seconds(ns),
                  h.bytes(out), h.bytes(came), None, None, None)
    return (rank, token), row


def _of_pair(h: _Host, v: List[Any], job: str, _: Objects) -> Tuple[_Key, CallRow]:
    rank, partner, calls, ns, out, came = v[:6]
    row = CallRow("", "", _rank(rank), _rank(partner), "", job, _amount(calls), h.seconds(ns), h.bytes(out),
                  h.bytes(came), None, None, None)
    return (rank, partner), row


_READERS = dict(zip(KINDS, (_of_call, _of_rank, _of_pair)))
_LEAST = dict(zip(KINDS, (10, 9, 6)))


def _join(a: CallRow, b: CallRow) -> CallRow:
    worst = max((a, b), key=lambda r: -1.0 if r.worst_seconds is None else r.worst_seconds)
    ranks = None if a.ranks is None or b.ranks is None else a.ranks + b.ranks
    return a._replace(calls=_plus(a.calls, b.calls), seconds=_plus(a.seconds, b.seconds),
                      bytes_out=_plus(a.bytes_out, b.bytes_out), bytes_in=_plus(a.bytes_in, b.bytes_in),
                      ranks=ranks, worst_rank=worst.worst_rank, worst_seconds=worst.worst_seconds)


def _host_rows(values: List[Any], by: str) -> Iterable[Tuple[_Host, List[Any]]]:
    if len(values) < _HEAD or not isinstance(values[_WORD], int):
        return
    host = _Host(values[_WORD])
    for v in values[_HEAD:]:
        if isinstance(v, list) and len(v) >= _LEAST[by]:
            yield host, v


def call_rows(reply: Reply, by: str, job: str, objects: Objects) -> "Rows[CallRow]":
    """Rows with most time first; what makes no sense in the reply is left out."""
    found: Dict[_Key, CallRow] = {}
    for entry in reply.action(1):
        for host, v in _host_rows(entry.values, by):
            key, row = _READERS[by](host, v, job, objects)
            found[key] = _join(found[key], row) if key in found else row
    rows = sorted(found.values(), key=lambda r: (-(r.seconds or 0.0), -(r.calls or 0.0)))
    return Rows(rows, reply.missing)
