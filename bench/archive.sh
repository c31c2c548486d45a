#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs bench_archive, with a PostgreSQL server of its own if one can be started.
set -u
server=tests/testbed/postgres
if [ -z "$($server why)" ] && dir=$($server start 2>/dev/null); then
	trap '$server stop "$dir"' EXIT
	for i in 0 1 2; do $server create "$dir" bench$i; done
	export OMIG_BENCH_POSTGRESQL="postgresql:///?host=$dir&user=omig&dbname=bench"
else
	echo "bench-archive: without PostgreSQL: $($server why)" >&2
fi
"$(dirname "$0")/bench_archive"
