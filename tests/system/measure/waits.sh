#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# omig waits and omig matrix on programs in which rank 2 is late: it is named, and the measured
# waits for it are within the bounds of the program's own measurement. With each MPI that is here.
# timeout: 400
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
need python3

begins() { # FLAVOUR MODE
	dir=$TMPDIR/$1-$2
	name=$1-$2
	mkdir "$dir"
	timeout $((100 * PATIENCE)) omig run --job="$name" -- \
		"mpirun.$1" -n 4 "$T/waiting.$1" "$2" "$dir" >"$dir/out" 2>"$dir/err" &
	run=$!
	check "$1: $2: all ranks are watched" until_true 30 job_has_ranks "$name" 4
}
ends() {
	: >"$dir/enough"
	check "$name: the program ends well" wait "$run"
}
# Earlier requests are unknown, so the first interval is skipped. On a busy machine its ends are
# read late, by some 0.4 s: a second of it would be too short for a share.
waits_json() {
	omig waits --job "$name" --every 2s --count 2 --json | tail -n 1 >"$dir/waits.json"
}
# The share of rank R's time in waits for rank 2 (or all), by its own clock. Also the largest
# difference of an interval.
agrees() { # R PARTNER
	python3 - "$dir" "$1" "$2" <<'END'
import json, sys
folder, rank, partner = sys.argv[1], int(sys.argv[2]), sys.argv[3]
w = json.load(open(folder + "/waits.json"))
own = float(open(f"{folder}/{rank}").read())
partner = None if partner == "all" else int(partner)
edge = [e for e in w["waits"] if e["rank"] == rank and e["partner"] == partner
        and e["is_collective"] == (partner is None)]
print(own, w["interval"], edge)
least = sum(e["least"] for e in edge) / w["interval"]
most = sum(e["most"] for e in edge) / w["interval"]
share = sum(e["share"] for e in edge)
# An interval is a part of the program's time, and other work disturbs both. Between two tests the
# program is in no call, though it is waiting.
if folder.endswith("-polling"):
    assert len(edge) == 1 and 0.02 < share <= own + 0.25, (share, own)
    sys.exit(0)
assert least - 0.25 <= own <= most + 0.25, (least, own, most)
assert abs(share - own) <= 0.25, (share, own)
END
}
# of all that ranks wait in calls between two of them, nothing is lost or counted twice
adds_up() {
	python3 - "$dir" <<'END'
import json, sys
w = json.load(open(sys.argv[1] + "/waits.json"))
threads = 2 if sys.argv[1].endswith("-threads") else 1
for rank in range(4):
    total = sum(e["seconds"] for e in w["waits"] if e["rank"] == rank)
    together = sum(c["worst_seconds"] for c in w["collectives"] if c["worst"] == rank)
    print(rank, total, together, w["interval"])
    # Hosts read at other times than mainsm, later on a busy machine. A wait that is counted twice
    # would be twice as long.
    assert total <= threads * w["interval"] * 1.7
    for e in w["waits"]:
        assert e["least"] <= e["seconds"] + 1e-9 <= e["most"] + 2e-9, e
        assert 0 <= e["inferred"] <= e["seconds"] + 1e-9, e
END
}
names() { # PATTERN: the first line
	omig waits --job "$name" --every 1s >"$dir/text" || return 1
	cat "$dir/text"
	head -n 1 "$dir/text" | grep -Eq "$1"
}
mode() { # MODE RANK PARTNER: that waits
	begins "$f" "$1"
	check "$f: $1: waits are shown" waits_json
	check "$f: $1: nothing is counted twice" adds_up
	ends
	check "$f: $1: rank $2 waits as long as it has measured itself" agrees "$2" "$3"
}

# shellcheck disable=SC2154 # set by faults.sh
for f in $flavours; do
	begins "$f" chain
	check "$f: the late rank is named" until_true 30 names \
		'rank 2 is waited for most: .* MPI_Waitall, receive'
	check "$f: as JSON" waits_json
	check "$f: nothing is counted twice" adds_up
	check "$f: a metric by partner has it with its bound" says \
		'rank3@.* -> rank2@.* s \+-.* 1/1' \
		omig measure MPI_Waitall_delay --by process,partner --job "$name" --count 2
	check "$f: a matrix of what is sent" says 'Send_count: most is rank [0-3] -> rank [0-3]' \
		omig matrix Send_count --job "$name" --every 1s
	check "$f: receives point the other way" says 'rank [0-3] <- rank [0-3]' \
		omig matrix Receive_volume --job "$name" --every 1s
	check "$f: as a page" omig matrix --job "$name" --every 1s -o "$dir/matrix.html"
	check "$f: which has a table" grep -q '<tr><td>1</td><td>2</td>' "$dir/matrix.html"
	check "$f: a metric without partners is refused" status_is 2 omig matrix Barrier_delay
	check "$f: a metric that is none is refused" says 'did you mean Send_volume' \
		omig matrix Send_volum
	ends
	check "$f: chain: rank 3 waits as long as it has measured itself" agrees 3 2
	check "$f: chain: rank 1 waits as long as it has measured itself" agrees 1 2
	mode persistent 3 2
	mode wildcard 0 2
	mode probing 0 2
	mode rendezvous 0 2
	mode inter 0 2
	mode cancelled 3 2
	mode polling 3 2
	mode threads 0 2
	mode collective 0 all
	begins "$f" blocking
	check "$f: the last one in a barrier is inferred" until_true 30 names \
		'rank 2 is waited for most: .* MPI_Barrier, inferred'
	ends
	begins "$f" nothing
	check "$f: no wait is an answer too" until_true 30 names \
		'no rank is known to wait more than 2 %'
	ends
done
check 'of several jobs none is chosen' says 'choose one with --job' omig waits
omig run --job plain -- sleep 300 &
plain=$!
check 'a job without MPI is not a job that has ended' until_true 30 \
	says 'no process of the job is a rank' \
	omig waits --job plain
check 'that has a status of its own' status_is 4 omig matrix --job plain
kill $plain
check 'a name that ends with neither' status_is 2 omig matrix -o "$TMPDIR/x.png"
tap_end
