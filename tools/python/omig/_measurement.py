# SPDX-License-Identifier: Apache-2.0
"""Measurements: dfg_create and dfg_has_read, as rows."""
import math
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Tuple

from omig._reply import Error
from omig._rows import Row, Rows, Whose
from omig._values import Token, format_value

if TYPE_CHECKING:
    from omig import Monitor

__all__ = ["Measurement"]

_PART = 6  # number of values, read, until, more, lost, enough: then the values
_INFO_FLAGS = 17  # dfg_get_info: what it is, and which objects refuse it


def _known(value: Any) -> Optional[float]:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


class Measurement:
    """A running measurement: an iterator over rows. Leaving the `with`, or the loop, ends it."""

    def __init__(self, monitor: "Monitor", dfg: Token, metric: str, count: Optional[int],
                 seconds: Optional[float]) -> None:
        self._monitor, self.token, self.metric = monitor, dfg, metric
        self._count, self._seconds = count, seconds
        self.unit, self.goes_by_vt = "", False
        self.refused: List[Any] = []  # [object, why]: objects that cannot be measured

    def __enter__(self) -> "Measurement":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __iter__(self) -> Iterator[Row]:
        for rows in self.reads():
            yield from rows

    def close(self) -> None:
        """Ends the measurement. Twice is fine."""
        dfg, self.token = self.token, Token("")
        if dfg and self._monitor.is_open:
            self._monitor.request(b":dfg_delete([%s])" % dfg.encode())

    def start(self) -> None:
        self._monitor.request(b":dfg_start([%s])" % self.token.encode()).check()
        info = self._monitor.request(b":dfg_get_info([%s],%d)" % (self.token.encode(), _INFO_FLAGS)).check()
        found = [v for e in info.action(1) for v in e.values]
        if found and isinstance(found[0], list) and len(found[0]) > 7:
            self.unit, self.goes_by_vt = found[0][1], bool(found[0][7])
        if len(found) > 1 and isinstance(found[1], list):
            self.refused = [r for r in found[1] if isinstance(r, list)]

    def reads(self) -> "Iterator[Rows[Row]]":
        """The rows of one read after the other."""
        text = f"dfg_has_read([{self.token}]): print([$read,$until,$more,$lost,$enough,$values])"
        shown, part = 0, Rows[Row]()
        try:
            if self._count == 0:
                return
            for reply in self._monitor.follow(text, self._seconds):
                is_whole, is_last = self._take(reply.action(1)[0].values if reply.action(1) else [], part)
                if not is_whole:
                    continue
                yield part
                shown, part = shown + 1, Rows[Row]()
                if is_last or shown == self._count:
                    return
        finally:
            self.close()

    def to_pandas(self) -> Any:
        """All reads as a pandas.DataFrame; the measurement needs a count or seconds."""
        if self._count is None and self._seconds is None:
            raise Error("the measurement has no end: give count= or seconds=")
        return Rows(self).to_pandas()

    def _take(self, v: List[Any], rows: "Rows[Row]") -> Tuple[bool, bool]:
        if len(v) < _PART:
            return False, False
        read, until, more, enough = v[1], v[2], v[3], v[5]
        for value in v[_PART:]:
            if isinstance(value, list) and len(value) >= 10:
                rows.append(self._row(read, until, value))
        if more:
            return False, False
        rows.sort(key=lambda r: (r.job, -1 if r.rank is None else r.rank, r.object,
                                 -1 if r.partner is None else r.partner, r.region))
        return True, bool(enough)

    def _objects(self, value: Any) -> Optional[List[Whose]]:
        """The parts of a value that has objects; None for a number and for buckets."""
        if not isinstance(value, list) or not value or not all(
                isinstance(v, list) and len(v) == 3 and isinstance(v[0], Token) for v in value):
            return None
        names = [self._monitor.names_of(v[0]) for v in value]
        return [Whose(v[0], n["rank"], n["host"], _known(v[1]), _known(v[2])) for v, n in zip(value, names)]

    def _row(self, read: int, until: int, v: List[Any]) -> Row:
        token, key, value, error, _time, _oldest, _newest, k, n, flags = v[:10]
        names = self._monitor.names_of(token)
        beside = v[10] if len(v) > 10 else ""
        partner = self._monitor.names_of(beside)["rank"] if isinstance(beside, Token) else None
        objects = self._objects(value)
        buckets = value if isinstance(value, list) and objects is None else None
        value = objects[0].value if objects else value
        return Row(metric=self.metric, partner=partner, region="" if isinstance(beside, Token) else str(beside),
                   value=None if buckets is not None or not k else _known(value), error=_known(error) if k else None,
                   unit=self.unit, k=k, n=n, flags=tuple(filter(None, flags.split(","))), read=read, time_ns=until,
                   vt=key if self.goes_by_vt else None, buckets=buckets, object=Token(token),
                   objects=objects, **names)


def parameters(values: Dict[str, Any]) -> bytes:
    """Name, value, name, value of dfg_create()."""
    return b",".join(format_value(k) + b"," + format_value(v) for k, v in values.items())
