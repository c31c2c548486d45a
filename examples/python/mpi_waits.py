#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows how much of its time each rank spends in MPI, and in which call most.

usage: mpi_waits.py [SECONDS] [JOB]

Counting is on while this runs. If one rank waits much less than the others, the others wait for it.
"""
import sys
import time

import omig


def seconds(m, job):
    """Seconds in MPI and the call with most of them, by rank."""
    return {row.rank: (row.seconds or 0.0, row.call) for row in m.calls(job, by="rank")}


def main(interval, job):
    with omig.connect() as m:
        before, began = seconds(m, job), time.monotonic()
        time.sleep(interval)
        after, took = seconds(m, job), time.monotonic() - began
    for rank, (now, call) in sorted(after.items()):
        was = before.get(rank, (0.0, ""))[0]
        print(f"rank {rank:4}  {100 * (now - was) / took:5.1f} % in MPI, most of it: {call or '-'}")


if __name__ == "__main__":
    try:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0, sys.argv[2] if len(sys.argv) > 2 else None)
    except omig.Error as e:
        sys.exit(f"mpi_waits: {e}")
