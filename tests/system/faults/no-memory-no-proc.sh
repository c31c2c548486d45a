#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hosts without memory, files or /proc, with low limits and a hostile environment. The program's
# output and status are those of the unwatched one. If there is a remedy, a daemon or tool reports
# it in one line.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need_mpi
# shellcheck disable=SC3045 # ulimit -v, -n, -f: dash, bash and ksh know them

log_lines() {
	log_of "$1" 2>/dev/null | wc -l
}
# as_bare STATUS FLAVOUR: compares $TMPDIR/run.out and run.err with the unwatched run
as_bare() {
	[ "$1" = 0 ] || { echo "status $1"; return 1; }
	same_output run "$2" 2
}
# in_ranks FLAVOUR COMMAND...: the program, watched, with something in front of it in each rank
in_ranks() {
	mpi=$1
	shift
	timeout $((60 * PATIENCE)) omig run --measure=count -- "mpirun.$mpi" -n 2 "$@" \
		"$T/steady.$mpi" >"$TMPDIR/run.out" 2>"$TMPDIR/run.err"
}
# The tokens of the ranks: older ones vanish when an lm without processes ends.
watched_ones() {
	omig tree | awk '/rank .*steady/ { print $1 }'
}
more_watched() { # BEFORE MORE
	[ "$(watched_ones | grep -cvxF -e "$1")" = "$2" ]
}
# one_says STATUS PATTERN COMMAND...: checks the exit status, and that the output is one line that
# matches. Through a pipe: files may not grow in some of these cases.
one_says() {
	want=$1 pattern=$2
	shift 2
	{
		"$@" 2>&1
		echo "status $?"
	} | cat >"$TMPDIR/one.out"
	cat "$TMPDIR/one.out"
	[ "$(wc -l <"$TMPDIR/one.out")" = 2 ] && grep -qx "status $want" "$TMPDIR/one.out" &&
		grep -Eq -- "$pattern" "$TMPDIR/one.out"
}
limited() { # LIMIT VALUE COMMAND..., with the connection string of mainsm
	( ulimit "$1" "$2" && shift 2 && exec env OMIG_MAINSM="$conn" "$@" )
}

mainsm >"$TMPDIR/conn"
conn=$(cat "$TMPDIR/conn")
with_conn() {
	env OMIG_MAINSM="$conn" "$@"
}
end_lm() {
	pid=$(daemon_pid lm) && kill "$pid" && until_true 10 is_dead "$pid"
	true
}
f=$one_flavour

# --- no memory for the segment
watched_with() { # VARIABLE=VALUE...
	env "$@" LD_PRELOAD="$T/libnomem.so" timeout $((60 * PATIENCE)) omig run --measure=count \
		-- "mpirun.$f" -n 2 "$T/steady.$f" \
		>"$TMPDIR/run.out" 2>"$TMPDIR/run.err"
}
n=$(watched_ones)
watched_with NOMEM=memfd
check 'no memfd: the program' as_bare $? "$f"
watched_with NOMEM=fill
check 'no memory behind it: the program' as_bare $? "$f"
check 'neither is watched' more_watched "$n" 0
says_why() {
	watched_with NOMEM=fill OMIG_DEBUG=1
	grep -Eq 'omig\[[0-9]+\]: no memory for the segment, not watched: No space left' \
		"$TMPDIR/run.err"
}
check 'OMIG_DEBUG prints the reason' says_why
"$T/refuse" -- true
if [ $? = 77 ]; then
	skip 'a sandbox' 'none can be made here'
else
	in_ranks "$f" "$T/refuse" memfd_create mremap close_range --
	check 'a sandbox that refuses what we call: the program' as_bare $? "$f"
	check 'it is not watched' more_watched "$n" 0
	end_lm
	check 'an lm in a sandbox without pidfd_open starts' with_conn "$T/refuse" pidfd_open -- lm
	in_ranks "$f" env
	check 'its programs' as_bare $? "$f"
	check 'it reports why they are not watched' logged lm \
		'not watched pid=[0-9]+ .*pidfd_open: Operation not permitted'
	end_lm
