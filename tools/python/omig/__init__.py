# SPDX-License-Identifier: Apache-2.0
"""The Omig monitor from Python: requests, measurements and profiles; standard library only.

    import omig

    with omig.connect() as m:
        for row in m.measure("Receive_delay", by="process,partner", count=3):
            print(row.rank, "<-", row.partner, row.value, row.unit)
        for row in m.calls(by="rank"):
            print(row.rank, row.host, row.seconds)

Each request of the request language can be sent, too:

        for event in m.follow('thread_has_started_lib_call([],"MPI_Barrier"): print([$proc])', seconds=5):
            print(event.action(1)[0].values)

There is one connection a process, for one thread. `python3 -m omig REQUEST...` sends requests from
a shell. A value that is unknown is None.
"""
import collections
import ctypes
import select
import time
from typing import Any, Deque, Dict, Iterator, List, Optional, Sequence, Union

from omig._calls import KINDS, call_rows
from omig._library import NO_CALLBACK, Callback, Coverage, ReplyPointer, load
from omig._measurement import Measurement
from omig._measurement import parameters as pairs
from omig._objects import Object, Objects
from omig._reply import FIRST_ERROR, Entry, Error, Reply, StatusError, status_name
from omig._rows import CallRow, Job, Row, Rows, Whose
from omig._values import Token, format_value, parse_values

__all__ = ["connect", "Monitor", "Measurement", "Row", "Whose", "CallRow", "Job", "Rows", "Object", "Reply", "Entry", "Token",
           "Error", "StatusError", "status_name", "parse_values", "format_value"]

_TRIGGERED, _DEFINED, _DELETED = 10, 2, 8
ATTACH_ALL = ":site_attach([]) node_attach([]) proc_attach([])"


def connect(mainsm: Optional[str] = None, timeout: float = 5.0, attach: bool = True) -> "Monitor":
    """A Monitor: of the connection string, else OMIG_MAINSM, else the user's own mainsm.

    attach: make all that is known visible first. Raises StatusError.
    """
    return Monitor(mainsm, timeout, attach)


