# SPDX-License-Identifier: Apache-2.0
# What a room's module.mk may say (X = the room, e.g. common/net):
#   MODULES += X
#   X.src        sources, listed by hand, relative to the room
#   X.uses       the rooms whose headers it includes
#   X.cflags     flags for this room only
#   X.pkgs       pkg-config packages: flags for this room, link for all above
#   X.libs       link flags (-lm), inherited like the packages' ones
#   X.proto      *.proto, compiled by protoc-c into $(B)/gen
#   X.gen        generated .c and .h ($(B)/gen/X/...); the room gives the rule
#   X.programs   NAME... -> $(B)/bin/NAME from X/NAME_main.c or X.main.NAME
#   X.inner      those of X.programs that are installed in libexec/omig; `omig` runs them
#   X.libexec    NAME... programs for programs, $(B)/libexec/omig/NAME by a rule of the room
#   X.shared     S... -> $(B)/lib/S.so of the room's objects, X.src.S (sources
#                of S alone), X.objs.S (objects with a rule of their own) and
#                the rooms below; X.map.S (default X/S.map),
#                X.soname.S (default S.so.0), X.revision.S (default 1.0: what
#                the installed file's name has behind the soname), X.keep.S (patterns of the names
#                that the static twin keeps global; unset = all)
#   X.anywhere   those of X.shared that live in foreign processes: they load wherever such a
#                program starts, also with a C library of 2012 or another one
#   X.typed      those of X.shared whose types are compared with packaging/abi;
#                X.typed_by: headers that describe them, default X.headers
#   X.undefined_ok   non-empty: the shared libraries may leave symbols open
#   X.man        scdoc sources NAME.N.scd -> $(B)/man/NAME.N
#   X.headers    installed headers;  X.pc  NAME.pc.in templates
#   X.install    FILE:DEST... anything else to install
#   X.found      DEST:LINK... relative links to what is installed
#   X.hot X.hot_allow X.abi.S X.statics    see mk/check.mk
#   X.test_uses X.test_libs X.test_pkgs X.test_src X.test_objs X.test_needs
#                for tests, in tests/unit/X/module.mk; test_objs are of another room's tests

reverse  = $(if $(1),$(call reverse,$(wordlist 2,999,$(1))) $(firstword $(1)))
REVERSED := $(call reverse,$(MODULES))

# --- the floors
SEEN :=
define floor
$(foreach u,$($(1).uses),\
$(if $(filter $($(1).never),$u)$(if $($(1).only),$(filter-out $($(1).only),$u)),\
$(error $(1) may not use $u)))
$(foreach u,$(filter-out $(SEEN),$($(1).uses)),$(error $(1) uses $u, which is not below it))
SEEN += $(1)
$(1).closure := $(sort $(1) $(foreach u,$($(1).uses),$($u.closure)))
endef
$(foreach m,$(MODULES),$(eval $(call floor,$m)))

SELECTED := $(if $(M),$(filter $(M),$(MODULES)),$(MODULES))
$(if $(SELECTED)$(filter help clean format,$(MAKECMDGOALS)),,$(error there is no room '$(M)'))

# $(1): rooms. Their closure, highest first: the link order.
below    = $(filter $(sort $(foreach r,$(1),$($r.closure))),$(REVERSED))
archives = $(patsubst %,$(B)/%.a,$(call below,$(1)))

# $(1): daemon. The objects of all its rooms.
daemon_objs = $(foreach r,$(filter $(1) $(1)/%,$(MODULES)),$($r.objs))

# pkg-config is asked once for each question, and only when something needs it.
pkg_ask  = $(if $(filter undefined,$(origin pkg.$(1).$(2))),$(eval pkg.$(1).$(2) := \
$(shell $(PKG_CONFIG) --$(1) $(2)))$(if $(filter-out 0,$(.SHELLSTATUS)),\
$(error '$(2)' is not installed: $(PKG_CONFIG) does not know it)))$(pkg.$(1).$(2))
pkg      = $(foreach p,$(2),$(call pkg_ask,$(1),$p))
links    = $(call pkg,libs,$(sort $(foreach r,$(call below,$(1)),$($r.pkgs)))) \
	   $(sort $(foreach r,$(call below,$(1)),$($r.libs)))

