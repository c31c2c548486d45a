#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Why a process does not run: a watched and a foreign program share one processor.
. tests/system/lib.sh
own_host
need taskset

cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
cat >"$TMPDIR/spin.sh" <<'EOF'
while [ -e "$1" ]; do
	:
done
EOF
touch "$TMPDIR/run_watched" "$TMPDIR/run_foreign"
taskset -c "$cpu" omig run -- sh "$TMPDIR/spin.sh" "$TMPDIR/run_watched" &
job=$!
check 'a process is there' until_true 30 says ' sh +job ' omig tree

taskset -c "$cpu" sh "$TMPDIR/spin.sh" "$TMPDIR/run_foreign" &
foreign=$!

# of METRIC OBJECTS: its values
of() {
	omig measure "$1" --by "$2" --every 500ms --count 3 --csv
}
# above METRIC OBJECTS LEAST UNIT: one of its values is greater
above() {
	of "$1" "$2" >"$TMPDIR/values" || return 1
	cat "$TMPDIR/values"
	awk -F, -v least="$3" -v unit="$4" '$7 == unit && $6 != "" && $6 + 0 > least { ok = 1 }
		END { exit !ok }' "$TMPDIR/values"
}
# has_none METRIC UNIT: a row without a value, and none with one: unknown is not 0
has_none() {
	status_is 6 of "$1" process >"$TMPDIR/values"
	cat "$TMPDIR/values"
	awk -F, -v unit="$2" '$7 == unit { if ($6 == "") none = 1; else some = 1 }
		END { exit !none || some }' "$TMPDIR/values"
}
check 'a process that shares its processor waits for it' \
	until_true 20 above Run_delay process 0.1 s
check 'the other one is foreign' until_true 20 above Node_foreign_cpu node 0.2 1
check 'what a hypervisor takes is counted, even if it is nothing' above Node_steal node -1 s
if [ "$(cat /proc/sys/kernel/task_delayacct 2>/dev/null)" = 1 ]; then
	check 'waits for disks are counted' above Block_delay process -1 s
else
	check 'without delay accounting waits for disks are unknown' has_none Block_delay s
fi
if [ -e /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq ]; then
	check 'the clock of the processor is known' above Core_frequency process 1e6 Hz
else
	check 'without cpufreq the clock of the processor is unknown' has_none Core_frequency Hz
fi
check 'what a quota takes is counted where control groups have one' \
	says 'Throttled_time|,s,' of Throttled_time process
check 'they are listed' says '^Run_delay +s +cumulative +time in which its threads were ready' \
	omig metrics Run_delay
rm "$TMPDIR/run_watched" "$TMPDIR/run_foreign"
wait $job $foreign
tap_end
