#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A Slurm of one node on this machine: `srun ./program` is watched by the task
# prolog, without a word in front of it; jobs and ranks have Slurm's names;
# srun starts the sm of a site. Slurm, its munge and its files are private to this test, in $TMPDIR.
# timeout: 120
. tests/system/lib.sh
. tests/system/faults.sh
PATH=$PATH:/usr/sbin:/sbin
need slurmctld slurmd srun sbatch munged
[ "$(id -u)" = 0 ] || skip_all 'Slurm needs root'
[ -n "$flavours" ] || skip_all 'no MPI is here'

S=$TMPDIR/slurm
mkdir -p "$S/ctl" "$S/spool" "$S/log" "$S/pmix" "$S/munge"
chmod 755 "$TMPDIR" "$S"
daemons=
end_slurm() {
	scancel --user=root 2>/dev/null
	end_faults
	for pid in $daemons; do kill "$pid" 2>/dev/null; done
	for pid in $daemons; do until_true 5 is_dead "$pid" || kill -KILL "$pid" 2>/dev/null; done
	# Step daemons leave the process group; they have this test's configuration in their
	# environment.
	# shellcheck disable=SC2013 # words
	for p in $(grep -lsz "^SLURM_CONF=$SLURM_CONF\$" /proc/[0-9]*/environ); do
		p=${p%/environ}
		case $(cat "$p/comm" 2>/dev/null) in
		slurmstepd | slurmd | slurmctld | munged | srun)
			kill -KILL "${p#/proc/}" 2>/dev/null ;;
		esac
	done
}
trap 'end_slurm' EXIT
export SLURM_CONF="$S/slurm.conf" OMIG_RUNTIME_DIR="$TMPDIR/omig"
node=$(uname -n | cut -d. -f1)
port=$((20000 + $$ % 5000 * 2))
B_ABS=$B

# The prolog as it is installed, for the programs of this build
share=$TMPDIR/slurm-scripts
mkdir -p "$share"
for s in task-prolog epilog; do
	sed -e "s|@bindir@|$B_ABS/bin|g" packaging/slurm/$s.sh.in >"$share/$s.sh"
	chmod 755 "$share/$s.sh"
done

# --- munged, slurmctld, slurmd, as children of this test
head -c 1024 /dev/urandom >"$S/munge/key"
chmod 600 "$S/munge/key"
chmod 755 "$S/munge"
cat >"$SLURM_CONF" <<END
ClusterName=omigtest
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$S/munge/socket
CredType=cred/munge
StateSaveLocation=$S/ctl
SlurmdSpoolDir=$S/spool
SlurmctldPidFile=$S/slurmctld.pid
SlurmdPidFile=$S/slurmd.pid
SlurmctldLogFile=$S/log/slurmctld.log
SlurmdLogFile=$S/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SlurmdParameters=config_overrides
MpiDefault=none
TaskProlog=$share/task-prolog.sh
NodeName=$node NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=$node Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
END
echo "PMIxCliTmpDirBase=$S/pmix" >"$S/mpi.conf"
# Started without the state directory in their environment, which marks the processes of this test.
env -u OMIG_STATE_DIR munged --foreground --force --num-threads=1 --socket="$S/munge/socket" \
	--key-file="$S/munge/key" --pid-file="$S/munge/pid" \
	--log-file="$S/munge/log" --seed-file="$S/munge/seed" >"$S/log/munged.out" 2>&1 &
