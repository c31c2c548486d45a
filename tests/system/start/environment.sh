#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig env and omig exec: the same without a wrapper.
# timeout: 120
. tests/system/lib.sh
need mpirun.openmpi
program=$(heat openmpi)
[ -x "$program" ] || skip_all 'no example program'

before=$(env | grep -E '^(OMIG_(MAINSM|LM|JOB|START|SITE)|LD_PRELOAD|OMPI_MCA_mca)' | sort)
omig env --measure=count --job=mine >"$TMPDIR/env"
check 'it prints exports only' sh -c '! grep -v "^export [A-Z]" "$1"' sh "$TMPDIR/env"
check 'values are quoted' grep -q "^export LD_PRELOAD='/.*libomig.so'" "$TMPDIR/env"
# shellcheck disable=SC1091 # made above
. "$TMPDIR/env"
# shellcheck disable=SC2086 # words
mpirun.openmpi -n 2 --oversubscribe --mca mpi_yield_when_idle 1 "$program" $as_long_as_needed \
	>"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'both ranks are visible' until_true 20 ranks_are 2
check 'under the name of the job' says 'job mine' omig tree
check 'counting was on from the start' says '\[.*,"(collective|send)",[1-9]' omig request \
	':omig_calls_read([],1)'
enough $job
status=$?
check 'the program is not disturbed' test $status = 0
rm "$TMPDIR/enough"
check 'a tool in the same environment is the user'"'"'s own' says tool-admin omig cert list
elsewhere() { env OMIG_STATE_DIR="$TMPDIR/elsewhere" "$@"; }
check 'without files of its user it says what to do' says \
	'for programs that are watched; a tool takes one of its own .omig cert token' \
	elsewhere omig tree
check 'a program started from there is watched with what it has' says "^$OMIG_MAINSM\$" elsewhere \
	omig run -- printenv OMIG_MAINSM
no_token() { says '^omig1:[^:]*:[0-9]+:[0-9a-z]{26}$' "$@"; }
check 'omig exec: programs of this host need no token' no_token env -u OMIG_MAINSM omig exec -- \
	printenv OMIG_MAINSM
check 'nor do those of omig env --here' says \
	"^export OMIG_MAINSM='[^.]*[.][^.]*[.][^.]*[.][^.]*'\$" \
	env -u OMIG_MAINSM omig env --here --no-start
lm_with_it() { # as the task prolog of Slurm leaves it: the lm takes the token of mainsm.conn
	string=$(env -u OMIG_MAINSM omig env --here --no-start |
		sed -n "s/^export OMIG_MAINSM='\(.*\)'/\1/p")
	mkdir -m 700 "$TMPDIR/own" || return 1
	OMIG_RUNTIME_DIR=$TMPDIR/own OMIG_MAINSM=$string lm --foreground --host=own --linger=0 \
		>"$TMPDIR/own.log" 2>&1 &
	own=$!
	until_true 20 says 'node own +up' omig tree
	rc=$?
	cat "$TMPDIR/own.log"
	kill $own
	wait $own
	return $rc
}
check 'an lm that starts with such a string joins' lm_with_it

omig env --unset >"$TMPDIR/unset"
check '--unset unsets each' sh -c 'n=$(wc -l <"$1"); test "$n" -ge 6' sh "$TMPDIR/unset"
# shellcheck disable=SC1091
. "$TMPDIR/unset"
after=$(env | grep -E '^(OMIG_(MAINSM|LM|JOB|START|SITE)|LD_PRELOAD|OMPI_MCA_mca)' | sort)
check 'and leaves the environment as it was' test "$before" = "$after"

# shellcheck disable=SC2086 # words
mpirun.openmpi -n 2 --oversubscribe --mca mpi_yield_when_idle 1 omig exec -- "$program" \
	$as_long_as_needed >"$TMPDIR/out" 2>&1 &
job=$!
check 'omig exec: both ranks are visible' until_true 20 ranks_are 2
enough $job
status=$?
check 'omig exec: the exit status is the program'"'"'s' test $status = 0
check '--json: one object' says '^[{]"OMIG_MAINSM":"omig1:.*"OMIG_JOB":"mine".*[}]$' omig env \
	--no-start --job=mine --json
check 'stop --json: the reply' says '^[{]"status":"OK"' omig stop --json
listens_to() { # OPTION: the string has an address that other hosts reach, if there is one
	omig stop >/dev/null 2>&1
	omig env --listen "$1" >"$TMPDIR/env" || return 1
	string=$(sed -n "s/^export OMIG_MAINSM='omig1:\(.*\)'/\1/p" "$TMPDIR/env")
	case $string in "$2":*) echo "$2 alone" && return 1 ;; *) [ -n "$string" ] ;; esac
}
# ended ADDRESS: the mainsm that listened there has ended, which is reported
ended() {
	omig stop >/dev/null 2>&1
	omig env --listen "$1" >"$TMPDIR/env" || return 1
	omig stop || return 1
	says 'your mainsm has ended: nothing listens at' omig env --no-start || return 1
	status_is 3 omig env --no-start
}
if [ -n "$(ip -4 -o addr show scope global 2>/dev/null)" ]; then
	check '--listen takes the name of this host' listens_to "$(uname -n)" 127.0.0.1
	check '--listen takes auto' listens_to auto 127.0.0.1
	check '--no-start: a mainsm that was reached by name has ended' ended "$(uname -n)"
else
	skip '--listen takes the name of this host, auto, and what ends there' \
		'no other host reaches this one'
fi
check '--listen takes localhost' listens_to localhost 0.0.0.0
check '--listen where it listens already: no output' sh -c \
	'[ -z "$(omig env --listen localhost 2>&1 >/dev/null)" ]'
warns_once() { # PATTERN OPTION: one line of warning, and the running mainsm is kept
	omig env --listen "$2" >"$TMPDIR/env" 2>"$TMPDIR/err" || return 1
	cat "$TMPDIR/err"
	[ "$(wc -l <"$TMPDIR/err")" = 1 ] && grep -Eq "^omig: warning: $1" "$TMPDIR/err" &&
		grep -q "OMIG_MAINSM='omig1:127[.0-9]*:" "$TMPDIR/env"
}
check '--listen: it listens elsewhere already' warns_once \
	'--listen 127.0.0.9 has no effect: your mainsm runs at 127.0.0.1; to change that: omig stop, then again$' \
	127.0.0.9
check '--listen: no address, while one runs' warns_once \
	'--listen: nosuchhost.invalid is not an address of this host' nosuchhost.invalid
refuses() { # the string of an ended mainsm exists: the reported error is the address
	omig stop >/dev/null 2>&1
	omig env --listen nosuchhost.invalid >"$TMPDIR/out" 2>&1
	rc=$?
	cat "$TMPDIR/out"
	[ $rc = 3 ] &&
		grep -q '^omig: .*listen: nosuchhost.invalid is not an address of this host' \
			"$TMPDIR/out" &&
		! grep -q 'does not answer' "$TMPDIR/out"
}
check '--listen: no address' refuses
check '--no-start without a mainsm fails' sh -c \
	'omig stop; OMIG_STATE_DIR=$TMPDIR/none omig env --no-start; test $? = 3'
tap_end
