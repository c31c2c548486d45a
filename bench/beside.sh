#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench-beside: the same event written by us, by fprintf, and by LTTng-UST where that is installed,
# in one run. The script starts a session daemon of LTTng in a folder of its own, and the daemon
# writes there.
set -u
here=$(dirname "$0")
daemon=
end() {
	[ -z "$daemon" ] || { lttng destroy omig >/dev/null 2>&1; kill "$daemon" 2>/dev/null; wait \
		"$daemon" 2>/dev/null; }
	rm -rf "$folder"
}
folder=$(mktemp -d)
trap end EXIT
if [ ! -x "$here/bench-beside-lttng" ] || ! command -v lttng-sessiond >/dev/null; then
	echo 'bench-beside: LTTng-UST is not here (liblttng-ust-dev, lttng-tools)' >&2
	"$here/bench-beside-plain"
	exit
fi
export LTTNG_HOME="$folder" LTTNG_RUNDIR="$folder/run"
lttng-sessiond --no-kernel --quiet >/dev/null 2>&1 &
daemon=$!
i=0
until lttng create omig --output="$folder/trace" >/dev/null 2>&1; do
	i=$((i + 1))
	[ $i -lt 100 ] || { echo 'bench-beside: no session daemon' >&2; exit 1; }
	sleep 0.1
done
lttng enable-channel --userspace --discard --subbuf-size=4M --num-subbuf=8 beside >/dev/null &&
	lttng enable-event --userspace --channel=beside 'omig_bench:*' >/dev/null &&
		lttng start >/dev/null || exit 1
LTTNG_UST_REGISTER_TIMEOUT=-1 "$here/bench-beside-lttng" lttng || exit 1
lttng stop >/dev/null
command -v babeltrace2 >/dev/null || exit 0
events=$(babeltrace2 "$folder/trace" 2>/dev/null | wc -l)
[ "$events" = 0 ] && { echo \
	'bench-beside: LTTng recorded nothing; its row is that of an event that is off' >&2; exit \
	1; }
exit 0
