# SPDX-License-Identifier: Apache-2.0
# lm: one per host and user. Takes in the segments of the ranks, executes services on local objects.
MODULES     += lm
lm.src      := host.c host_linux.c host_linux_node.c host_linux_devices.c host_linux_proc.c host_linux_chosen.c host_linux_pidfd.c \
	       proctext.c proc.c proc_look.c objects.c totals.c tickbase.c hooks.c rates.c rights.c \
	       task.c services_calls.c services_node.c services_proc.c services_queue.c services_current.c services_pa.c stops.c calls.c pa.c pa_gain.c pa_note.c \
	       probe.c events.c services_events.c csr_events.c csr_events_site.c csr_types.c csr_keep.c keeprows.c current.c csr.c csr_parse.c csr_rank.c csr_probe.c csr_ring.c csr_fire.c csr_hold.c directory.c intake.c intake_socket.c chosen.c \
	       host_linux_thread.c services_control.c settle.c stand.c stopnews.c csr_stops.c \
	       join.c inbox.c lm.c lm_services.c lm_end.c lm_audit.c lm_status.c lm_daemon.c
lm.src      += trace.c companion.c closer.c services_trace.c services_create.c services_tracebuf.c tracebuf.c perf.c csr_source.c csr_perf.c
lm.src      += csr_losses.c csr_unwatched.c
lm.programs := lm lm-guard lm-look
lm.main.lm-look := lm_look_main.c
lm.main.lm-guard := lm_guard_main.c
lm.uses     := common/base common/ring common/omis common/loop common/tracer proto common/net common/flow common/route common/daemon eventlog eventlog/spool eventlog/keep pmsl
# Set by the parser of options.
lm.statics  := lm_daemon.c:ignored_daemon lm_daemon.c:listen_fd lm_daemon.c:successor
lm.src      += host_linux_memory.c host_linux_modules.c host_linux_file.c filelist.c services_memory.c services_file.c

lm.src      += journal.c guard.c look.c look_do.c ops.c
lm.src      += readings.c readings_load.c readings_read.c readings_probe.c input.c input_cells.c input_region.c input_figure.c sampler.c bases.c
