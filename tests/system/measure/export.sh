#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Counters for scrapers: the text, the port, refused clients, and a real Prometheus.
# timeout: 180
. tests/system/lib.sh
. tests/system/faults.sh
need mpirun.openmpi python3
program=$(heat openmpi)
[ -x "$program" ] || skip_all 'no example program'
om() {
	python3 tests/system/openmetrics.py "$@"
}

check 'without a mainsm: one line and status 3' status_is 3 omig export openmetrics --once
omig run --job 'a "job"' --measure=volume -- mpirun.openmpi -n 2 --oversubscribe --mca \
	mpi_yield_when_idle 1 \
	"$program" --seconds 900 >"$TMPDIR/out" 2>"$TMPDIR/err" &
job=$!
check 'both ranks are visible' until_true 20 ranks_are 2

# --- the text
omig export openmetrics --once --per-rank >"$TMPDIR/once" 2>"$TMPDIR/once.err"
check 'one sample is OpenMetrics to the letter' om check "$TMPDIR/once"
check 'it counts both processes' test \
	"$(om value "$TMPDIR/once" omig_job_processes 'job=a \"job\"')" = 2.0
check 'a rank is a rank' test "$(om value "$TMPDIR/once" omig_rank_info rank=1)" = 1.0
check 'a host is up' test "$(om value "$TMPDIR/once" omig_nodes state=up)" = 1.0
check 'and has memory' om value "$TMPDIR/once" omig_node_memory_bytes
check 'calls are exported by class' \
	om value "$TMPDIR/once" omig_job_mpi_calls_total class=collective
examples_are_told() { # each series that the examples ask for; a dashboard that is JSON
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' \
		examples/prometheus/dashboard.json || return 1
	grep -oh 'omig_[a-z_]*' examples/prometheus/dashboard.json examples/prometheus/alerts.yml |
		sort -u >"$TMPDIR/asked"
	while read -r name; do
		grep -q "^${name}[{ ]" "$TMPDIR/once" || { echo "$name"; return 1; }
	done <"$TMPDIR/asked"
	[ -s "$TMPDIR/asked" ]
}
check 'what dashboard and alerts ask for is there' examples_are_told
omig export prometheus --once >"$TMPDIR/plain"
check 'the older form has no end' sh -c \
	'! grep -q "# EOF" "$1" && grep -q "# TYPE omig_up gauge" "$1"' sh "$TMPDIR/plain"
omig export openmetrics --once --per-rank --series 30 >"$TMPDIR/few"
check 'a limit cuts series' om check "$TMPDIR/few"
left_out() {
	[ "$(om value "$TMPDIR/few" omig_export_series)" = 30.0 ] &&
		[ "$(om value "$TMPDIR/few" omig_export_series_left_out | cut -d. -f1)" -gt 30 ]
}
check 'and reports how many' left_out
if command -v promtool >/dev/null 2>&1; then
	# promlint also checks the style of names; here only readability matters.
	readable() {
		promtool check metrics <"$TMPDIR/plain" 2>&1 | tee "$TMPDIR/lint"
		! grep -q 'error while linting' "$TMPDIR/lint"
	}
	check 'promtool reads it' readable
else
	skip 'promtool reads it' 'prometheus is not here'
fi

# --- the port
omig export openmetrics --listen 127.0.0.1:0 --every 1 --per-rank >"$TMPDIR/url" \
	2>"$TMPDIR/export.err" &
