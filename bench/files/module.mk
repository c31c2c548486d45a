# SPDX-License-Identifier: Apache-2.0
# bench/files: the wrappers of libomig-io beside the calls that they wrap
MODULES               += bench/files
bench/files.uses      := common/base common/json common/ring bench
bench/files.not_built := files_main.c
bench.needs           += $(B)/bin/bench-files
bench.run             += bench-files

$(B)/bin/bench-files: bench/files/files_main.c $(B)/lib/libomig-io.so $(B)/bench/bench.o \
		$(patsubst %,$(B)/common/%.a,json base)
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(OUR_CFLAGS) $(BASE_LDFLAGS) -pie -o $@ $< \
		-rdynamic -L$(B)/lib -Wl,--no-as-needed -lomig-io -Wl,--as-needed \
		$(filter %.o %.a,$^) -ldl -Wl,-rpath,'$$ORIGIN/../lib'
