#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The outputs in docs/first-hour.md are those that its commands print: the same words and columns.
# Each question that it has to answer is there, with a command or the reason that there is none.
# timeout: 240
. tests/system/lib.sh
need python3 mpirun.openmpi
doc=docs/first-hour.md
program=$(heat openmpi)
[ -x "$program" ] || skip_all 'no example program'
export LC_ALL=C.UTF-8 # most terminals have UTF-8; without it, trees have other lines

# True if the document has a command with its output for the question, or the reason why there is
# none.
in_the_document() { # QUESTION
	awk -v q="$1" '/^```/ { fenced = !fenced; output += on && !fenced; next }
		fenced { next }
		/^##* / { on = index($0, q) > 0 }
		on && /^    [a-z]/ { command++ }
		on && /^[^ #]/ { text = text " " $0 }
		END {
			if (!command && text !~ /`[a-z_.]+[ (]/) print "no command:" text
			else if (output || text ~ /cannot|does not|is not|not for MPI|Only the/ ||
				text ~ /The same first lines|On a terminal|starts in the script/)
				exit 0
			else print "no output, and no reason that there is none:" text
			exit 1
		}' $doc
}
while read -r question; do
	check "a question of users: $question" in_the_document "$question" </dev/null
done <<END
Is it running, and where
Which rank is slow, and why
starved by others
Which call takes the time
Which rank waits for which
Network or code
How much is sent to which rank
Is it better after a change
an hour ago
A warning when it goes wrong
Which phase of the program
Where in the source
Why does it hang
A plot
A summary at the end
CSV
Prometheus
Perfetto
pandas
Python
In a batch script
64 ranks
A colleague shall look
Simulated against real
A program that runs unwatched
Is Omig itself well
END

apart() { # COMMAND...: runs it with a monitor that the commands below do not show
	env OMIG_STATE_DIR="$TMPDIR/apart" OMIG_RUNTIME_DIR="$TMPDIR/apart.run" "$@"
}
summary() { # NAME
	apart omig run --job "$1" --summary="$TMPDIR/$1.json" -- \
		mpirun.openmpi --oversubscribe -np 4 "$program" --seconds 3 2>&1
}
summary before >"$TMPDIR/summary" || cat "$TMPDIR/summary"
summary after >/dev/null
apart omig jobs --all >"$TMPDIR/jobs"
apart omig stop
omig run --job heat2d -- mpirun.openmpi --oversubscribe -np 4 "$program" $as_long_as_needed \
	>"$TMPDIR/out" 2>&1 &
job=$!
check 'a program of four ranks runs' until_true 20 ranks_are 4
# Counting runs for a moment before the first command.
omig calls --job heat2d --json >/dev/null
export PYTHONPATH="$PWD/tools/python" PYTHONDONTWRITEBYTECODE=1 OMIG_LIBOMIS="$B/lib/libomis.so"
output() { # COMMAND: the document's command for this job, without ended jobs
	case $1 in
	'omig top') set -- 'omig top --once --job heat2d' ;;
	'omig run --summary='*) cat "$TMPDIR/summary" && return ;;
	'omig compare '*) set -- "omig compare $TMPDIR/before.json $TMPDIR/after.json" ;;
	'omig events on '*) set -- "cd '$TMPDIR' && $1" ;;
	'omig jobs --all') cat "$TMPDIR/jobs" && return ;;
	'omig cert token '* | 'omig export prometheus '* | 'python3 -m omig '*) ;;
	'omig request '*4711*)
		sleep 1000 &
		unwatched=$!
		node=$(omig tree --json | grep -o '"n_[0-9]*"' | head -n 1 | tr -d '"')
		omig request ":proc_attach3([$node],$unwatched,\"\")"
		kill $unwatched
		return ;;
	'omig alert '*) set -- "omig alert 'imbalance > 0 %' --job heat2d --every 1s --once" ;;
	'omig jobs' | 'omig status') ;;
	*) set -- "$1 --job heat2d" ;;
	esac
	sh -c "$1"
}
prints() { # N COMMAND: retried, because the output depends on the moment
	output "$2" >"$TMPDIR/real" 2>&1
	python3 tests/docs/first_hour.py compare $doc "$1" "$TMPDIR/real" "$B/bin/omig" \
		>"$TMPDIR/compared"
}
prints_soon() {
	until_true 3 prints "$@" || { cat "$TMPDIR/compared"; return 1; }
}
python3 tests/docs/first_hour.py list $doc >"$TMPDIR/list"
n=0
while IFS='	' read -r question command; do
	n=$((n + 1))
	check "$question: $command" prints_soon $n "$command" </dev/null
done <"$TMPDIR/list"
check 'there were some' test $n -ge 10
# Checks that the comparison detects a wrong document.
finds() { # SED: a change of the document, in the output of omig calls
	sed "$1" $doc >"$TMPDIR/wrong.md"
	cmp -s $doc "$TMPDIR/wrong.md" && return 1
	omig calls --job heat2d >"$TMPDIR/real" 2>&1
	! python3 tests/docs/first_hour.py compare "$TMPDIR/wrong.md" 3 "$TMPDIR/real" "$B/bin/omig"
}
check 'another column would be found' finds 's/% WALL     MEAN/% TIME     MEAN/'
check 'another word would be found' finds 's/takes 45.7 % of the time in MPI/takes 45.7 % of all/'
check 'another kind of cell would be found' finds 's/  6.95 ms  /  many  /'
enough $job
tap_end
