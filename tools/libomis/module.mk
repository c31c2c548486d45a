# SPDX-License-Identifier: Apache-2.0
# tools/libomis: the client library. omis.h is all that anyone outside sees.
MODULES                   += tools/libomis
tools/libomis.src         := answer.c api.c ask.c calls.c client.c known.c lists.c \
		measure.c names.c params.c values.c words.c
tools/libomis.uses        := common/base common/container common/omis/text \
		common/omis/services common/omis/reply common/omis common/loop proto \
		common/net common/link common/member common/daemon tree
tools/libomis.shared      := libomis
tools/libomis.typed         := libomis
tools/libomis.headers     := omis.h
tools/libomis.pc          := omis.pc.in
tools/libomis.man         := libomis.3.scd
# The one connection of a process.
tools/libomis.statics     := api.c:the words.c:last
# Turns the catalogue into documents while building.
tools/libomis.programs      := omis-doc
tools/libomis.not_installed := omis-doc
# The client for Python finds the library beside itself.
tools/libomis.found          = \
		$(libdir)/$(tools/libomis.soname.libomis):$(datadir)/omig/python/libomis.so.0
tools/libomis.install        = $(foreach f,$(notdir $(wildcard tools/python/omig/*.py)) py.typed,\
		tools/python/omig/$f:$(datadir)/omig/python/omig/$f)