fi

# --- another view of the file system
if unshare -m true 2>/dev/null; then
	for mpi in $flavours; do
		full_shm() { # COMMAND...
			timeout $((60 * PATIENCE)) unshare -m sh \
				-c 'mount -t tmpfs -o size=16k none /dev/shm &&
				dd if=/dev/zero of=/dev/shm/full bs=4k count=4 2>/dev/null
				exec "$@"' sh "$@" \
				>"$TMPDIR/shm.out" 2>"$TMPDIR/shm.err"
		}
		# Both ranks die of SIGBUS, or one does before mpirun kills the other. MPICH's
		# status is the OR of both.
		as_without_us() { # STATUS STATUS-WITHOUT-US
			[ "$1" = "$2" ] || { [ "$1" != 0 ] && [ "$2" != 0 ] &&
				[ $(($1 | 9)) = $(($2 | 9)) ]; }
		}
		same_in_full_shm() {
			full_shm "mpirun.$mpi" -n 2 "$T/steady.$mpi"
			want=$?
			full_shm omig run -- "mpirun.$mpi" -n 2 "$T/steady.$mpi"
			got=$?
			echo "status $got, $want without us"
			cat "$TMPDIR/shm.err"
			as_without_us "$got" "$want" && no_word_of_ours "$TMPDIR/shm.err"
		}
		check "$mpi: /dev/shm is full: it ends as without Omig" same_in_full_shm
	done
	no_proc='umount -l /proc; exec "$@"'
	check 'an lm without /proc' one_says 1 '/proc cannot be read: is /proc mounted' \
		with_conn unshare -m sh -c "$no_proc" sh lm
	bare_without_proc() {
		timeout $((60 * PATIENCE)) "mpirun.$f" -n 2 unshare -m sh -c "$no_proc" sh \
			"$T/steady.$f" >"$TMPDIR/noproc" 2>&1 &&
			cmp "$TMPDIR/noproc" "$(plain_output "$f" 2)"
	}
	if bare_without_proc; then
		with_conn lm # started with /proc: an lm that these ranks start has no /proc either
		n=$(watched_ones)
		in_ranks "$f" unshare -m sh -c "$no_proc" sh
		check 'ranks without /proc' as_bare $? "$f"
		check 'are watched all the same' until_true 10 more_watched "$n" 2
		timeout $((60 * PATIENCE)) unshare -m sh -c "$no_proc" sh omig run -- "mpirun.$f" \
			-n 2 "$T/steady.$f" >"$TMPDIR/run.out" 2>"$TMPDIR/run.err"
		check 'omig run without /proc: the program runs' test $? = 0
		check 'and one line has the reason why it is not watched' \
			one_line "$TMPDIR/run.err" \
			'not watched: /proc/self/exe'
	else
		skip 'ranks without /proc' 'this MPI needs it'
	fi
	mkdir "$TMPDIR/small"
	small() { # MOUNT-OPTIONS VARIABLE COMMAND...
		options=$1 variable=$2
		shift 2
		unshare -m sh -c 'mount -t tmpfs -o "$1" none "$2"
			dd if=/dev/zero of="$2/full" bs=4k count=9 2>/dev/null
			shift 2; exec "$@"' sh "$options" "$TMPDIR/small" env \
				"$variable=$TMPDIR/small/s" "$@"
	}
	check 'a state directory on a full file system' one_says 1 'small/s.*No space left' small \
		size=8k OMIG_STATE_DIR mainsm
	check 'one that is read only' one_says 78 'small/s: .*Read-only file system' small ro \
		OMIG_STATE_DIR mainsm
	check 'a runtime directory that is read only' one_says 1 \
		'small/s: .*Read-only file system' \
		with_conn unshare -m sh -c \
			'mount -t tmpfs -o ro none "$1" && OMIG_RUNTIME_DIR=$1/s exec lm' sh \
			"$TMPDIR/small"
	for options in size=8k ro; do
		small $options OMIG_STATE_DIR timeout $((60 * PATIENCE)) omig run -- "mpirun.$f" \
			-n 2 "$T/steady.$f" >"$TMPDIR/run.out" 2>"$TMPDIR/run.err"
		check "omig run with such a state directory ($options): the program runs" test $? \
			= 0
		check "and one line has the reason why it is not watched ($options)" one_line \
			"$TMPDIR/run.err" 'not watched: .*small/s'
	done