daemons="$daemons $!"
until_true 10 test -S "$S/munge/socket"
env -u OMIG_STATE_DIR slurmctld -D -i -f "$SLURM_CONF" >"$S/log/slurmctld.out" 2>&1 &
daemons="$daemons $!"
env -u OMIG_STATE_DIR slurmd -D -N "$node" -f "$SLURM_CONF" >"$S/log/slurmd.out" 2>&1 &
daemons="$daemons $!"
is_idle() {
	sinfo -h -o %T 2>/dev/null | grep -q idle
}
if ! until_true 20 is_idle; then
	tail -n 20 "$S"/log/* "$S/munge/log" 2>/dev/null
	skip_all 'Slurm does not start here'
fi

# --- srun, without anything in front of the program
mainsm >"$TMPDIR/conn"
# plain_srun SECONDS WORDS...: with the MPI plug-in that each flavour of this system supports
mpi_way() {
	case $1 in openmpi) echo pmix ;; mpich) echo pmi2 ;; esac
}
# Slurm's own name of the step that runs
step() {
	squeue -h -s -o %i | grep -E '^[0-9]+\.[0-9]+$' | head -n 1
}
job_is_the_step() {
	now=$(step)
	omig tree | grep -F "job slurm-$now "
}
# The ranks of that step, as far as they run
ranks_are_0_1() {
	[ "$(omig tree --json | tr '{' '\n' | grep '"state":"\(run\|wait\|ready\)"' |
		grep -o '"rank":[0-9]*' | sort | tr '\n' ' ')" = '"rank":0 "rank":1 ' ]
}
for f in $flavours; do
	rm -f "$TMPDIR/go"
	timeout $((60 * PATIENCE)) srun -n 2 --mpi="$(mpi_way "$f")" "$T/steady.$f" --hold \
		"$TMPDIR/go" --beat "$TMPDIR/beat" >"$TMPDIR/$f.out" 2>"$TMPDIR/$f.err" &
	job=$!
	if ! until_true 30 test -s "$TMPDIR/beat"; then
		skip "$f: srun --mpi=$(mpi_way "$f") ./program" \
			"this Slurm does not start it: $(tail -n 1 "$TMPDIR/$f.err")"
		kill $job
		wait $job
		continue
	fi
	check "$f: srun ./program: both ranks are there, under their numbers" until_true 20 \
		ranks_are_0_1
	check "$f: the job has the name of Slurm's step" job_is_the_step
	: >"$TMPDIR/go"
	wait $job
	status=$?
	check "$f: it ends as without Omig" test $status = 0
	check "$f: and its output has nothing of Omig" no_word_of_ours "$TMPDIR/$f.err"
	rm -f "$TMPDIR/beat"
	check "$f: a summary of ranks that srun starts" says \
		"^omig: job sum\.$f: steady[.a-z]*, 2 ranks on 1 host, [^;]*computes most\)$" \
		omig run --job "sum.$f" --summary="$TMPDIR/sum.json" -- srun -n 2 \
		--mpi="$(mpi_way "$f")" "$T/steady.$f" --rounds 500
	check "$f: with their last values" status_is 0 omig compare "$TMPDIR/sum.json" \
		"$TMPDIR/sum.json"
done

# --- the epilog: the user's last job here is over, so the lm need not stay
no_lm() {
	! daemon_pid lm
}
check 'an lm is left, for a while' daemon_pid lm
lm=$(daemon_pid lm)
check 'the epilog never fails' env XDG_RUNTIME_DIR="$TMPDIR" SLURM_JOB_ID=0 "$share/epilog.sh"
check 'the epilog ends it' is_dead "$lm"

# --- srun as launcher: the sm runs on the chosen host, as a step of the job
omig stop
until_true 10 no_leftovers
# A certificate for another site would keep the host at that site.
rm -rf "$OMIG_STATE_DIR" "$OMIG_RUNTIME_DIR"
mkdir -p "$XDG_CONFIG_HOME/omig"
printf '[site cluster]\nhosts = *\nlauncher = srun\nhost = %s\n' "$node" \
	>"$XDG_CONFIG_HOME/omig/mainsm.conf"
f=$(echo "$flavours" | cut -d" " -f2)
rm -f "$TMPDIR/go" "$TMPDIR/beat"
timeout $((60 * PATIENCE)) salloc -Q -n 3 sh -c 'mainsm >"$TMPDIR/conn" 2>"$TMPDIR/mainsm.err" &&
	srun -n 2 --overlap --mpi="$1" "$2" --hold "$TMPDIR/go" --beat "$TMPDIR/beat"; omig stop' \
	sh "$(mpi_way "$f")" "$T/steady.$f" >"$TMPDIR/alloc.out" 2>"$TMPDIR/alloc.err" &
job=$!
sm_is_a_step() {
	grep -qz '^SLURM_STEP_ID=[0-9]' "/proc/$(daemon_pid sm)/environ"
}
check 'srun starts the sm of the site' until_true 30 sm_is_a_step
check 'and the program is watched through it' until_true 20 ranks_are_0_1
check 'at that site' says '^ *s_[0-9]+ +site cluster ' omig tree
: >"$TMPDIR/go"
wait $job
tap_end
