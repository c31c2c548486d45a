#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One command switches events of the file server on while clients use it, and another one off. The
# server continues when daemons are killed, and where no monitor can run. No failure of Omig affects
# it.
# timeout: 90
. tests/system/lib.sh
. tests/system/faults.sh
S=$B/examples/fileserver
[ -x "$S" ] || skip_all 'the file server is not built'

serves() { # NAME COMMAND...: in the background, until $TMPDIR/NAME.end
	name=$1
	shift
	rm -f "$TMPDIR/$name.end"
	"$@" "$S" --clients 3 --mib 1 --folder "$TMPDIR" --slow-disk "${slow_us:-200}" --until \
		"$TMPDIR/$name.end" </dev/null \
		>"$TMPDIR/$name.out" 2>"$TMPDIR/$name.err" &
	job=$!
}
ends_well() { # NAME: status 0, its one line, and no other output
	: >"$TMPDIR/$1.end"
	wait $job || { cat "$TMPDIR/$1.err"; return 1; }
	[ "$(wc -l <"$TMPDIR/$1.out")" = 1 ] && grep -Eq '^[0-9.]+ MiB/s [0-9.]+ s$' \
		"$TMPDIR/$1.out" && test ! -s "$TMPDIR/$1.err"
}

serves server omig run --job server --
on() { # N: processes in which the server's event is on
	omig events list --job server | grep -Eq "^server.disk.read.end +Info +[1-9][0-9]* +$1 "
}
check 'its events are known, and off' until_true 30 on 0
check 'one command switches them on, keeps them, and off' omig events on 'server.*' --job server \
	--to "$TMPDIR/transfer.olog" --for 2s
check 'they are off' until_true 30 on 0
# each sent block was read, and no number is missing between the first and the last
whole() {
	omig log cat "$TMPDIR/transfer.olog" >"$TMPDIR/transfer" || return 1
	[ "$(grep -c 'event=server.net.send.end' "$TMPDIR/transfer")" -gt 20 ] &&
		! grep -q 'rank=' "$TMPDIR/transfer"
}
check 'the log is whole' whole
check 'lifelines say where the time goes' says 'server\.' omig log lifelines --key conn,block \
	"$TMPDIR/transfer.olog"
omig events tail 'server.*' --job server >"$TMPDIR/tail" 2>&1 &
tail=$!
check 'on again' until_true 30 on '[1-9]'
check 'and off by another tool' until_true 30 omig events off 'server.*'
wait $tail

# --- clients, which live for 2 s here
server=$job
slow_us=100000
serves clients omig run --job clients --
slow_us=
clients_are() { # at least one running process is a client; $job is the server
	omig tree --job clients >"$TMPDIR/tree"
	cat "$TMPDIR/tree"
	grep ' fileserver .*run$' "$TMPDIR/tree" | grep -qv " pid $job "
}
have_events() { # events of the server and of at least one client
	omig events list --job clients | grep -Eq '^client.disk.write.end +Info +[2-4] '
}
check 'clients are processes of the job' until_true 30 clients_are
check 'their events are known' until_true 30 have_events
check 'their events are reported' \
	says "event=client.disk.write.end " timeout $((20 * PATIENCE)) omig \
	events tail client.disk.write.end --job clients --count 3
check 'it ends as without Omig, with clients that are watched' ends_well clients
job=$server

# --- daemons are killed while it serves, with events on
omig events tail 'server.*' --job server >"$TMPDIR/tail" 2>&1 &
tail=$!
check 'on once more' until_true 30 on '[1-9]'
check 'the lm is killed' kill_hard lm
check 'mainsm is killed' kill_hard mainsm
kill $tail 2>/dev/null
wait $tail
serves_on() { # clients start and end
	first=$(pgrep -P "$1" | sort | head -n 1)
	until_true 20 sh -c "! kill -0 $first"
}
check 'it serves on' serves_on $job
check 'it ends as without Omig' ends_well server

# --- on a host where no monitor can run
mainsm >/dev/null
serves full env NOMEM=fill LD_PRELOAD="$T/libnomem.so" omig run --job full --
check 'no memory for a segment' ends_well full
serves nofile env NOMEM=memfd LD_PRELOAD="$T/libnomem.so" omig run --job nofile --
check 'no memfd' ends_well nofile
lib=$B/lib/libomig.so
serves absent env LD_PRELOAD="$lib" OMIG_MAINSM=omig1:127.0.0.1:1:absentaa00000000 \
	OMIG_LM=/bin/false
check 'an absent monitor' ends_well absent
serves odd env LD_PRELOAD="$lib" OMIG_MAINSM='%n garbage' OMIG_LM=/nowhere OMIG_CHOSEN=x \
	OMIG_RUNTIME_DIR=/proc/nowhere/at/all
check 'variables that make no sense' ends_well odd
serves limits sh -c 'ulimit -n 24; exec "$@"' sh env LD_PRELOAD="$lib" \
	OMIG_MAINSM=omig1:127.0.0.1:1:absentaa00000000 OMIG_LM=/bin/false
check 'few descriptors' ends_well limits
tap_end
