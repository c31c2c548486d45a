# SPDX-License-Identifier: Apache-2.0
# packaging: what a site's admin installs beside the programs. Here are no
# sources; mk/install.mk fills the paths of the installation into templates.
#   packaging.files      FROM:TO:MODE, as they are
#   packaging.templates  FROM:TO:MODE, with @bindir@ and the like
unitdir     = $(prefix)/lib/systemd/system
# Read by a user's manager below /usr, /usr/local and ~/.local alike.
userunitdir = $(datadir)/systemd/user
sysusersdir = $(prefix)/lib/sysusers.d
tmpfilesdir = $(prefix)/lib/tmpfiles.d
moduledir   = $(datadir)/modulefiles
slurmdir    = $(datadir)/omig/slurm
docdir      = $(datadir)/doc/omig
exampledir  = $(docdir)/examples
# Below docdir as in the tree, so that documents lead to each other and to the examples.
DOCUMENTS  := $(filter-out %.so,$(wildcard README.md CHANGELOG.md CONTRIBUTING.md \
	      LICENSE SECURITY.md docs/*.md docs/*.svg \
	      docs/measured/* docs/states/* examples/*.c examples/*.probes examples/metrics/*.pmsl \
	      examples/neko/*.conf examples/neko/bus/* examples/neko/figure11/* \
	      examples/neko/ring/* examples/plugins/*.c examples/prometheus/* \
	      examples/interactions/*.json examples/model/* examples/python/*.py))

packaging.templates = \
	packaging/systemd/omig-sm@.service.in:$(unitdir)/omig-sm@.service:644 \
	packaging/systemd/omig-mainsm.service.in:$(userunitdir)/omig-mainsm.service:644 \
	packaging/systemd/omig-lm.service.in:$(userunitdir)/omig-lm.service:644 \
	packaging/modulefile.in:$(moduledir)/omig/$(VERSION):644 \
	packaging/slurm/task-prolog.sh.in:$(slurmdir)/task-prolog.sh:755 \
	packaging/slurm/epilog.sh.in:$(slurmdir)/epilog.sh:755
packaging.files = \
	packaging/sysusers.conf:$(sysusersdir)/omig.conf:644 \
	packaging/tmpfiles.conf:$(tmpfilesdir)/omig.conf:644 \
	packaging/logrotate.conf:$(exampledir)/logrotate.conf:644 \
	$(foreach d,$(DOCUMENTS),$d:$(docdir)/$d:644) \
	$(foreach d,$(EXAMPLE_CONF),$d:$(exampledir)/$(notdir $d):644)

# The daemons themselves say what can be configured.
EXAMPLE_CONF := $(foreach d,mainsm sm lm,$(if $(filter $d,$($d.programs)),$(B)/share/$d.conf))
$(EXAMPLE_CONF): $(B)/share/%.conf: $(B)/bin/%
	$(call say,GEN)mkdir -p $(@D) && env -i $< --example-config >$@