class Monitor:
    """The connection; a context manager. There is one in a process."""

    def __init__(self, mainsm: Optional[str] = None, timeout: float = 5.0, attach: bool = True) -> None:
        self._lib = load()
        self._kept: List[Any] = []
        self._objects: Optional[Objects] = None
        words = [b"python", b"--omis-timeout", b"%d" % max(1, int(timeout * 1000))]
        if mainsm:
            words += [b"--omis-mainsm", mainsm.encode()]
        argc = ctypes.c_int(len(words))
        argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
        pointer = ctypes.cast(argv, ctypes.c_void_p)
        code = self._lib.omis_init(ctypes.byref(argc), ctypes.byref(pointer), None, None)
        if code:
            raise StatusError(code, self._lib.omis_last_error().decode("utf-8", "replace"))
        self.is_open = True
        if attach:
            self.attach()

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Deletes what this tool defined and ends the connection. Twice is fine."""
        if self.is_open:
            self.is_open = False
            self._lib.omis_finalize()

    def attach(self) -> Reply:
        """Makes visible what has come since."""
        return self.request(ATTACH_ALL).check()

    def policy(self, wait: str = "all", quorum: int = 0, deadline: float = 2.0) -> None:
        """How long requests wait: "all", "quorum" or "now"; the deadline is in seconds."""
        code = self._lib.omis_request_policy(("all", "quorum", "now").index(wait), quorum, int(deadline * 1000))
        if code:
            raise StatusError(code, self._lib.omis_last_error().decode("utf-8", "replace"))

    def request(self, text: Union[str, bytes]) -> Reply:
        """Sends an unconditional request and returns its Reply; errors of objects stand in it.

        Raises StatusError when the request as a whole was refused.
        """
        self._need_open()
        raw = text.encode() if isinstance(text, str) else bytes(text)
        reply = self._take(self._lib.omis_request_n(raw, len(raw), NO_CALLBACK, None, 0))
        for e in reply.action(0):
            if e.is_error:
                raise StatusError(e.code, e.text.decode("utf-8", "replace"), e.objects)
        return reply

    def follow(self, text: Union[str, bytes], seconds: Optional[float] = None) -> Iterator[Reply]:
        """Defines and enables a conditional request; yields a Reply for each time it was triggered.

        Ends after so many seconds, or when the request is gone. Leaving the loop deletes it.
        """
        self._need_open()
        came: Deque[Reply] = collections.deque()
        raw = text.encode() if isinstance(text, str) else bytes(text)
        callback = Callback(lambda reply, _: came.append(self._take(reply)))
        self._kept.append(callback)  # libomis may call it until close()
        refused = self._lib.omis_request_n(raw, len(raw), callback, None, 0)
        if refused:
            came.append(self._take(refused))
        until = None if seconds is None else time.monotonic() + seconds
        csr = None
        try:
            while self._await(came, until):
                reply = came.popleft()
                if reply.kind == _DEFINED:
                    csr = reply.action(0)[0].values[0]
                    self.request(b":csr_enable([%s])" % csr.encode()).check()
                elif reply.kind == _TRIGGERED:
                    yield reply
                elif reply.kind == _DELETED or reply.kind == 0:
                    csr = None
                    break
                elif reply.kind >= FIRST_ERROR:
                    csr = None
                    reply.check()
        finally:
            if csr and self.is_open:
                self.request(b":csr_delete([%s])" % csr.encode())

    def tree(self) -> List[Object]:
        """All known objects, containers first."""
        self._objects = Objects(Object(*v[:len(Object._fields)])
                                for e in self.request(":omig_tree()").check().action(1) for v in e.values)
        return self._objects.all

    def jobs(self) -> "Rows[Job]":
        """All known jobs, ended ones too."""
        return Rows(self._tree().jobs())

    def measure(self, metric: str, by: Optional[str] = "process", job: Optional[str] = None, *, every: float = 1.0,
                count: Optional[int] = None, seconds: Optional[float] = None, objects: Sequence[str] = (),
                since_last: bool = False, rate: bool = False, text: str = "",
                options: Optional[Dict[str, Any]] = None, parameters: Optional[Dict[str, Any]] = None) -> Measurement:
        """Starts a measurement and returns it: an iterator over rows.

        metric: a built-in one (`omig metrics`), or one of the PMSL text. by: "process", "node",
        "site", "process,partner", "process,region"; None for one value. job: a job's name or
        number; None: the one that runs; "": all objects. objects: tokens instead of a job. It ends
        after count reads or so many seconds, else when it is closed.
        """
        chosen = list(objects) or self._chosen(job)
        wanted: Dict[str, Any] = {"every_ms": int(every * 1000), "rate": int(rate),
                                  "mode": "last" if since_last else "start", **(options or {})}
        if by:
            wanted["by"] = by
        raw = b":dfg_create(" + b",".join([format_value([Token(t) for t in chosen]), format_value(text),
                                           format_value(metric), b"[" + pairs(wanted) + b"]",
                                           b"[" + pairs(parameters or {}) + b"]"]) + b")"
        made = [v for e in self.request(raw).check().action(1) for v in e.values]
        measurement = Measurement(self, made[0], metric, count, seconds)
        try:
            measurement.start()
        except BaseException:
            measurement.close()
            raise
        return measurement

    def calls(self, job: Optional[str] = None, by: str = "call") -> "Rows[CallRow]":
        """The profile of a job since counting began: rows by "call", "rank" or "partner".

        It switches counting on for as long as this tool is connected; the first rows of an
        uncounted job are therefore few.
        """
        if by not in KINDS:
            raise ValueError(f"by is one of {', '.join(KINDS)}")
        tokens = [o.token for o in self._processes(job) if o.rank is not None and o.rank >= 0]
        if not tokens:
            raise Error("no rank is known")
        some = ",".join(tokens)
        self.request(f':omig_calls_enable([{some}],"{"partner" if by == "partner" else "volume"}")')
        reply = self.request(f':omig_calls_profile([{some}],"{by}",0)')
        return call_rows(reply, by, self.names_of(tokens[0])["job"], self._tree())

    def names_of(self, token: str) -> Dict[str, Any]:
        """rank, host, job and program of an object; None and "" where there is none."""
        objects = self._objects_now
        o = objects.find(token)
        if o is None and token:
            objects = self._tree()
            o = objects.find(token)
        is_process = o is not None and o.is_process
        rank = o.rank if o is not None and is_process and o.rank is not None and o.rank >= 0 else None
        return {"rank": rank, "host": objects.host(o), "job": (o.job or "") if o and is_process else "",
                "program": (o.name or "") if o and is_process else ""}

    def _tree(self) -> Objects:
        self.tree()
        assert self._objects is not None
        return self._objects

    def _chosen(self, job: Optional[str]) -> List[Token]:
        """Tokens for dfg_create(): none of them stands for all that is visible, also to come."""
        if not job:
            self.attach()
        if job == "" or (job is None and (self._tree().one_job() is None or len(self._objects_now.jobs()) == 1)):
            return []
        found = [o.token for o in self._processes(job) if not o.has_ended]
        if not found:
            raise Error(f"job '{job}' has ended: none of its processes runs")
        return found

    @property
    def _objects_now(self) -> Objects:
        return self._objects or self._tree()

    def _processes(self, job: Optional[str]) -> List[Object]:
        """Of that job, or of the one that runs; they become visible to this tool."""
        if job:
            found = [v for e in self.request(b":omig_job_find(" + format_value(job) + b")").check().action(1)
                     for v in e.values]
            job = str(found[0]) if found and found[0] else job
        self.attach()
        objects = self._tree()
        name = job or objects.one_job()
        processes = objects.processes(name)
        if not processes:
            raise Error(f"no process of job '{name}' is known" if name else "no process is known")
        return processes

    def _need_open(self) -> None:
        if not self.is_open:
            raise Error("the connection is closed")

    def _await(self, came: Deque[Reply], until: Optional[float]) -> bool:
        while not came:
            left = 1.0 if until is None else until - time.monotonic()
            if left <= 0:
                return False
            select.select([self._lib.omis_fd()], [], [], min(left, 1.0))
            self._lib.omis_handler()
        return True

    def _take(self, pointer: Any) -> Reply:
        if not pointer:
            raise MemoryError
        try:
            return self._read(pointer)
        finally:
            self._lib.omis_reply_free(pointer)

    def _read(self, pointer: Any) -> Reply:
        coverage = Coverage()
        self._lib.omis_reply_coverage(pointer, ctypes.byref(coverage))
        missing = [(coverage.missing[i].object.decode(), coverage.missing[i].reason.decode("utf-8", "replace"))
                   for i in range(coverage.n_missing)]
        actions, services, i = [], ctypes.cast(pointer, ReplyPointer), 0
        while services[i]:
            entries, k = [], 0
            while services[i][k].obj_list is not None:
                r = services[i][k]
                text = ctypes.string_at(r.result, r.result_len) if r.result else b""
                tokens = [Token(t) for t in r.obj_list.decode().split(",") if t]
                entries.append(Entry(tokens, r.status, text))
                k += 1
            actions.append(entries)
            i += 1
        return Reply(actions, coverage.asked, coverage.answered, missing)
