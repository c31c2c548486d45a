# SPDX-License-Identifier: Apache-2.0
# lm/csr: conditional requests and the sources of their events.
MODULES += lm/csr
lm/csr.src := csr.c csr_call.c csr_fire.c csr_hold.c csr_losses.c csr_match.c csr_parse.c \
		csr_perf.c csr_probe.c csr_proc.c csr_rank.c csr_ring.c csr_tracer.c \
		csr_unwatched.c
lm/csr.uses := common/base common/container common/time common/ring common/omis common/loop \
		common/tracer proto common/route common/audit tree lm/host lm/helper lm/proc \
		lm/hold lm/instrument lm/task