export=$!
check 'it prints its address' until_true 20 test -s "$TMPDIR/url"
url=$(cat "$TMPDIR/url")
port=${url##*:}
port=${port%/metrics}
om get "$url" 'Accept: application/openmetrics-text; version=1.0.0' >"$TMPDIR/first" \
	2>"$TMPDIR/first.type"
check 'a scrape is answered' grep -q '^200 application/openmetrics-text; version=1.0.0' \
	"$TMPDIR/first.type"
check 'in OpenMetrics to the letter' om check "$TMPDIR/first"
om get "$url" >"$TMPDIR/default" 2>"$TMPDIR/default.type"
check 'a reader without preferences gets the older form' grep -q '^200 text/plain; version=0.0.4' \
	"$TMPDIR/default.type"
grows() {
	om get "$url" 'Accept: application/openmetrics-text' >"$TMPDIR/later" 2>/dev/null
	om monotone "$TMPDIR/first" "$TMPDIR/later" >"$TMPDIR/fell" || return 1
	[ "$(om value "$TMPDIR/first" omig_job_mpi_calls_total)" != \
		"$(om value "$TMPDIR/later" omig_job_mpi_calls_total)" ]
}
check 'counters grow' until_true 20 grows
check 'an address that is not loopback needs a token' status_is 2 omig export openmetrics --listen \
	0.0.0.0:0
echo short >"$TMPDIR/token"
chmod 600 "$TMPDIR/token"
check 'a token that is none' status_is 2 omig export openmetrics --listen 127.0.0.1:0 --token-file \
	"$TMPDIR/token"
echo 0123456789abcdef0123456789abcdef >"$TMPDIR/token"
chmod 644 "$TMPDIR/token"
check 'a token that others may read' status_is 2 omig export openmetrics --listen 127.0.0.1:0 \
	--token-file "$TMPDIR/token"
chmod 600 "$TMPDIR/token"
omig export openmetrics --listen 127.0.0.1:0 --every 1h --token-file "$TMPDIR/token" \
	>"$TMPDIR/guarded" 2>"$TMPDIR/guarded.err" &
guarded=$!
check 'with a token' until_true 20 test -s "$TMPDIR/guarded"
refused() { # HEADER...: refuses such a request, with the right status
	om get "$(cat "$TMPDIR/guarded")" "$@" >/dev/null 2>"$TMPDIR/refused"
	cat "$TMPDIR/refused"
	grep -qx 401 "$TMPDIR/refused"
}
bearer="Authorization: Bearer $(cat "$TMPDIR/token")"
check 'a reader without one is refused' refused
check 'so is another one' refused "${bearer}0"
check 'a reader with it is answered' om get "$(cat "$TMPDIR/guarded")" "$bearer"
om get "$(cat "$TMPDIR/guarded")" "$bearer" >"$TMPDIR/sample" 2>/dev/null
check 'calls continue meanwhile' until_true 20 grows
same_sample() { # apart from the exporter's own counters
	om get "$(cat "$TMPDIR/guarded")" "$bearer" >"$TMPDIR/again" 2>/dev/null
	grep -v omig_export "$TMPDIR/sample" >"$TMPDIR/sample.job"
	grep -v omig_export "$TMPDIR/again" | diff "$TMPDIR/sample.job" -
}
check 'a sample is given again until its time is over' same_sample
kill -TERM $guarded
wait $guarded

# --- attacks
om attack 127.0.0.1 "$port" >"$TMPDIR/attacks" 2>&1
while read -r name status; do
	check "$name: $status" grep -qx "$name $status" "$TMPDIR/attacks"
done <<END
dots 404
coded-dots 404
foreign-host 403
foreign-origin 403
post 405
large-head 431
large-body 413
chunked 413
two-hosts 400
slow-head 408
END
check 'noise is refused' grep -Eqx 'noise (400|431)' "$TMPDIR/attacks"
check 'so is another protocol' grep -Eqx 'tls (400|405)' "$TMPDIR/attacks"
check 'and it continues' om get "$url"

# --- a real Prometheus
if command -v prometheus >/dev/null 2>&1; then
	free=$(python3 -c 'import socket; s = socket.socket()
s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	cat >"$TMPDIR/prometheus.yml" <<END
global: { scrape_interval: 3s, scrape_timeout: 3s }
scrape_configs: [ { job_name: omig, honor_labels: true,
                    static_configs: [ { targets: [ "127.0.0.1:$port" ] } ] } ]
END
	prometheus --config.file="$TMPDIR/prometheus.yml" --storage.tsdb.path="$TMPDIR/tsdb" \
		--web.listen-address="127.0.0.1:$free" >"$TMPDIR/prometheus.log" 2>&1 &
	prometheus=$!
	knows() {
		om get "http://127.0.0.1:$free/api/v1/query?query=sum(omig_job_processes)" \
			>"$TMPDIR/api" 2>/dev/null
		cat "$TMPDIR/api"
		grep -q '"value":\[[0-9.]*,"2"\]' "$TMPDIR/api"
	}
	check 'Prometheus has scraped it' until_true 40 knows
	same_job() {
		om get "http://127.0.0.1:$free/api/v1/query?query=omig_job_mpi_calls_total" \
			>"$TMPDIR/calls" 2>/dev/null
		cat "$TMPDIR/calls"
		python3 - "$TMPDIR/calls" <<-'END'
			import json, sys
			found = json.load(open(sys.argv[1]))["data"]["result"]
			assert found and all(r["metric"]["job"] == 'a "job"' and
			                     float(r["value"][1]) > 0 for r in found), found
		END
	}
	check 'and knows the calls of the job by its name' until_true 20 same_job
	kill -TERM $prometheus
	wait $prometheus
else
	skip 'Prometheus has scraped it' 'prometheus is not here'
	skip 'and knows the calls of the job by its name' 'prometheus is not here'
fi
# --- counters when an lm is killed
kill_hard lm
# The job's counters do not decrease; series of removed ranks end.
not_less() {
	om get "$url" 'Accept: application/openmetrics-text' >"$TMPDIR/after" 2>/dev/null
	cat "$TMPDIR/export.err"
	[ "$(om value "$TMPDIR/after" omig_nodes state=up)" = 0.0 ] || return 1
	grep -v '^[^ ]*omig_rank' "$TMPDIR/later" | grep -v '# [A-Z]* omig_rank' >"$TMPDIR/before"
	om monotone "$TMPDIR/before" "$TMPDIR/after"
}
until_true 10 not_less
check 'no counter falls when an lm is killed' not_less

kill -TERM $export
wait $export
status=$?
check 'it ends when a signal asks for it' test $status = 0
kill -TERM $job
wait $job
tap_end
