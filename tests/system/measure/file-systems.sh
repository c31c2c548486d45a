#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reads and writes by file system: known bytes to two mounts are counted exactly, of a program that
# is not rebuilt. What the C library moves by itself is in the bound.
. tests/system/lib.sh
own_host
need python3 mkfifo

shm=$(mktemp -d /dev/shm/omig.XXXXXX 2>/dev/null)
[ -n "$shm" ] && [ "$(stat -f -c %i "$shm")" != "$(stat -f -c %i "$TMPDIR")" ] || {
	rmdir "$shm"
	echo '1..0 # SKIP no second file system'
	exit 77
}
trap 'end_all; rm -rf "$shm"' EXIT
cat >"$TMPDIR/mover" <<'END'
import os, sys
one = os.open(sys.argv[1] + "/one", os.O_RDWR | os.O_CREAT, 0o600)
two = os.open(sys.argv[2] + "/two", os.O_RDWR | os.O_CREAT, 0o600)
copy = os.open(sys.argv[2] + "/copy", os.O_WRONLY | os.O_CREAT, 0o600)
pipe = os.open(sys.argv[3], os.O_RDONLY)
while os.read(pipe, 1):
    for i in range(100):
        os.write(one, b"x" * 777)
    for i in range(50):
        os.pwrite(two, b"y" * 1234, i * 1234)
    os.writev(two, [b"a" * 10, b"b" * 20])
    os.lseek(two, 0, os.SEEK_SET)
    os.read(two, 4000)
    os.pread(one, 500, 0)
    os.sendfile(copy, one, 0, 7000)
    if os.fork() == 0:
        os.write(one, b"z" * 5)
        os._exit(0)
    os.wait()
    os.write(1, b"moved\n")
END
mkfifo "$TMPDIR/go"
omig run --files -- python3 "$TMPDIR/mover" "$shm" "$TMPDIR" "$TMPDIR/go" >"$TMPDIR/out" \
	2>"$TMPDIR/err" &
job=$!
exec 3>"$TMPDIR/go"
check 'a process is there' until_true 30 says ' python3?[^ ]* +job ' omig tree

# METRIC REGION PATTERN: its value after one round matches
moved() {
	rounds=$(grep -c moved "$TMPDIR/out")
	omig measure "$1" --by process --region "$2" --every 200ms --count 1000 --csv \
		>"$TMPDIR/csv" 2>"$TMPDIR/tool" &
	tool=$!
	until_true 20 grep -q ',0,' "$TMPDIR/csv" || return 1
	printf x >&3
	until_true 20 done_rounds $((rounds + 1)) || return 1
	until_true 20 grep -Eq "$3" "$TMPDIR/csv"
	found=$?
	kill -INT $tool
	wait $tool
	tail -n 2 "$TMPDIR/csv" "$TMPDIR/tool"
	return $found
}
done_rounds() {
	[ "$(grep -c moved "$TMPDIR/out")" = "$1" ]
}
# The bound is 5: the kernel adds the bytes of a child that has ended to those of its parent.
check 'bytes written to one mount' moved File_write_volume "$shm" ',77700,B,5,'
check 'bytes written to the other, also by writev, and sendfile' \
	moved File_write_volume "$TMPDIR" ',68736,B,5,'
check 'its calls' moved File_write_count "$TMPDIR" ',53,calls,1,'
check 'bytes read from one mount' moved File_read_volume "$shm" ',7500,B,'
check 'bytes read from the other' moved File_read_volume "$TMPDIR" ',4000,B,'
check 'a pipe is on no mount' moved File_read_volume pipe ',1,B,'
check 'a region of a program is refused' \
	says 'a file system is a path on it' omig measure File_read_volume --region solve --count 1
check 'regions without a name are refused, with the remedy' \
	says 'name them: a file system is a path on it' \
	omig measure File_read_volume --by process,region --count 1
exec 3>&-
wait $job
check 'the program ends as without Omig' test $? = 0
check 'it has written nothing else' test ! -s "$TMPDIR/err"

# --- mounts that appear, and are replaced, in a namespace of the process
cat >"$TMPDIR/mounter" <<'END'
import os, subprocess, sys
for line in sys.stdin:
    line = line.strip()
    if line.startswith("mount "):
        subprocess.run(["mount", "-t", "tmpfs", "none", line[6:]], check=True)
    else:
        with open(line + "/file", "wb", buffering=0) as f:
            f.write(b"m" * 321)
    print("done", line, flush=True)
END
mounted() {
	mkfifo "$TMPDIR/steps"
	mkdir "$TMPDIR/place"
	omig run --files -- unshare --user --map-root-user --mount python3 "$TMPDIR/mounter" \
		<"$TMPDIR/steps" >"$TMPDIR/mounted" 2>"$TMPDIR/mounter.err" &
	job=$!
	exec 3>"$TMPDIR/steps"
}
step() {
	steps=$((${steps:-0} + 1))
	echo "$1" >&3
	until_true 20 has_done $steps
}
has_done() { [ "$(grep -c done "$TMPDIR/mounted")" = "$1" ]; }
value_is() { tail -n 1 "$TMPDIR/csv" | grep -Eq ",$1,B,"; }
if unshare --user --map-root-user --mount mount -t tmpfs none /mnt 2>/dev/null; then
	mounted
	check 'a process in a namespace of its own' until_true 30 says ' python3?[^ ]* +job ' \
		omig tree
	omig measure File_write_volume --by process --region "$TMPDIR/place" --every 200ms \
		--count 1000 --csv >"$TMPDIR/csv" 2>"$TMPDIR/tool" &
	tool=$!
	check 'it is measured' until_true 20 grep -q ',0,' "$TMPDIR/csv"
	check 'a mount appears' step "mount $TMPDIR/place"
	check 'and is written to' step "$TMPDIR/place"
	check 'its bytes are counted from then on' until_true 20 value_is 321
	check 'another one takes its place' step "mount $TMPDIR/place"
	check 'whose bytes are' until_true 20 value_is 0
	check 'that one is written to' step "$TMPDIR/place"
	check 'and counted alone' until_true 20 value_is 321
	kill -INT $tool
	wait $tool
	exec 3>&-
	check 'the program ends well' wait $job
else
	skip 'mounts of a process' 'no namespaces of users'
fi

# --- a process without the option
omig run -- sleep 30 &
job=$!
check 'a process without the option is there' until_true 30 says ' sleep +job ' omig tree
check 'it has no such values, and the reason is printed' \
	says 'start it with omig run --files' \
	omig measure File_write_volume --by process --count 1 --every 200ms
kill $job
wait $job
tap_end
