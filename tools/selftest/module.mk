# SPDX-License-Identifier: Apache-2.0
# tools/selftest: each service, tried on a scratch process.
MODULES             += tools/selftest
tools/selftest.src  := selftest_bed.c selftest_keeper.c selftest_missing.c selftest_rows.c \
		  selftest_run.c selftest_words.c
tools/selftest.uses := common/base tools/term tools/session tools/launch
# The process that omig selftest does things to: a rank that has what an MPI would have in itself.
tools/selftest.not_built := scratch_main.c
tools/selftest.statics   := scratch_main.c:steps scratch_main.c:wish_to_end scratch_main.c:more \
			    scratch_main.c:child scratch_main.c:child_in
tools/selftest.libexec   := omig-scratch
scratch.dir              := $(B)/gen/tools/selftest
scratch.probes           := $(scratch.dir)/scratch_probes
$(scratch.dir)/now/scratch_probes.c: tools/selftest/scratch.probes $(B)/bin/omig
	$(call say,PROBES)mkdir -p $(@D) && $(B)/bin/omig probes -o $@ -H $(@:.c=.h) $<
$(scratch.probes).c: $(scratch.dir)/now/scratch_probes.c
	$(call refresh,$(@D),scratch_probes.c scratch_probes.h)
$(scratch.probes).o: OUR_CFLAGS += -w
$(B)/tools/selftest/scratch_main.o: | $(scratch.probes).c
$(B)/libexec/omig/omig-scratch: $(B)/tools/selftest/scratch_main.o \
		$(scratch.probes).o $(B)/common/base.a
	$(call say,LINK)mkdir -p $(@D) && $(CC) $(BASE_LDFLAGS) -pie -rdynamic -o $@ $^ -ldl
