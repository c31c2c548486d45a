# SPDX-License-Identifier: Apache-2.0
"""Names of objects: which token is which rank of which job."""
from typing import Dict, Iterable, List, NamedTuple, Optional

from omig._reply import Error
from omig._rows import Job
from omig._values import Token

__all__ = ["Object", "Objects"]


class Object(NamedTuple):
    """A site, node, process or thread, as omig_tree() has it; the token's prefix says which."""
    token: Token
    parent: Optional[Token] = None
    name: Optional[str] = None
    state: Optional[str] = None
    pid: Optional[int] = None
    rank: Optional[int] = None
    world_size: Optional[int] = None
    job: Optional[str] = None
    mpi: Optional[str] = None
    exit_status: Optional[int] = None
    host: Optional[str] = None
    state_age_ns: Optional[int] = None

    @property
    def is_process(self) -> bool:
        return self.token.startswith("p_")

    @property
    def has_ended(self) -> bool:
        return self.state in ("ended", "zombie")


class Objects:
    """The tree at one moment."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self.all: List[Object] = list(objects)
        self._by_token: Dict[str, Object] = {o.token: o for o in self.all}

    def find(self, token: str) -> Optional[Object]:
        return self._by_token.get(token)

    def host(self, o: Optional[Object]) -> str:
        """Of a process its node's name; of a node or site its own."""
        if o is None:
            return ""
        if o.is_process:
            return self.host(self.find(o.parent or ""))
        return o.name or ""

    def processes(self, job: Optional[str] = None) -> List[Object]:
        return [o for o in self.all if o.is_process and (job is None or o.job == job)]

    def jobs(self) -> List[Job]:
        names: Dict[str, List[Object]] = {}
        for o in self.processes():
            if o.job:
                names.setdefault(o.job, []).append(o)
        return [self._job(name, members) for name, members in names.items()]

    def _job(self, name: str, members: List[Object]) -> Job:
        ranks = [o for o in members if o.rank is not None and o.rank >= 0]
        hosts = dict.fromkeys(self.host(o) for o in members)
        first = min(ranks or members, key=lambda o: o.rank if o.rank is not None else -1)
        return Job(name, first.name or "", len(ranks), len(members), tuple(hosts),
                   all(o.has_ended for o in members))

    def one_job(self) -> Optional[str]:
        """The job that runs, else the only one. Error when several run."""
        jobs = self.jobs()
        running = [j for j in jobs if not j.has_ended]
        found = running or jobs
        if len(found) > 1:
            names = ", ".join(f"{j.name} ({j.program})" for j in found[:8])
            raise Error(f"{len(found)} jobs: choose one with job=: {names}")
        return found[0].name if found else None
