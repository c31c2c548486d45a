# SPDX-License-Identifier: Apache-2.0
# mainsm/measure: measurements over all sites: plans, parts, and reads.
MODULES += mainsm/measure
mainsm/measure.src := measure.c measure_info.c measure_load.c measure_objects.c measure_plan.c \
			measure_read.c measure_until.c measure_wait.c measure_asked.c \
			measure_world.c
mainsm/measure.uses := common/base common/container common/time common/cli common/omis/text \
		common/omis/services common/omis common/loop proto stats common/flow/graph \
		common/flow/engine common/flow/batch tree pmsl/check pmsl/plan pmsl \
		mainsm/directory mainsm/tool mainsm/csr mainsm/registry
