# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154
# For tests of commands in a terminal, after lib.sh: a job of four ranks with the first MPI that is
# here, and a window of tmux.
need tmux
for f in openmpi mpich; do [ -x "$(heat $f)" ] && command -v mpirun.$f >/dev/null && break; done
[ -x "$(heat "$f")" ] || skip_all 'no example program'

how=
[ $f != openmpi ] || how='--oversubscribe --mca mpi_yield_when_idle 1'
# shellcheck disable=SC2086 # words
omig run --job heat -- mpirun.$f $how -n 4 "$(heat $f)" --seconds 900 >"$TMPDIR/out" 2>&1 &
job=$!
check 'the ranks are visible' until_true 20 ranks_are 4
end_job() { kill $job; wait $job; true; }

screen() { tmux -f /dev/null -S "$TMPDIR/tmux" "$@"; }
# opens COLUMNS ROWS COMMAND: runs it in a window, and then shows "over"
opens() {
	trap 'screen kill-server 2>/dev/null; end_all' EXIT
	screen new-session -d -x "$1" -y "$2" \
		"env LC_ALL=C.UTF-8 TERM=screen $3; echo over; sleep 900"
}
shown() { screen capture-pane -p; }
shows() { shown | tee /dev/stderr | grep -Eq -- "$1"; }
press() { screen send-keys "$@"; }
