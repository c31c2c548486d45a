# SPDX-License-Identifier: Apache-2.0
# lm/service: requests, and one file for each family of services.
MODULES += lm/service
lm/service.src := done_log.c inbox.c look.c profile_sites.c services_calls.c services_control.c \
		services_create.c services_current.c services_enter.c services_events.c \
		services_file.c services_functions.c services_job.c services_memory.c \
		services_node.c services_pa.c \
		services_proc.c services_profile.c services_queue.c services_sample.c \
		services_source.c services_trace.c services_tracebuf.c settle.c
lm/service.uses := common/base common/container common/gate common/store common/time common/ring \
		common/loop common/tracer proto common/route tree lm/host lm/helper lm/proc \
		lm/hold lm/instrument lm/task
