# SPDX-License-Identifier: Apache-2.0
# bench: benchmarks, one program for each topic; they print values and never judge.
MODULES        += bench
bench.src      := bench.c floor_tree.c treebed.c self.c pace.c
bench.uses     := common/base common/json common/ring common/omis/text common/omis \
		common/flow/engine tracer/function \
		eventlog eventlog/spool eventlog/text eventlog/app \
		eventlog/archive pmsl neko/real neko/run tools/libomis
bench.statics  := bench.c:printed bench.c:nprinted treebed.c:path flow_main.c:results \
		  loop_main.c:pace event_main.c:series event_main.c:log_path \
		  event_main.c:trigger_path event_main.c:my_event archive_main.c:series \
		  archive_main.c:log_path archive_main.c:db_path keep_main.c:got start_main.c:here \
		  summary_main.c:here
bench.programs := bench_tree bench_growth bench_start bench_tools bench_flow bench_traffic \
		bench_pmsl bench_event bench_spool bench_keep bench_archive bench_neko \
		bench_summary
bench.not_installed := $(bench.programs)
bench.main.bench_tree   := bench_tree_main.c
bench.main.bench_growth := growth_main.c
bench.main.bench_flow   := flow_main.c
bench.main.bench_start  := start_main.c
bench.main.bench_summary := summary_main.c
bench.main.bench_tools  := tools_main.c
bench.main.bench_traffic := traffic_main.c
bench.main.bench_pmsl   := pmsl_main.c
bench.main.bench_event  := event_main.c
bench.main.bench_spool  := spool_main.c
bench.main.bench_keep   := keep_main.c
bench.main.bench_archive := archive_main.c
bench.main.bench_neko   := neko_main.c
bench.needs    := $(B)/bin/mainsm $(B)/bin/sm $(B)/bin/lm $(B)/tests/system/alone \
		$(B)/tests/system/alone-probe

# Programs that are watched themselves: linked with libomig, and with an MPI
# that does nothing (bench-hook) or with each that is here (bench-mpi).
bench.not_built := hook_main.c rank_main.c loop_main.c mpi_main.c stub_mpi.c beside_main.c
bench.mpi       := $(foreach f,openmpi mpich,$(if $(shell command -v mpicc.$f),$f))
bench.needs     += $(patsubst %,$(B)/tests/system/steady.%,$(filter openmpi,$(bench.mpi)))
bench.needs     += $(B)/bin/bench-archive $(B)/bin/bench-hook $(B)/bin/bench-loop \
		$(B)/bin/bench-mpi $(foreach f,$(bench.mpi),$(B)/bin/bench-mpi-$f)
bench.needs     += $(foreach f,$(bench.mpi),$(B)/bin/bench-recorded-$f)
bench.run       := $(if $(filter openmpi,$(bench.mpi)),bench_summary) \
		bench_tree bench_start bench_flow bench_traffic bench_pmsl bench_event \
		bench_spool bench_keep bench-beside bench-archive bench_neko bench-sim bench-hook \
		bench-mpi bench-fileserver bench-across
bench.watched   := $(B)/lib/libomig.so $(B)/bench/self.o $(B)/bench/bench.o \
		$(patsubst %,$(B)/common/%.a,ring json time container base)

$(B)/bench/libstub_mpi.so: bench/stub_mpi.c $(B)/bench/.flags
	$(call say,SHARED)mkdir -p $(@D) && $(CC) $(OUR_CFLAGS) $(BASE_LDFLAGS) -shared -o $@ $< \
		-Wl,-soname,libstub_mpi.so
$(B)/gen/bench/bench_probes.c: bench/bench.probes $(B)/bin/omig
	$(call say,PROBES)mkdir -p $(@D) && $(B)/bin/omig probes -o $@ -H $(@:.c=.h) $<
