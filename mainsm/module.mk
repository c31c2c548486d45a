# SPDX-License-Identifier: Apache-2.0
# mainsm: one per user. The directory of objects, tools, conditional requests, certificates.
MODULES         += mainsm
mainsm.src      := object.c directory.c scope.c children.c pa.c view.c \
		   numbers.c sites.c template.c \
		   session.c kept.c kept_lane.c csr.c csr_arm.c csr_part.c partners.c csr_fire.c csr_hold.c locks.c \
		   top.c top_attach.c top_take.c top_csr.c top_pa.c top_ask.c top_admin.c top_site.c top_job.c top_dfg.c top_kept.c \
		   stage.c measure.c measure_wait.c measure_wish.c measure_objects.c measure_world.c measure_plan.c measure_load.c measure_read.c measure_until.c \
		   measure_info.c \
		   greet.c places.c below.c above.c audit.c lapse.c mainsm.c settings.c hosts.c starter.c program.c
mainsm.programs := mainsm
mainsm.uses     := common/base common/omis common/loop proto common/net common/flow common/route common/daemon tree common/authority stats pmsl