# $(1): one line of flags. Its file is rewritten only when they change; a shell alone compares it.
quoted     = '$(subst ','\'',$(1))'
same_flags = [ -e $@ ] && IFS= read -r old <$@ && [ "$$old" = $(call quoted,$(1)) ] || \
	     { mkdir -p $(@D) && printf '%s\n' $(call quoted,$(1)) >$@; }
room_flags = $(OUR_CFLAGS) $(call pkg,cflags,$($(1).pkgs)) $($(1).cflags)

# $(1): variable of a program, $(2): its input, $(3): its arguments, $(4): the files that it writes.
# A release has copies of them.
generate = mk/generate '$($(1))' $(2) $(B)/saved '$($(1)) $(3)' $(4)

# $(1): folder, $(2): files. Copies each of them from DIR/now when it differs: what depends on the
# output of a program of ours is made again only when that output changes.
refresh = @for f in $(2); do cmp -s $(1)/now/$$f $(1)/$$f || cp $(1)/now/$$f $(1)/$$f; done

define room
$(1).pbc  := $$(patsubst %.proto,$(B)/gen/$(1)/%.pb-c.c,$$($(1).proto))
$(1).made := $$($(1).gen) $$($(1).pbc) $$($(1).pbc:.c=.h)
$(1).gens := $$(foreach r,$$($(1).closure),$$($$r.made))
$(1).objs := $$(patsubst %.c,$(B)/$(1)/%.o,$$($(1).src)) \
	     $$(patsubst %.c,%.o,$$(filter %.c,$$($(1).gen))) \
	     $$($(1).pbc:.c=.o)

$(B)/$(1)/.flags: FORCE
	@$$(call same_flags,$$(CC) $$(room_flags_$(1)))
room_flags_$(1) = $$(call room_flags,$(1))
$(B)/$(1)/%.o: $(1)/%.c $(B)/$(1)/.flags | $$($(1).gens)
	$$(call say,CC)mkdir -p $$(@D) && $$(CC) $$(room_flags_$(1)) -MMD -MP -c -o $$@ $$<
$(B)/gen/$(1)/%.o: $(B)/gen/$(1)/%.c $(B)/$(1)/.flags | $$($(1).gens)
	$$(call say,CC)$$(CC) $$(room_flags_$(1)) -MMD -MP -c -o $$@ $$<
$(B)/gen/$(1)/%.pb-c.o: $(B)/gen/$(1)/%.pb-c.c $(B)/$(1)/.flags
	$$(call say,CC)$$(CC) $$(BASE_CPPFLAGS) $$(BASE_CFLAGS) \
		$$(call pkg,cflags,$$($(1).pkgs)) -w -MMD -MP -c -o $$@ $$<
$(B)/gen/$(1)/%.pb-c.c $(B)/gen/$(1)/%.pb-c.h: $(1)/%.proto
	$$(call say,PROTOC)mkdir -p $$(@D) && \
		$$(call generate,PROTOC_C,$$<,--c_out=$(B)/gen -I. $$<,$$(@:.h=.c) $$(@:.c=.h))
$(B)/$(1).a: $$($(1).objs) $(1)/module.mk
	$$(call say,AR)mkdir -p $$(@D) && rm -f $$@ && $$(AR) rcs $$@ $$(filter %.o,$$^)
$(B)/man/%: $(1)/%.scd
	$$(call say,SCDOC)mkdir -p $$(@D) && $$(call generate,SCDOC,$$<,<$$< >$$@,$$@)
$(foreach p,$($(1).programs),$(eval $(call program,$(1),$p)))
$(foreach s,$($(1).shared),$(eval $(call shared,$(1),$s)))
endef

# $(1): room, $(2): program
define program
$(B)/bin/$(2): $(B)/$(1)/$(patsubst %.c,%.o,$(or $($(1).main.$(2)),$(2)_main.c)) \
		$(call archives,$(1))
	$$(call say,LINK)mkdir -p $$(@D) && \
		$$(CC) $$(BASE_LDFLAGS) -pie -o $$@ $$(filter %.o %.a,$$^) $$(call links,$(1))
endef