$(B)/gen/bench/bench_probes.o: OUR_CFLAGS += -w
$(B)/bench/hook_main.o $(B)/bench/loop_main.o: | $(B)/gen/bench/bench_probes.c
$(B)/bin/bench-hook $(B)/bin/bench-loop: $(B)/gen/bench/bench_probes.o
$(B)/bin/bench-hook: $(B)/tracer/function.a
$(B)/bin/bench-hook: bench.function := $(B)/tracer/function.a
$(B)/bin/bench-hook: bench.libs := $(tracer/function.libs)
$(B)/bin/bench-hook $(B)/bin/bench-rank $(B)/bin/bench-loop: $(B)/bin/bench-%: $(B)/bench/%_main.o \
		$(B)/bench/libstub_mpi.so $(bench.watched)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(BASE_LDFLAGS) -pie -o $@ $< -L$(B)/lib \
		-Wl,--no-as-needed -lomig -L$(B)/bench -lstub_mpi \
		-Wl,--as-needed $(bench.function) $(filter-out $<,$(filter %.o %.a,$^)) \
		$(bench.libs) -Wl,-rpath,'$$ORIGIN/../lib:$$ORIGIN/../bench'
bench.needs     += $(B)/bin/bench-tick
$(B)/bin/bench-tick: bench/loop_main.c $(B)/bench/libstub_mpi.so $(B)/lib/libomig-event.so \
		$(bench.watched) | $(B)/examples/include/omig/event.h
	$(call say,LINK)mkdir -p $(@D) && $(CC) -DBENCH_TICK $(OUR_CFLAGS) -I$(B)/examples/include \
		$(BASE_LDFLAGS) -pie -o $@ $< -L$(B)/lib \
		-Wl,--no-as-needed -lomig -L$(B)/bench -lstub_mpi -lomig-event -Wl,--as-needed \
		$(filter %.o %.a,$^) \
		-Wl,-rpath,'$$ORIGIN/../lib:$$ORIGIN/../bench'
$(B)/bin/bench-archive: bench/archive.sh $(B)/bin/bench_archive
	$(call say,COPY)install -m 755 $< $@
bench.needs     += $(B)/bin/bench-fileserver $(B)/examples/fileserver $(B)/examples/fileserver-bare
$(B)/bin/bench-fileserver: bench/fileserver.sh
	$(call say,COPY)mkdir -p $(@D) && install -m 755 $< $@
bench.needs     += $(B)/bin/bench-across
$(B)/bin/bench-across: bench/across.sh
	$(call say,COPY)mkdir -p $(@D) && install -m 755 $< $@
bench.needs     += $(B)/bin/bench-sim
$(B)/bin/bench-sim: bench/sim.sh $(B)/libexec/omig/omig-sim
	$(call say,COPY)mkdir -p $(@D) && install -m 755 $< $@
bench.has_lttng := $(shell $(PKG_CONFIG) --modversion lttng-ust 2>/dev/null)
bench.lttng     := $(if $(bench.has_lttng),$(B)/bin/bench-beside-lttng)
bench.needs     += $(B)/bin/bench-beside $(B)/bin/bench-beside-plain $(bench.lttng)
bench.beside    = $(CC) -std=gnu17 $(CFLAGS) -I. -I$(B)/examples/include -o $@ $< -L$(B)/lib \
		-lomig-event -Wl,-rpath,'$$ORIGIN/../lib'
$(B)/bin/bench-beside: bench/beside.sh
	$(call say,COPY)mkdir -p $(@D) && install -m 755 $< $@
$(B)/bin/bench-beside-plain: bench/beside_main.c $(B)/lib/libomig-event.so | \
		$(B)/examples/include/omig/event.h
	$(call say,CC)mkdir -p $(@D) && $(bench.beside)
$(B)/bin/bench-beside-lttng: bench/beside_main.c bench/lttng_events.h $(B)/lib/libomig-event.so | \
		$(B)/examples/include/omig/event.h
	$(call say,CC)mkdir -p $(@D) && $(bench.beside) -w -DBENCH_LTTNG -llttng-ust -ldl
$(B)/bin/bench-mpi: bench/mpi.sh
	$(call say,COPY)mkdir -p $(@D) && install -m 755 $< $@
define bench_mpi
$(B)/bin/bench-mpi-$(1): bench/mpi_main.c $(bench.watched)
$(B)/bin/bench-recorded-$(1): bench/interaction/recorded_main.c $(bench.watched)
$(B)/bin/bench-mpi-$(1) $(B)/bin/bench-recorded-$(1):
	$$(call say,MPICC)mkdir -p $$(@D) && mpicc.$(1) $$(OUR_CFLAGS) -w \
		-DOMIG_BENCH_FLAVOUR='"$(1)"' -o $$@ $$< \
		-L$(B)/lib -lomig $$(filter %.o %.a,$$^) -Wl,-rpath,'$$$$ORIGIN/../lib' -pthread
