# SPDX-License-Identifier: Apache-2.0
# lm/csr: conditional requests and the sources of their events.
MODULES += lm/csr
lm/csr.src := csr.c csr_events.c csr_events_site.c csr_fire.c csr_hold.c csr_keep.c csr_losses.c \
		csr_parse.c csr_perf.c csr_probe.c csr_rank.c csr_ring.c csr_source.c \
		csr_stops.c csr_types.c csr_unwatched.c keeprows.c
lm/csr.uses := common/base common/ring common/omis common/loop common/tracer proto common/route \
		common/daemon eventlog eventlog/keep lm/host lm/helper lm/proc lm/hold \
		lm/instrument lm/task
