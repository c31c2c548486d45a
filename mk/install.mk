# SPDX-License-Identifier: Apache-2.0
# Installing never builds (it may run as root): `make` comes first.
-include packaging/module.mk

PREFIX     ?= /usr/local
prefix      = $(PREFIX)
exec_prefix = $(prefix)
bindir      = $(exec_prefix)/bin
libdir      = $(exec_prefix)/lib
libexecdir  = $(exec_prefix)/libexec
includedir  = $(prefix)/include
datadir     = $(prefix)/share
mandir      = $(datadir)/man
pkgdir      = $(libdir)/pkgconfig
zshdir      = $(datadir)/zsh/site-functions

# Programs of these names are links in bin/ to libexec/omig/; packages have none, because another
# package has a program called sm. `omig sm` works everywhere.
BIN_LINKS   ?= mainsm sm lm

# FROM:TO pairs. A library is called libX.so.0.1.0; libX.so.0, its soname, and libX.so, which
# compilers look for, are relative links beside it.
section  = $(subst .,,$(suffix $(1)))
real_so  = $($(1).soname.$(2)).$(or $($(1).revision.$(2)),1.0)
pairs    = $(foreach m,$(MODULES),\
	$(foreach p,$(filter-out $($m.not_installed) $($m.inner),$($m.programs)),\
		$(B)/bin/$p:$(bindir)/$p:755) \
	$(foreach p,$($m.inner),$(B)/bin/$p:$(libexecdir)/omig/$p:755) \
	$(foreach p,$($m.libexec),$(B)/libexec/omig/$p:$(libexecdir)/omig/$p:755) \
	$(foreach s,$($m.shared),$(B)/lib/$s.so:$(libdir)/$(call real_so,$m,$s):755 \
		$(B)/lib/$s.a:$(libdir)/$s.a:644) \
	$(foreach h,$($m.headers),$m/$h:$(includedir)/omig/$(notdir $h):644) \
	$(foreach n,$(notdir $($m.man:.scd=)),$(B)/man/$n:$(mandir)/man$(call section,$n)/$n:644) \
	$(foreach f,$($m.install),$f:644)) $(packaging.files)
# `make` builds all files of an installation, and tests install them.
ifeq ($(M),)
all $(B)/check/system.tap: $(filter $(B)/%,$(foreach p,$(pairs),$(firstword $(subst :, ,$p))))
endif
sonames  = $(foreach m,$(MODULES),$(foreach s,$($m.shared),\
	$(call real_so,$m,$s):$(libdir)/$($m.soname.$s) $($m.soname.$s):$(libdir)/$s.so))
# Programs look for these beside themselves, wherever they were installed: TO:LINK, as relative
# links.
beside   = $(patsubst %/,%,$(dir $(bindir)))/libexec/omig
inside   = $(sort $(libexecdir)/omig $(beside))
found    = $(foreach m,$(MODULES),$(foreach l,$($m.found),$l)\
	$(foreach p,$(filter $(BIN_LINKS),$($m.inner)), $(libexecdir)/omig/$p:$(bindir)/$p)\
	$(if $(filter-out $(beside),$(libexecdir)/omig),\
	$(foreach p,$($m.libexec) $($m.inner), $(libexecdir)/omig/$p:$(beside)/$p)))
# Templates, whose paths are those of this installation.
pcs      = $(foreach m,$(MODULES),\
	$(foreach t,$($m.pc),$m/$t:$(pkgdir)/$(notdir $(t:.in=)):644)) $(packaging.templates)
# Programs find a library outside of the loader's path by this flag of their link.
rpath    = $(if $(filter /lib% /usr/lib%,$(libdir)),, -Wl$(comma)-rpath$(comma)$${libdir})
filled   = prefix datadir bindir libexecdir libdir mandir includedir rpath
fill     = sed $(foreach v,$(filled),-e 's|@$v@|$($v)|g') -e 's|@version@|$(VERSION)|g' \
	   -e '/^@sandbox@$$/{r packaging/systemd/sandbox' -e 'd;}'
split    = from=$${i%%:*}; to=$${i\#*:}; mode=$${to\#\#*:}; to='$(DESTDIR)'$${to%%:*}

# Running programs keep their file. A program that starts meanwhile finds a whole one, old or new.
put      = || { rm -f "$$to.new"; exit 1; }; mv -f "$$to.new" "$$to"

install:
	@for i in $(pairs); do $(split); test -e "$$from" || { \
		echo "$$from is not built: run make first" >&2; exit 1; }; done
	@set -e; for i in $(pairs); do $(split); install -d "$${to%/*}"; \
		install -m "$$mode" "$$from" "$$to.new" $(put); done
	@set -e; for i in $(sonames); do $(split); ln -sf "$$from" "$$to.new"; \
		mv -f "$$to.new" "$$to"; done
	@set -e; for i in $(found); do to='$(DESTDIR)'$${i#*:}; install -d "$${to%/*}"; \
		ln -srf '$(DESTDIR)'"$${i%%:*}" "$$to.new"; mv -f "$$to.new" "$$to"; done
	@set -e; for i in $(pcs); do $(split); install -d "$${to%/*}"; \
		{ $(fill) "$$from" >"$$to.new" && chmod "$$mode" "$$to.new"; } $(put); done
	@test -n '$(DESTDIR)' || { echo 'installed below $(prefix)'; \
		case ":$$PATH:" in *:'$(bindir)':*) ;; \
			*) echo 'next: export PATH="$(bindir):$$PATH"' ;; esac; \
		echo 'then: omig doctor'; }

# Removes our own folders when they are empty: foreign files in them stay.
uninstall:
	@for i in $(pairs) $(sonames) $(pcs) $(found); do $(split); rm -f "$$to"; \
		own=$${to#'$(DESTDIR)'}; own=$${own%/*}; \
		while case "$$own" in */omig|*/omig/*) rmdir '$(DESTDIR)'"$$own" 2>/dev/null;; \
			*) false;; esac; do own=$${own%/*}; done; \
	done

# In a build of its own, so that no older page gets in. The same commit gives the same bytes.
dist:
	rm -rf $(B)/dist
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} && \
		export SOURCE_DATE_EPOCH && $(MAKE) BUILD=$(B)/dist all && \
		mk/dist $(VERSION) $(B)/dist/plain $(B)/release
sbom: all
	@packaging/sbom $(VERSION) $(B) >$(B)/omig-$(VERSION).spdx.json && \
		echo $(B)/omig-$(VERSION).spdx.json
distcheck: dist
	@mk/distcheck $(B)/release/omig-$(VERSION).tar.gz $(B)/dist
# What is published: tested, and still the same bytes.
release: distcheck
	@cd $(B)/release && sha256sum --check SHA256SUMS && echo "release: $$PWD"
# The packages of Debian of a release, and their tests: lintian, a bare system.
deb: dist
	@mk/deb $(VERSION) $(B)/release/omig-$(VERSION).tar.gz $(B)/deb
rpm: dist
	@mk/rpm $(VERSION) $(B)/release/omig-$(VERSION).tar.gz $(B)/rpm
deb-check: deb
	@tests/packages/deb.sh $(B)/deb
.PHONY: install uninstall dist sbom distcheck release deb rpm deb-check