endef
$(foreach f,$(bench.mpi),$(eval $(call bench_mpi,$f)))

growth.panels   := One value of each host: µs (by hosts)|fanout.p50 fanout.p99 floor;$\
		Messages that reach the top, per request|top.frames;$\
		Bytes that reach the top, per request|top.bytes;$\
		Processor time per request: µs|mainsm.cpu sm.cpu
# Minutes, a thousand processes and more: apart from the others. HOSTS=n ends earlier.
bench-growth: $(B)/bin/bench_growth $(bench.needs)
	B="$(FULL_B)" $(B)/bin/bench_growth $(HOSTS) >$(B)/growth.json
	awk -v title=Growth -v from='make bench-growth' -f mk/bench-report.awk $(B)/growth.json \
		>docs/measured/growth.md
	awk -v only=growth -v by=floor -v panels='$(growth.panels)' -f mk/growth-plot.awk \
		$(B)/growth.json >docs/measured/growth.svg
	printf '\n![Hosts on the x axis](growth.svg)\n' >>docs/measured/growth.md
	printf '\nMore hosts than that, and more levels of sms: [on paper](growth-paper.md).\n' \
		>>docs/measured/growth.md

# Real daemons in virtual time, which need a stated time for each message. paper.hosts=N,N...
# 100,000 of them take some minutes of a core and 9 GiB for each number of levels.
paper.hosts     := 100,1000,10000,100000
paper.levels    = $1.1_level $1.2_levels $1.3_levels
paper.panels    = A request to all hosts: ms (by hosts)|$(call paper.levels,request);$\
		A read of a measurement over all hosts: ms|$(call paper.levels,read);$\
		Idle: frames/s at mainsm|$(call paper.levels,idle_frames);$\
		Measured each second: bytes/s at mainsm|$(call paper.levels,measured_bytes);$\
		Memory of mainsm: MiB|$(call paper.levels,mainsm);$\
		Memory of the largest sm: MiB|$(call paper.levels,sm)
front.both      = $1.at_the_top $1.where_it_is_born
front.panels    = Bytes/s at mainsm (by events/s of each of 400 \
		processes)|$(call front.both,1_level.bytes);$\
		The same with three levels|$(call front.both,3_levels.bytes);$\
		Of mainsm’s time: %|$(call front.both,1_level.busy);$\
		The same with three levels|$(call front.both,3_levels.busy)
growth-paper: $(B)/libexec/omig/omig-sim
	$< growth --hosts $(paper.hosts) --output $(B)/paper.json >$(B)/paper.md
	awk -v only=paper -v by=request.1_level -v panels='$(paper.panels)' -f mk/growth-plot.awk \
		$(B)/paper.json >docs/measured/growth-paper.svg
	awk -v only=front -v by=1_level.bytes.at_the_top -v panels='$(front.panels)' -f \
		mk/growth-plot.awk \
		$(B)/paper.json >docs/measured/growth-front.svg
	cat bench/growth-paper.txt $(B)/paper.md >docs/measured/growth-paper.md

# 64 tools at once, a million triggers, 80 seconds: TRIGGERS=n ends earlier, RATE=n sets the events
# a second.
bench-tools: $(B)/bin/bench_tools $(B)/bin/bench-rank $(bench.needs)
	B="$(FULL_B)" $(B)/bin/bench_tools $(TRIGGERS) $(RATE) >$(B)/tools.json
	awk -v title=Tools -v from='make bench-tools' -f mk/bench-report.awk $(B)/tools.json \
		>docs/measured/tools.md

# Traffic against rates of events, processes, hosts and sites, evaluated where the data is born, and
# not: some minutes.
bench-traffic: $(B)/bin/bench_traffic $(bench.needs)
	B="$(FULL_B)" $(B)/bin/bench_traffic all >$(B)/traffic.json
	awk -v title=Traffic -v from='make bench-traffic' -f mk/bench-report.awk $(B)/traffic.json \
		>docs/measured/traffic.md
	cat bench/traffic.txt >>docs/measured/traffic.md
	awk -f mk/traffic-plot.awk $(B)/traffic.json >docs/measured/traffic.svg
.PHONY: bench-growth growth-paper bench-tools bench-traffic
