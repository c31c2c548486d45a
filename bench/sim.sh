#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ten thousand lms and a hundred sms in virtual time, idle but for a request to all of them each ten
# seconds: virtual time by
# processor time, and what the program has needed at most.
here=$(dirname "$0")
"$here/../libexec/omig/omig-sim" speed --hosts 10000 --time 60s | awk -F'|' '
	$2 + 0 > 0 {
		printf "{\"name\":\"sim.lms_10000.speedup\",\"value\":%s,\"unit\":\"x\",\"min\":%s,\"max\":%s,\"n\":1}\n", $4 + 0, $4 + 0, $4 + 0
		printf "{\"name\":\"sim.lms_10000.mib\",\"value\":%s,\"unit\":\"MiB\",\"min\":%s,\"max\":%s,\"n\":1}\n", $5 + 0, $5 + 0, $5 + 0
		told = 1
	}
	END { exit !told }'
