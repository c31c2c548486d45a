# SPDX-License-Identifier: Apache-2.0
# tools: the omig command. It reaches the monitor by libomis alone; texts of metrics and connection strings it reads itself.
MODULES          += tools
tools.src        := say.c columns.c following.c health.c launch.c launch_lm.c launch_look.c launch_mainsm.c launch_program.c launch_token.c outfile.c \
		    session.c show.c table.c term.c wholefile.c \
		    cmd_admin.c cmd_audit.c cmd_cert.c cmd_doctor.c cmd_request.c cmd_run.c \
		    cmd_services.c cmd_site.c cmd_status.c doctor.c site.c \
		    cmd_export.c cmd_top.c cmd_tree.c export_keep.c export_sample.c \
		    export_write.c top_sample.c top_show.c top_waits.c tree.c tree_order.c \
		    cmd_check.c cmd_dot.c cmd_explain.c cmd_measure.c cmd_metrics.c cmd_probes.c \
		    graphviz.c measuring.c measuring_names.c measuring_regions.c measuring_show.c measuring_ended.c measuring_until.c \
		    metrics.c pmsl_text.c probe_decl.c probe_write.c \
		    cmd_events.c keeping.c kept.c cmd_lifelines.c cmd_log.c logarchive.c logcompare.c logquery.c \
		    logread.c logwrite.c \
		    cmd_neko.c cmd_sim.c cmd_stats.c neko_compare.c neko_delays.c neko_hosts.c neko_plot.c neko_plot_space.c neko_show.c neko_trace.c
tools.uses       := common/base common/ring common/omis common/net eventlog eventlog/text eventlog/archive eventlog/lifeline stats pmsl neko neko/hosts common/daemon tools/libomis tools/web
# What libomig and a program with probes know of each other goes into each such program.
tools.gen        := $(B)/gen/tools/probe_abi_text.c
$(B)/gen/tools/probe_abi_text.c: libapp/probe_abi.h
	$(call say,GEN)mkdir -p $(@D) && { echo 'extern const char probe_abi_text[];'; echo 'const char probe_abi_text[] ='; \
		sed -e '/SPDX/d; s/\\/\\\\/g; s/"/\\"/g; s/^/\t"/; s/$$/\\n"/' $<; echo ';'; } >$@
tools.programs   := omig
tools.main.omig  := omig_main.c
tools.libs       := -lm
# What algorithms of others (omig neko, "application = ./mine.so") find in it.
$(B)/bin/omig: BASE_LDFLAGS += -Wl,--export-dynamic-symbol='neko_*'
# The terminal's former state, and what a signal handler may touch.
tools.statics    := term.c:saved term.c:is_changed cmd_top.c:got_signal cmd_top.c:got_resize \
		    cmd_request.c:is_interrupted cmd_export.c:is_told_to_end cmd_selftest.c:got_signal \
		    cmd_measure.c:got_signal cmd_measure.c:got_resize cmd_events.c:got_signal \
		    cmd_events.c:nsignal cmd_neko.c:got_signal session.c:the_link say.c:hush

# The process that omig selftest does things to: a rank that has what an MPI would have in itself.
tools.src        += cmd_selftest.c selftest_bed.c selftest_keeper.c selftest_lacks.c selftest_rows.c selftest_run.c \
		    selftest_words.c
tools.not_built  := scratch_main.c
tools.statics    += scratch_main.c:steps scratch_main.c:wish_to_end scratch_main.c:more scratch_main.c:child \
		    scratch_main.c:child_in
tools.libexec    := omig-scratch
$(B)/gen/tools/scratch_probes.c: tools/scratch.probes $(B)/bin/omig
	$(call say,PROBES)mkdir -p $(@D) && $(B)/bin/omig probes -o $@ -H $(@:.c=.h) $<
$(B)/gen/tools/scratch_probes.o: OUR_CFLAGS += -w
$(B)/tools/scratch_main.o: | $(B)/gen/tools/scratch_probes.c
$(B)/libexec/omig/omig-scratch: $(B)/tools/scratch_main.o $(B)/gen/tools/scratch_probes.o $(B)/common/base.a
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(BASE_LDFLAGS) -pie -rdynamic -o $@ $^ -ldl

# Manual pages: what programs can say themselves is filled in by asking them.
tools.man        := omig.1.scd omig.conf.5.scd omis.7.scd lm.8.scd sm.8.scd mainsm.8.scd
tools.pages      := $(tools.man:%.scd=$(B)/man/%)
tools.speakers   := $(B)/bin/omig $(B)/bin/omis-doc $(if $(filter sim,$(MODULES)),$(B)/libexec/omig/omig-sim) $(foreach d,lm sm mainsm,$(if $(filter $d,$($d.programs)),$(B)/bin/$d))
$(tools.pages): $(B)/man/%: docs/man/%.scd tools/man-fill $(tools.speakers)
	$(call say,SCDOC)mkdir -p $(@D) && tools/man-fill $(B)/bin <$< >$@.scd && $(SCDOC) <$@.scd >$@
$(B)/share/omig.bash: tools/make-completion $(tools.speakers)
	$(call say,GEN)mkdir -p $(@D) && tools/make-completion $(B)/bin >$@
tools.install     = $(B)/share/omig.bash:$(datadir)/bash-completion/completions/omig