else
	skip 'another view of the file system' 'not permitted here'
fi

# --- limits of a rank, which the lm that it starts inherits
end_lm
export MALLOC_ARENA_MAX=1 # each arena reserves 64 MiB; their number varies
peak_kib() { # of a rank without us
	rm -f "$TMPDIR/peak".*
	steady "$f" 2 --hold "$TMPDIR/peak.go" --beat "$TMPDIR/peak.beat" --pids \
		"$TMPDIR/peak.pid" >/dev/null 2>&1 &
	peak=$!
	until_true 30 test -s "$TMPDIR/peak.beat"
	sed -n 's/^VmPeak:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$(cat "$TMPDIR/peak.pid.0")/status"
	: >"$TMPDIR/peak.go"
	wait $peak
}
room=$(($(peak_kib) + 32768))
n=$(watched_ones)
# shellcheck disable=SC2016 # of the inner shell
OMIG_THREADS=64 OMIG_RING=1048576 in_ranks "$f" sh -c 'ulimit -v '$room'; exec "$@"' sh
check 'no address space for the segment: the program' as_bare $? "$f"
check 'it is not watched' more_watched "$n" 0
unset MALLOC_ARENA_MAX
end_lm
for limit in '-n 32' '-f 64'; do
	same_limited() {
		set -- sh -c "ulimit $limit"'; exec "$@"' sh
		timeout $((60 * PATIENCE)) "mpirun.$f" -n 2 "$@" "$T/steady.$f" \
			>"$TMPDIR/bare.out" 2>/dev/null
		want=$?
		in_ranks "$f" "$@"
		got=$?
		echo "status $got, $want without us"
		[ $got = $want ] && cmp "$TMPDIR/bare.out" "$TMPDIR/run.out" &&
			no_word_of_ours "$TMPDIR/run.err"
	}
	end_lm
	check "ranks with ulimit $limit: they end as without Omig" same_limited
done
end_lm
check 'an lm with 8 descriptors' one_says 1 'Too many open files' limited -n 8 lm
check 'an lm with 14 descriptors says what it lacks' one_says 0 \
	'no descriptor is left \(ulimit -n\)' limited -n 14 lm --linger 1s
end_lm
check 'a mainsm with 8 descriptors' one_says 1 'Too many open files' limited -n 8 env \
	OMIG_STATE_DIR="$TMPDIR/other" mainsm
check 'an lm whose files may not grow' one_says 1 'File too large' limited -f 0 lm
check 'a mainsm whose files may not grow' one_says 1 'File too large' limited -f 0 env \
	OMIG_STATE_DIR="$TMPDIR/other" mainsm
short_log_is_no_end() {
	limited -f 1 lm && until_true 5 daemon_pid lm
}
check 'an lm whose log may not grow runs' short_log_is_no_end
end_lm

# --- paths with blanks
mkdir -p "$TMPDIR/a dir/lib" "$TMPDIR/a dir/bin"
cp "$B/lib/libomig.so" "$TMPDIR/a dir/lib/"
n=$(watched_ones)
OMIG_LIBRARY="$TMPDIR/a dir/lib/libomig.so" in_ranks "$f" env
check 'a library that LD_PRELOAD cannot name: the program' as_bare $? "$f"
check 'it is watched, by a link' until_true 10 more_watched "$n" 2
end_lm
n=$(watched_ones)
mkdir -m 700 "$TMPDIR/run time"
ln -s "$B/bin/lm" "$TMPDIR/a dir/bin/lm"
OMIG_RUNTIME_DIR="$TMPDIR/run time" in_ranks "$f" env OMIG_LM="$TMPDIR/a dir/bin/lm"
check 'blanks in other paths: the program' as_bare $? "$f"
check 'it is watched' until_true 10 more_watched "$n" 2
pid=$(cat "$TMPDIR/run time"/lm-*.lock) && kill "$pid" && until_true 10 is_dead "$pid"

