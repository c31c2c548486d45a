# SPDX-License-Identifier: Apache-2.0
# tools/probes: sources of the functions that mark regions of a program.
MODULES           += tools/probes
tools/probes.src  := probe_decl.c probe_write.c
tools/probes.uses := common/base common/cli common/ring pmsl/text pmsl
# What libomig and a program with probes know of each other goes into each such program.
tools/probes.gen  := $(B)/gen/tools/probes/probe_abi_text.c
$(B)/gen/tools/probes/probe_abi_text.c: libapp/setup/probe_abi.h
	$(call say,GEN)mkdir -p $(@D) && { \
		echo 'extern const char probe_abi_text[];'; echo 'const char probe_abi_text[] ='; \
		sed -e '/SPDX/d; s/\\/\\\\/g; s/"/\\"/g; s/^/\t"/; s/$$/\\n"/' $<; echo ';'; } >$@
