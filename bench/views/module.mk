# SPDX-License-Identifier: Apache-2.0
# bench/views: commands that show a large job, and its ranks.
MODULES             += bench/views
bench/views.uses    := common/base common/omis/text bench tools/libomis
bench/views.statics := views_main.c:omig
bench/views.programs := bench_views
bench/views.not_installed := $(bench/views.programs)
bench/views.main.bench_views := views_main.c
bench/views.not_built := crowd_main.c
bench.needs         += $(B)/bin/bench_views $(B)/bin/bench-crowd
bench.run           += bench_views

$(B)/bin/bench-crowd: $(B)/bench/views/crowd_main.o $(B)/bench/libstub_mpi.so $(bench.watched)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(BASE_LDFLAGS) -pie -o $@ $< -L$(B)/lib \
		-Wl,--no-as-needed -lomig -L$(B)/bench -lstub_mpi \
		-Wl,--as-needed $(filter-out $<,$(filter %.o %.a,$^)) \
		-Wl,-rpath,'$$ORIGIN/../lib:$$ORIGIN/../bench'