# --- the environment: all variables that libapp reads, found in its sources
{
	grep -ohE '(env|env_number)\("[A-Z_]+"' -r libapp common/base/ticks.c common/base/dirs.c
	sed -n '/^static void fill_rank/,/^}/p' libapp/setup/identity.c | grep -o '"[A-Z_]*"'
} | grep -o '[A-Z][A-Z_]*' | sort -u >"$TMPDIR/read"
known='HOME OMIG_DEBUG OMIG_DISABLE OMIG_JOB OMIG_LM OMIG_MAINSM OMIG_RING OMIG_RUNTIME_DIR
	OMIG_SITE OMIG_START OMIG_STATE_DIR OMIG_THREADS OMIG_TICKS
	OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMIX_NAMESPACE PMIX_RANK PMI_RANK PMI_SIZE
	SLURM_JOB_ID SLURM_NTASKS SLURM_PROCID SLURM_STEP_ID XDG_RUNTIME_DIR XDG_STATE_HOME'
for name in $known; do echo "$name"; done | sort >"$TMPDIR/known"
check 'every variable that libapp reads is in this test' diff "$TMPDIR/read" "$TMPDIR/known"

# Variables that MPI needs are unchanged.
case $f in openmpi) its='OMPI_|PMIX_|HOME' ;; *) its='PMI_|PMIX_|HOME' ;; esac
# garbage VALUE EXCEPT: makes a script that sets all variables but those that match, and executes
# the program
garbage() {
	{
		echo '#!/bin/sh'
		printf 'v=$(cat "%s")\n' "$1"
		grep -Evx "($its).*|OMIG_DEBUG|$2" "$TMPDIR/known" | sed 's/.*/export &="$v"/'
		echo 'exec "$@"'
	} >"$TMPDIR/garbage"
	chmod 755 "$TMPDIR/garbage"
}
: >"$TMPDIR/value.empty"
head -c 60000 /dev/zero | tr '\0' x >"$TMPDIR/value.huge"
printf 'a\001b\033[31m\377\376\t"\047;$(exit)%%s%%n\n..' >"$TMPDIR/value.binary"
printf '/no such/path with blanks' >"$TMPDIR/value.blanks"
printf -- '-99999999999999999999' >"$TMPDIR/value.number"
for kind in empty huge binary blanks number; do
	garbage "$TMPDIR/value.$kind" ''
	in_ranks "$f" "$TMPDIR/garbage"
	check "$kind values in all variables: the program" as_bare $? "$f"
	n=$(watched_ones)
	garbage "$TMPDIR/value.$kind" 'OMIG_(MAINSM|RUNTIME_DIR|STATE_DIR|DISABLE|LM)|XDG_.*'
	in_ranks "$f" "$TMPDIR/garbage"
	check "$kind values in all but those that lead to the lm: the program" as_bare $? "$f"
	check "$kind values: it is watched" until_true 10 more_watched "$n" 2
done
n=$(watched_ones)
for value in 1 yes garbage; do
	in_ranks "$f" env OMIG_DISABLE=$value
	check "OMIG_DISABLE=$value: the program" as_bare $? "$f"
done
check 'none of them is watched' more_watched "$n" 0
in_ranks "$f" env OMIG_DISABLE=0
check 'OMIG_DISABLE=0: the program' as_bare $? "$f"
check 'it is watched' until_true 10 more_watched "$n" 2
check 'the tree has no control characters in it' sh -c \
	'! omig tree | LC_ALL=C grep -q "[[:cntrl:]]"'
tap_end
