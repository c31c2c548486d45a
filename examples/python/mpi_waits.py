#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows in which class of MPI call each rank spends its time.

usage: mpi_waits.py [SECONDS]

Counting is on while this runs. If one rank waits much less than the others, the others wait for it.
"""
import sys
import time

import omig


def read(m):
    """Nanoseconds by class, for each process, with the time of the read."""
    found = {}
    for e in m.request(":omig_calls_read([],1)").action(1):
        if not e.is_error and e.values:
            when, *classes = e.values
            for token in e.objects:
                found[token] = when, {c[1]: c[3] for c in classes}
    return found


def main(seconds):
    with omig.connect() as m:
        m.request(':omig_calls_enable([],"time")')
        ranks = {o.token: o for o in m.tree() if o.token.startswith("p_") and o.rank >= 0}
        before = read(m)
        time.sleep(seconds)
        after = read(m)
    for token, o in sorted(ranks.items(), key=lambda pair: pair[1].rank):
        if token not in before or token not in after:
            continue
        (t0, was), (t1, now) = before[token], after[token]
        share = {c: (ns - was.get(c, 0)) / max(1, t1 - t0) for c, ns in now.items()}
        worst = max(share, key=share.get, default="-")
        print(f"rank {o.rank:4}  {100 * sum(share.values()):5.1f} % in MPI, most of it: {worst} "
              f"({100 * share.get(worst, 0):.1f} %)")


if __name__ == "__main__":
    try:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
    except omig.Error as e:
        sys.exit(f"mpi_waits: {e}")
