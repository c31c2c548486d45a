#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An lm ends for lack of processes: a program that starts meanwhile is watched, at any moment.
# timeout: 90
# shellcheck disable=SC2154 # set by faults.sh
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
case $flavours in *mpich*) f=mpich ;; *) f=$one_flavour ;; esac # starts quickly without a launcher
LINGER=700ms

mkdir -p -m 700 "$XDG_CONFIG_HOME/omig"
echo "linger = $LINGER" >"$XDG_CONFIG_HOME/omig/lm.conf"
chmod 600 "$XDG_CONFIG_HOME/omig/lm.conf"
eval "$(omig env)"
log=$OMIG_STATE_DIR/lm-$(uname -n).log
endings() {
	[ "$(grep -c 'lm: ending reason="no process to watch"' "$log")" -ge "$1" ]
}
# Polls without a pause, because the next step must follow within 200 ms.
ending_begins() { # N
	ends_at=$(($(date +%s) + 30 * PATIENCE))
	until endings "$1"; do
		[ "$(date +%s)" -le "$ends_at" ] || return 1
	done
}
alone() { # NAME: a program of one process, which ends when there is NAME.go
	OMIG_START=count OMIG_JOB=$1 timeout $((60 * PATIENCE)) "$T/steady.$f" --hold \
		"$TMPDIR/$1.go" --beat "$TMPDIR/$1.beat" \
		>"$TMPDIR/$1.out" 2>&1 &
	program=$!
}
is_watched() { # NAME
	omig tree --json | tr '{' '\n' | grep '"job":"'"$1"'"' | grep -qv '"state":"ended"'
}

alone first
check 'a program is watched' until_true 30 is_watched first
: >"$TMPDIR/first.go"
check 'it ends' status_is 0 wait $program
n=0
for pause in 0 0.05 0.1 0.15 0.18 0.2 0.22 0.25; do
	n=$((n + 1))
	check "$pause s into the end of the lm: it ends" ending_begins $n
	sleep $pause
	alone "late$n"
	check "$pause s into the end of the lm: a program that comes is watched" until_true 10 \
		is_watched "late$n"
	: >"$TMPDIR/late$n.go"
	check "$pause s into the end of the lm: it ends as without Omig" status_is 0 wait $program
done
token=$(omig tree --json | tr '{' '\n' | sed -n 's/.*"token":"\(p_[^"]*\)".*"job":"late8".*/\1/p')
no_longer() {
	says "UNKNOWN_OBJECT $token: there is no such object, or no longer" omig request \
		":omig_calls_read([$token])"
}
check 'the last values of what has ended are there' says "^$token: [0-9]+,.*MPI_Finalize" omig \
	request ":omig_calls_read([$token])"
check 'when its lm has ended they are not known, which is reported' until_true 20 no_longer
tap_end
