# SPDX-License-Identifier: Apache-2.0
# tools: the omig command. It reaches the monitor by libomis alone.
MODULES         += tools
tools.uses      := common/base common/cli neko/cmd tools/cmd tools/cmd/alert tools/cmd/attach \
		tools/cmd/interaction tools/cmd/metrics tools/cmd/plugin tools/cmd/profile \
		tools/cmd/stacks tools/cmd/summary tools/cmd/waits tools/cmd/why \
		tools/launch tools/model
tools.programs  := omig
tools.main.omig := omig_main.c
tools.libs      := -lm
# What algorithms of others (omig neko, "application = ./mine.so") find in it.
$(B)/bin/omig: BASE_LDFLAGS += -Wl,--export-dynamic-symbol='neko_*' \
	-Wl,--export-dynamic-symbol='quantity_*'

# Manual pages: what programs can say themselves is filled in by asking them.
# Each command has a page, made of its section in omig.1.scd.
tools.commands   := $(shell sed -n 's/^\t{ "\([a-z]*\)", cmd_.*/\1/p' tools/omig_main.c)
tools.split      := omig.1 $(tools.commands:%=omig-%.1)
tools.man        := $(tools.split:%=%.scd) omig.conf.5.scd omis.7.scd lm.8.scd sm.8.scd mainsm.8.scd
tools.pages      := $(filter-out $(tools.split:%=$(B)/man/%),$(tools.man:%.scd=$(B)/man/%))
# Each page and script is made again when a program that it asks changes. Those of omig are many:
# they are made again when its words change. `omig.words` is only written then.
tools.daemons    := $(foreach d,lm sm mainsm,$(if $(filter $d,$($d.programs)),$d))
tools.sim        := $(if $(filter sim,$(MODULES)),$(B)/libexec/omig/omig-sim)
$(tools.pages): $(B)/man/%: docs/man/%.scd tools/man-fill
	$(call say,SCDOC)mkdir -p $(@D) && tools/man-fill $(B)/bin <$< >$@.scd && \
		$(call generate,SCDOC,$@.scd,<$@.scd >$@,$@)
$(tools.daemons:%=$(B)/man/%.8): $(B)/man/%.8: $(B)/bin/%
$(B)/man/omig.conf.5: $(tools.daemons:%=$(B)/bin/%)
$(B)/man/omis.7: $(B)/bin/omis-doc
tools.words      := $(B)/man/omig.words
$(tools.words).now: docs/man/omig.1.scd tools/man-words $(B)/bin/omig $(B)/bin/omis-doc \
		$(tools.sim)
	$(call say,GEN)mkdir -p $(@D) && tools/man-words $(B)/bin <$< >$@ && \
		{ cmp -s $@ $(tools.words) || cp $@ $(tools.words); }
$(tools.words): $(tools.words).now
	@test -e $@ || cp $< $@
$(tools.split:%=$(B)/man/%): docs/man/omig.1.scd tools/man-page tools/man-fill $(tools.words)
	$(call say,SCDOC)mkdir -p $(@D) && tools/man-page $(B)/bin \
		$(patsubst omig-%.1,%,$(filter omig-%,$(@F))) <$< | \
		tools/man-fill $(B)/bin >$@.scd && \
		$(call generate,SCDOC,$@.scd,<$@.scd >$@,$@)
tools.completions := $(B)/share/omig.bash $(B)/share/omig.zsh $(B)/share/omig.fish
$(tools.completions): $(B)/share/omig.%: tools/make-completion $(tools.words) \
		$(tools.daemons:%=$(B)/bin/%)
	$(call say,GEN)mkdir -p $(@D) && tools/make-completion $* $(B)/bin >$@.new && mv $@.new $@
tools.install     = $(B)/share/omig.bash:$(datadir)/bash-completion/completions/omig \
	$(B)/share/omig.zsh:$(zshdir)/_omig \
	$(B)/share/omig.fish:$(datadir)/fish/vendor_completions.d/omig.fish
