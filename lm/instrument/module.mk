# SPDX-License-Identifier: Apache-2.0
# lm/instrument: instrumentation of ranks: counting, tools' counters, probes, events, traces.
# circle: pa.c pa_gain.c pa_note.c: one module over three files
MODULES += lm/instrument
lm/instrument.src := calls.c events.c functions.c pa.c pa_gain.c pa_note.c probe.c tracebuf.c
lm/instrument.uses := common/base common/container common/time common/omis/text common/loop \
		common/tracer common/ring eventlog lm/helper lm/proc