# $(1): room, $(2): library. The static twin holds the same objects; where X.keep.S names patterns,
# as one object whose other names are local.
twin_objs  = $(sort $(filter %.o,$^) $(foreach r,$(call below,$($(1).uses)),$($r.objs)))
one_object = $(CC) -r -nostdlib -o $@.o $(call twin_objs,$(1)) && \
	     objcopy -w $(foreach k,$($(1).keep.$(2)),--keep-global-symbol='$k') $@.o && \
	     $(AR) rcs $@ $@.o && rm $@.o
# Libraries for foreign processes are linked from one object whose needs mk/anywhere has lowered. A
# sanitizer needs its own run-time library, and a new C library, in any case.
anywhere   = $(if $(SANITIZE),,$(filter $(2),$($(1).anywhere)))
lowered    = mk/anywhere '$(CC)' $(B)/anywhere/$(2) common/base/anywhere.names \
	     $(filter %.o %.a,$^) &&
so_objects = $(if $(call anywhere,$(1),$(2)),$(B)/anywhere/$(2)/whole.o \
	     $(B)/common/base/anywhere.o -Wl$(comma)--no-as-needed \
	     $$(ls $(B)/anywhere/$(2)/*.so 2>/dev/null) -Wl$(comma)--as-needed,$(filter %.o %.a,$^))
define shared
$(1).map.$(2)    ?= $(1)/$(2).map
$(1).soname.$(2) ?= $(2).so.0
$(1).parts.$(2)  := $$(patsubst %.c,$(B)/$(1)/%.o,$$($(1).src) $$($(1).src.$(2))) \
	$$(patsubst %.c,%.o,$$(filter %.c,$$($(1).gen))) $$($(1).objs.$(2))
$(B)/lib/$(2).so: $$($(1).parts.$(2)) $(call archives,$($(1).uses)) $$($(1).map.$(2)) \
		$(1)/module.mk \
		$(if $(call anywhere,$(1),$(2)),mk/anywhere common/base/anywhere.names)
	$$(call say,SHARED)mkdir -p $$(@D) && \
		$$(if $$(call anywhere,$(1),$(2)),$$(call lowered,$(1),$(2))) \
		$$(CC) $$(BASE_LDFLAGS) -shared -o $$@ $$(call so_objects,$(1),$(2)) \
		-Wl,-soname,$$($(1).soname.$(2)) -Wl,--version-script=$$($(1).map.$(2)) \
		$$(if $$($(1).undefined_ok),,-Wl$(comma)--no-undefined) $$(call links,$(1)) && \
		ln -sf $(2).so $$(@D)/$$($(1).soname.$(2))
$(B)/lib/$(2).a: $$($(1).parts.$(2)) $(call archives,$($(1).uses)) $(1)/module.mk
	$$(call say,AR)mkdir -p $$(@D) && rm -f $$@ && \
		$$(if $$($(1).keep.$(2)),$$(call one_object,$(1),$(2)),\
		$$(AR) rcs $$@ $$(call twin_objs,$(1)))
endef

# Templates are expanded lowest room first, so that `objs` of all below exist.
$(foreach m,$(MODULES),$(eval $(call room,$m)))

# Make prefers a rule whose prerequisites it knows, so this rule names them. In an empty folder it
# would compile tests by the rule for any test. That rule does not wait for generated headers.
generated: $(foreach m,$(MODULES),$($m.made))
.PHONY: generated

# $(1): room -> its part of `make all`
room_all = $(B)/$(1).a $(addprefix $(B)/bin/,$($(1).programs)) \
	   $(addprefix $(B)/libexec/omig/,$($(1).libexec)) \
	   $(foreach s,$($(1).shared),$(B)/lib/$s.so $(B)/lib/$s.a) \
	   $(patsubst %.scd,$(B)/man/%,$($(1).man))
# Benchmarks are not part of `make all`: each links nearly everything. `make check` builds them.
BENCHES := $(filter bench bench/%,$(MODULES))
ALL := $(foreach m,$(if $(M),$(SELECTED),$(filter-out $(BENCHES),$(SELECTED))),$(call room_all,$m))

ifeq ($(filter clean help format,$(MAKECMDGOALS)),)
-include $(shell find $(B) -name '*.d' 2>/dev/null)
endif
