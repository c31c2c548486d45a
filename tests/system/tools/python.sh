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
check 'rows of replies have names, hostile ones are left out' python3 \
	tests/unit/tools/python/test_rows.py
check 'without a mainsm: an error with its name' says 'omig: OS_ERROR|omig: PARAMETER_ERROR' \
	python3 -m omig ':version()'
omig run -- mpirun.openmpi -n 2 --oversubscribe --mca mpi_yield_when_idle 1 "$program" --seconds \
	900 \
	>"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'both ranks are visible' until_true 20 ranks_are 2
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
cat >"$TMPDIR/named.py" <<'END'
import omig

with omig.connect() as m:
    jobs = m.jobs()
    assert [(j.program, j.ranks, j.has_ended) for j in jobs] == [("heat2d.openmpi", 2, False)], jobs
    job = jobs[0].name
    with m.measure("Send_volume", by="process,partner", every=0.2, count=3) as sent:
        assert sent.unit == "B", sent.unit
        rows = list(sent)
    assert {r.read for r in rows} == {1, 2, 3}, rows
    last = [r for r in rows if r.read == 3]
    assert [(r.rank, r.partner) for r in last if r.value] == [(0, 1), (1, 0)], last
    assert all(r.job == job and r.program == "heat2d.openmpi" and r.host for r in last), last
    assert all(r.is_complete for r in last), last
    one = [r for r in m.measure("Send_count", by=None, job=job, every=0.2, count=1)]
    assert len(one) == 1 and one[0].rank is None and one[0].n == 2, one
    calls = m.calls(job)
    assert m.calls(job).to_dict()["calls"] and calls.columns[0] == "call"
    for _ in range(200):
        calls = m.calls()
        if any(c.call == "MPI_Allreduce" and c.ranks == 2 and c.seconds > 0 for c in calls):
            break
    else:
        raise AssertionError(calls)
    ranks = m.calls(by="rank")
    assert sorted(r.rank for r in ranks) == [0, 1], ranks
    assert all(r.mean > 0 and r.host for r in ranks), ranks
    assert {(r.rank, r.partner) for r in m.calls(by="partner")} >= {(0, 1), (1, 0)}
    for wrong in (lambda: m.measure("Send_volum"), lambda: m.measure("Send_volume", job="nothing"),
                  lambda: m.calls(job="nothing"), lambda: m.measure("Send_volume", by="moon"),
                  lambda: m.measure("Send_volume").to_pandas()):
        try:
            wrong()
        except omig.Error as e:
            print(e)
        else:
            raise AssertionError("not refused")
    try:
        omig.Rows(ranks).to_pandas()
    except ImportError:
        print("without pandas")
    print("all is well")
END
check 'jobs, measurements and profiles have names' says 'all is well' python3 "$TMPDIR/named.py"
cc_of_page() ( # SECTION, NEXT, PROGRAM
	mkdir -p "$TMPDIR/include" && ln -sfn "$PWD/tools/libomis" "$TMPDIR/include/omig"
	sed -n "/^# $1/,/^# $2/p" tools/libomis/libomis.3.scd |
		sed -n '/^```$/,/^```$/p' | grep -v '^```' | sed 's/\\\\/\\/g' >"$TMPDIR/$3.c"
	cc -Wall -Werror -Wno-unused-parameter -I"$TMPDIR/include" "$TMPDIR/$3.c" \
		-o "$TMPDIR/$3" -L"$B/lib" -lomis -Wl,-rpath,"$B/lib"
)
check 'the measuring tool of libomis(3) compiles' cc_of_page MEASURING FOLLOWING tool
check 'the following one, too' cc_of_page FOLLOWING FLAGS follower
cat >"$TMPDIR/ranks.c" <<'END'
#include <omig/omis.h>
#include <stdio.h>

static int show(const Omis_call *c, void *param)
{
	printf("%d", (int)c->rank);
	return 0;
}

int main(int argc, char **argv)
{
	if (omis_init(&argc, &argv, NULL, NULL) || omis_calls(NULL, show, NULL, NULL))
		return 1;
	return omis_finalize();
}
END
cc -Wall -Werror -Wno-unused-parameter -I"$TMPDIR/include" "$TMPDIR/ranks.c" -o "$TMPDIR/ranks" \
	-L"$B/lib" -lomis -Wl,-rpath,"$B/lib"
check 'rows of omis_calls come by rank' until_true 10 says '^0+1+$' "$TMPDIR/ranks"
follows() {
	"$TMPDIR/follower" >"$TMPDIR/followed"
	echo "status $?"
	cat "$TMPDIR/followed"
	[ "$(grep -Ec '^p_[0-9]+_[0-9a-z]+ at [0-9]+\.[0-9]+ s$' "$TMPDIR/followed")" = 5 ]
}
check 'and prints five events' follows
both_directions() {
	grep -q '^rank 0 <- rank 1 *[1-9]' "$TMPDIR/out.$1" &&
		grep -q '^rank 1 <- rank 0 *[1-9]' "$TMPDIR/out.$1"
}
measured_by() { # NAME COMMAND...
	name=$1
	shift
	"$@" >"$TMPDIR/out.$name" 2>&1
	cat "$TMPDIR/out.$name"
	both_directions "$name"
}
check 'it shows which rank receives how much from which' measured_by c "$TMPDIR/tool"
awk '/^rank receives how much/ { on = 1 } on && /^    / { print substr($0, 5) }
	on && /^A row/ { exit }' docs/manual.md >"$TMPDIR/five.py"
check 'so do the five lines of the manual' measured_by py python3 "$TMPDIR/five.py"
check 'the ranks that wait' says 'rank +1 .*% in MPI' python3 examples/python/mpi_waits.py 1
kill -TERM $job
wait $job
tap_end
