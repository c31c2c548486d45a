#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Python client: values, and a real program watched with it.
# timeout: 120
. tests/system/lib.sh
need mpirun.openmpi python3
program=$(heat openmpi)
[ -x "$program" ] || skip_all 'no example program'
export PYTHONPATH="$PWD/tools/python" PYTHONDONTWRITEBYTECODE=1 OMIG_LIBOMIS="$B/lib/libomis.so"

check 'values of results are read, hostile ones refused' python3 \
	tests/unit/tools/python/test_values.py
check 'without a mainsm: an error with its name' says 'omig: OS_ERROR|omig: PARAMETER_ERROR' \
	python3 -m omig ':version()'
omig run -- mpirun.openmpi -n 2 --oversubscribe --mca mpi_yield_when_idle 1 "$program" --seconds \
	900 \
	>"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'both ranks come up' until_true 20 ranks_are 2
check 'python3 -m omig asks' says "^1 - OK \[2, 0, " python3 -m omig ':version()'
cat >"$TMPDIR/uses.py" <<'END'
import omig

with omig.connect() as m:
    ranks = [o for o in m.tree() if o.token.startswith("p_") and o.rank >= 0]
    assert sorted(o.rank for o in ranks) == [0, 1], ranks
    reply = m.request(":proc_get_info([],1)")
    assert sorted(e.values[0] for e in reply.action(1)) == [0, 1], reply
    assert reply.asked == reply.answered > 0, reply
    text = 'thread_has_started_lib_call([],"MPI_Allreduce"): print([$proc])'
    events = [e.action(1)[0].values[1] for e, _ in zip(m.follow(text, 20), range(5))]
    assert len(events) == 5 and {str(e) for e in events} <= {o.token for o in ranks}, events
    assert len(list(m.follow("user_event_has_been_raised([]): print([1])", seconds=0.2))) == 0
    for text, status in ((":nonsense()", "UNKNOWN_SERVICE"), (":(", "SYNTAX_ERROR"),
                         (":version(1)", "PARAMETER_ERROR")):
        try:
            m.request(text)
        except omig.StatusError as e:
            assert e.status == status, (text, e.status)
        else:
            raise AssertionError(text)
    try:
        m.request(":proc_get_info([p_9_aaaaaa],1)").check()
    except omig.StatusError as e:
        assert e.status == "UNKNOWN_OBJECT", e.status
    else:
        raise AssertionError("no such object")
try:
    m.request(":version()")
except omig.Error:
    print("all is well")
with omig.connect() as again:
    assert again.request(":version()").action(1)
END
check 'requests, events, the tree, errors by name' says 'all is well' python3 "$TMPDIR/uses.py"
check 'who waits' says 'rank +1 .*% in MPI' python3 examples/python/mpi_waits.py 1
kill -TERM $job
wait $job
tap_end
