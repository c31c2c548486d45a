# SPDX-License-Identifier: Apache-2.0
# sm/measure: measurements of this site: parts for each host, and reads that merge them.
MODULES += sm/measure
sm/measure.src := measure.c measure_hosts.c measure_load.c measure_read.c
sm/measure.uses := common/base common/container common/time common/omis/text common/omis/reply \
		common/omis common/loop proto common/flow/graph common/flow/engine \
		common/flow/batch tree sm/hosts
