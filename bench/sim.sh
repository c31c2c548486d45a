#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ten thousand lms and a hundred sms in virtual time, with a request to all of them each ten
# seconds. Measures virtual time by processor time, and the peak of memory.
here=$(dirname "$0")
"$here/../libexec/omig/omig-sim" speed --hosts 10000 --time 60s | awk -F'|' '
	function row(name, unit, v) {
		printf "{\"name\":\"sim.lms_10000.%s\",\"value\":%s,\"unit\":\"%s\",", name, v, unit
		printf "\"min\":%s,\"max\":%s,\"n\":1}\n", v, v
	}
	$2 + 0 > 0 {
		row("speedup", "x", $4 + 0)
		row("mib", "MiB", $5 + 0)
		has_row = 1
	}
	END { exit !has_row }'
