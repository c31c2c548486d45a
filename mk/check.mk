# SPDX-License-Identifier: Apache-2.0
# Checks. Each writes TAP to $(B)/check/NAME.tap and never fails by itself;
# mk/tap-sum judges, so that one run shows all faults.
#
# A room's module.mk may set these for them:
#   X.hot        objects of the hot path (hot.o), X.hot_allow the file with
#                the external symbols that they may use
#   X.abi.S      the exported symbols of S.so, default X/S.abi
#   X.statics    writable globals that the room lists: file.c:name ...

# House tests come first: each is a row of small builds, and would otherwise end alone.
CHECKS     := house floors headers hot abi abidiff anywhere statics circles names rooms size prose \
	      format bench unit fuzz system
SANITIZED  := asan tsan

# Of the sanitizers, `check` has the address sanitizer for rooms that read input from outside.
check: $(CHECKS:%=$(B)/check/%.tap) $(if $(SANITIZE),,$(B)/check/asan.tap)
	@mk/tap-sum $^
check-sanitize: $(SANITIZED:%=$(B)/check/%.tap)
	@mk/tap-sum $^
$(patsubst %,check-%,$(CHECKS) $(SANITIZED)): check-%: $(B)/check/%.tap
	@mk/tap-sum $<
.PHONY: check check-sanitize $(patsubst %,check-%,$(CHECKS) $(SANITIZED))

tap = $(call say,CHECK)mkdir -p $(@D) && { $(1); } >$@ 2>&1 || \
      echo "not ok - $(basename $(@F)) ended with $$?" >>$@

# --- floors: an include names this room or one of its uses; some libraries
# have one home only; nothing is forgotten
homes := openssl/=common/net event2/=common/loop,common/net protobuf-c/=proto \
	elfutils/=tracer,tracer/function Zydis/=tracer/function json-c/=tools/results
$(B)/check/floors.tap: FORCE
	$(call tap,$(foreach m,$(SELECTED),mk/check-floors '$m' '$($m.uses)' '$(homes)' \
		'$($m.src) $($m.not_built) $(foreach s,$($m.shared),$($m.src.$s)) \
		$(foreach p,$($m.programs),$(or $($m.main.$p),$p_main.c))';) :)

# --- headers. banned.h comes first everywhere else and would bring its includes along.
INSTALLED   := $(foreach m,$(SELECTED),$(addprefix $m/,$($m.headers)))
HEADER_TAPS := $(foreach m,$(SELECTED),$(patsubst %,$(B)/headers/%.tap,$(wildcard $m/*.h)))
$(B)/check/headers.tap: $(HEADER_TAPS) FORCE
	$(call tap,cat $(HEADER_TAPS) /dev/null)
# Programs may use the bare language: no _GNU_SOURCE, no POSIX. tests/headers/HEADER.c uses the
# macros of one.
strict_flags = -pedantic-errors -Wall -Wextra -Werror -U_GNU_SOURCE \
	       $(filter-out -D_GNU_SOURCE,$(BASE_CPPFLAGS))
strict_c   = $(CC) -std=$(1) $(strict_flags) -x c
strict_cxx = $(CXX) -std=$(1) $(strict_flags) -x c++
header_use = $(or $(wildcard tests/headers/$(1).c),/dev/null)
define headers
$(B)/headers/$(1)/%.h.tap: $(1)/%.h $(B)/$(1)/.flags | $$($(1).gens)
	$$(call say,HEADER)mkdir -p $$(@D) && { $$(call header_alone,$(1)/$$*.h,$(1)); } >$$@ && \
	{ ! grep -q '^not ok' $$@ || touch -d @0 $$@; }
endef
header_ok = if $(1) -fsyntax-only $(4) -include $(2) $(call header_use,$(2)) >$@.log 2>&1; then \
	    echo 'ok - $(2) $(3)'; else sed 's/^/\# /' $@.log; echo 'not ok - $(2) $(3)'; fi
header_dep = -MMD -MP -MT $@ -MF $(@:.tap=.d)
header_alone = $(call header_ok,$(CC) $(subst $(BANNED),,$(call room_flags,$(2))) -Werror \
	-x c,$(1),compiles alone,$(header_dep)) \
	$(if $(filter $(1),$(INSTALLED)),\
	$(foreach s,c99 c11,; $(call header_ok,$(call strict_c,$s),$(1),is $s)) \
	$(foreach s,c++11 c++17,; $(call header_ok,$(call strict_cxx,$s),$(1),is $s)))
$(foreach m,$(MODULES),$(eval $(call headers,$m)))
$(patsubst tests/headers/%.c,$(B)/headers/%.tap,\
	$(shell find tests/headers -name '*.c' 2>/dev/null)): \
	$(B)/headers/%.tap: tests/headers/%.c

# --- symbols: of hot objects, of shared libraries, and writable ones of all.
# Sanitizers add symbols of their own, so these speak about the plain build.
HOT     := $(foreach m,$(SELECTED),\
	$(foreach o,$($m.hot),$(if $(findstring /,$o),$o,$(B)/$m/$o)))
ANYWHERE := $(foreach m,$(SELECTED),$(foreach s,$($m.anywhere),$(B)/lib/$s.so))
SHARED  := $(foreach m,$(SELECTED),$(foreach s,$($m.shared),$(B)/lib/$s.so))
OBJECTS := $(foreach m,$(SELECTED),$($m.objs) $(foreach s,$($m.shared),$($m.parts.$s)))
plain_only = $(if $(SANITIZE),echo 'ok - $(basename $(@F)) \# SKIP only in the plain build',$(1))
$(B)/check/hot.tap: $(if $(SANITIZE),,$(HOT)) FORCE
	$(call tap,$(call plain_only,$(foreach m,$(SELECTED),$(foreach o,$($m.hot),\
		mk/check-hot $(if $(findstring /,$o),$o,$(B)/$m/$o) '$($m.hot_allow)';)) :))
$(B)/check/abi.tap: $(if $(SANITIZE),,$(SHARED)) FORCE
	$(call tap,$(call plain_only,$(foreach m,$(SELECTED),$(foreach s,$($m.shared),\
		mk/check-abi $(B)/lib/$s.so '$(or $($m.abi.$s),$m/$s.abi)';)) :))
# Types of libraries whose symbols have a version: programs are built against these.
abi_types = $(foreach m,$(SELECTED),$(foreach s,$(filter $($m.typed),$($m.shared)),\
	mk/check-abidiff $(1) $(B)/lib/$s.so packaging/abi \
	$(addprefix $m/,$(or $($m.typed_by),$($m.headers)));))
$(B)/check/abidiff.tap: $(if $(SANITIZE),,$(SHARED)) FORCE
	$(call tap,$(call plain_only,$(if $(findstring clang,$(CC)),\
		echo "ok - types # SKIP baselines are of gcc",$(abi_types) :)))
abi-baselines: $(SHARED)
	$(call abi_types,--write)
.PHONY: abi-baselines
$(B)/check/anywhere.tap: $(if $(SANITIZE),,$(ANYWHERE)) FORCE
	$(call tap,$(call plain_only,$(foreach s,$(ANYWHERE),mk/check-anywhere $s;) :))
$(B)/check/statics.tap: $(if $(SANITIZE),,$(OBJECTS)) FORCE
	$(call tap,$(call plain_only,$(foreach m,$(SELECTED),\
		mk/check-statics '$m' '$(common/base.statics) $($m.statics)' \
		$(patsubst $(B)/gen/$m/%.pb-c.o,,$(sort $($m.objs) \
		$(foreach s,$($m.shared),$($m.parts.$s))));) :))

# --- rules with a ratchet: mk/ratchet/NAME lists the deviations that are still allowed, and only
# shrinks (mk/ratchet.awk). $(1): name; the findings are in the .found beside the .tap
ratcheted = awk -v name=$(1) -v list=mk/ratchet/$(1) -v part='$(M)' -v lower=$(LOWER) \
	-f mk/ratchet.awk $(@:.tap=.found)
RATCHETS := circles names rooms size prose format
ratchet:
	@$(MAKE) LOWER=1 $(RATCHETS:%=$(B)/check/%.tap)
.PHONY: ratchet

# --- names that rooms define and use: of all objects of the product
MAINS    := $(foreach m,$(MODULES),$(foreach p,$($m.programs),\
	$(patsubst %.c,$(B)/$m/%.o,$(or $($m.main.$p),$p_main.c))))
PRODUCT  := $(sort $(MAINS) $(foreach m,$(MODULES),$($m.objs) \
	$(foreach s,$($m.shared),$($m.parts.$s))))
of_all    = $(if $(M),echo 'ok - $(1) \# SKIP only of the whole tree',$(2))
$(B)/check/symbols: $(if $(SANITIZE)$(M),,$(PRODUCT))
	$(call say,NM)mkdir -p $(@D) && nm -A -g --format=posix $^ >$@
$(B)/check/circles.tap: one_room = ; if grep '^across rooms' $(@:.tap=.found); then \
	echo 'not ok - circles across rooms'; else echo 'ok - circles across rooms'; fi
$(B)/check/circles.tap $(B)/check/names.tap: $(B)/check/%.tap: \
		$(if $(SANITIZE)$(M),,$(B)/check/symbols) FORCE
	$(call tap,$(call of_all,$*,$(call plain_only,\
		mk/check-$* $(B) $(B)/check/symbols $(MODULES) >$(@:.tap=.found) && \
		$(call ratcheted,$*)$(one_room))))

# --- sizes
SIZED := $(if $(M),$(foreach m,$(SELECTED),$(wildcard $m/*.[ch] tests/unit/$m/*.[ch])),\
	 $(shell find $(sort $(foreach m,$(MODULES),$(firstword $(subst /, ,$m))) tests \
	 $(wildcard examples)) -name '*.[ch]'))
$(B)/check/size.tap: FORCE
	$(call tap,mk/check-size $(@:.tap=.found) $(SIZED) && $(call ratcheted,parameters))

# --- rooms: each folder of sources is one, and holds 30 files at most
$(B)/check/rooms.tap: FORCE
	$(call tap,$(call of_all,rooms,\
		mk/check-rooms $(@:.tap=.found) $(MODULES) && $(call ratcheted,rooms)))

# --- text and layout
$(B)/check/prose.tap: FORCE
	$(call tap,mk/check-prose $(@:.tap=.found) $(if $(M),$(SELECTED)) && \
		$(call ratcheted,prose); \
		$(if $(M),:,mk/check-subjects))
$(B)/check/format.tap: FORCE
	$(call tap,mk/check-format $(@:.tap=.found) $(if $(M),$(SELECTED)); \
		case $$? in (0) $(call ratcheted,format) ;; \
		(77) echo 'ok - format \# SKIP there is no clang-format-14' ;; (*) false ;; esac)

# Older sanitizer runtimes do not start on some kernels (vm.mmap_rnd_bits above 28): these place
# memory in a larger space than the runtimes know. Some containers do not permit a process to
# switch that off.
UNDER := $(if $(SANITIZE),$(shell setarch -R true 2>/dev/null && echo setarch -R))

# --- unit tests. The linker lets tests/alloc_sweep.c fail any allocation. The tested code is
# optimised. The tests are not, which halves their build, and ld.gold halves the time of their link.
# WITHOUT=object, of one target: another object replaces it.
TEST_CFLAGS := -O0 -g1 -U_FORTIFY_SOURCE
TEST_LINKER := $(if $(shell command -v ld.gold),-fuse-ld=gold)
WRAPPED := malloc calloc realloc reallocarray strdup strndup
WRAP    := $(foreach f,$(WRAPPED),-Wl$(comma)--wrap=$f)
$(foreach m,$(MODULES),$(eval -include tests/unit/$m/module.mk))
$(B)/tests/%.o: tests/%.c $(B)/common/base/.flags
	$(call say,CC)mkdir -p $(@D) && $(CC) $(OUR_CFLAGS) -MMD -MP -c -o $@ $<
# Fake peers: an archive, of which each test has what it uses.
FAKES := $(patsubst %.c,$(B)/%.o,$(wildcard tests/fakes/*.c))
$(FAKES): $(B)/%.o: %.c $(B)/tree/.flags | $(foreach m,$(MODULES),$($m.gens))
	$(call say,CC)mkdir -p $(@D) && $(CC) $(room_flags_tree) $(TEST_CFLAGS) \
		$(call pkg,cflags,check) -MMD -MP -c -o $@ $<
$(B)/tests/fakes.a: $(FAKES)
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $^
define unit
$(1).tests := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/$(1)/test_*.c))
$(B)/tests/unit/$(1)/%.o: tests/unit/$(1)/%.c $(B)/$(1)/.flags | \
		$(sort $(foreach r,$(1) $($(1).test_uses),$($r.gens)))
	$$(call say,CC)mkdir -p $$(@D) && $$(CC) $$(room_flags_$(1)) $$(TEST_CFLAGS) \
		$$(call pkg,cflags,check $$($(1).test_pkgs)) \
		-MMD -MP -c -o $$@ $$<
$$($(1).tests): %: %.o $(patsubst %.c,$(B)/tests/unit/$(1)/%.o,$($(1).test_src)) \
		$($(1).test_objs) $(B)/tests/alloc_sweep.o $(B)/tests/fakes.a \
		$(call archives,$(1) $($(1).test_uses)) | $($(1).test_needs)
	$$(call say,LINK)printf '%s\n' '$$(subst ','\'',$$(call link_unit,$(1)))' >$$@.link && \
	OUT=$$@ sh $$@.link
endef
# With a changed object in front, and with a leak checker (mk/mutate), or without.
link_unit = $(CC) $(BASE_LDFLAGS) $(TEST_LINKER) $(WRAP) $$LEAKS -o "$$OUT" $$MUTANT \
	$(filter-out $(WITHOUT),$(filter %.o %.a,$^)) $(call links,$(1) $($(1).test_uses)) \
	$(call pkg,libs,check $($(1).test_pkgs)) $($(1).test_libs)
$(foreach m,$(MODULES),$(eval $(call unit,$m)))
UNIT := $(foreach m,$(SELECTED),$($m.tests))
$(UNIT:=.tap): %.tap: % FORCE
	$(call say,TEST)B=$(B) SANITIZE='$(SANITIZE)' UNDER='$(UNDER)' mk/run-unit $< $@
$(B)/check/unit.tap: $(UNIT:=.tap)
	$(call tap,cat /dev/null $^)

# --- fuzz targets: the rooms that one includes are the rooms it is linked with
FUZZ_SEES  := $(shell awk -F '"' '/^.include "/ { \
	sub(/\/[^\/]*$$/, "", $$2); print FILENAME ":" $$2 }' \
	/dev/null $(wildcard tests/fuzz/fuzz_*.c))
fuzz_rooms  = $(filter $(MODULES),\
	$(patsubst tests/fuzz/fuzz_$(1).c:%,%,$(filter tests/fuzz/fuzz_$(1).c:%,$(FUZZ_SEES))))
FUZZ_ALL   := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ       := $(if $(M),$(foreach f,$(FUZZ_ALL),\
	$(if $(filter $(M),$(call fuzz_rooms,$f)),$f)),$(FUZZ_ALL))
fuzz_corpus = $(firstword $(wildcard tests/fuzz/corpus/$(1) tests/fuzz/corpus/fuzz_$(1)) \
	tests/fuzz/corpus/$(1))
define fuzz
fuzz.$(1)   := $(fuzz_rooms)
$(B)/tests/fuzz/fuzz_$(1).o: OUR_CFLAGS += $$(foreach r,$$(fuzz.$(1)),$$($$r.fuzz_cflags))
$(B)/tests/fuzz/fuzz_$(1).o: | $$(sort $$(foreach r,$$(fuzz.$(1)),$$($$r.gens)))
$(B)/fuzz/replay_$(1): $(B)/tests/fuzz/replay_main.o $(B)/tests/fuzz/fuzz_$(1).o \
		$(call archives,$(fuzz_rooms))
	$$(call say,LINK)mkdir -p $$(@D) && $$(CC) $$(BASE_LDFLAGS) -o $$@ $$(filter %.o %.a,$$^) \
		$$(call links,$(fuzz_rooms))
$(B)/fuzz/fuzz_$(1): $(B)/tests/fuzz/fuzz_$(1).o $(call archives,$(fuzz_rooms))
	$$(call say,LINK)mkdir -p $$(@D) && \
		$$(CC) $$(BASE_LDFLAGS) -fsanitize=fuzzer -o $$@ $$(filter %.o %.a,$$^) \
		$$(call links,$(fuzz_rooms))
$(B)/fuzz/$(1).tap: $(B)/fuzz/replay_$(1) FORCE
	$$(call say,REPLAY)UNDER='$(UNDER)' mk/run-fuzz $$< $(fuzz_corpus) >$$@ 2>&1 || :
endef
$(foreach f,$(FUZZ),$(eval $(call fuzz,$f)))
$(B)/check/fuzz.tap: $(FUZZ:%=$(B)/fuzz/%.tap) FORCE
	$(call tap,cat /dev/null $(filter %.tap,$^))

RUNS ?= 1000000
FUZZ_FLAGS ?= -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=64 -print_final_stats=1
# FAST=1: only edges are traced, without sanitizers: ten to twenty times as many runs.
FUZZ_FAST  := BUILD=$(BUILD)/fast CFLAGS='-O2 -g1 -fsanitize-coverage=inline-8bit-counters,pc-table'
fuzz:
	$(if $(filter $(F),$(FUZZ)),,$(error F must be one of: $(FUZZ)))
	$(MAKE) CC=clang $(if $(FAST),$(FUZZ_FAST),SANITIZE=fuzzer-no-link,address,undefined) \
		fuzz-run F=$(F) RUNS=$(RUNS)
fuzz-run: $(B)/fuzz/fuzz_$(F)
	mkdir -p $(B)/found/$(F)
	$< -runs=$(RUNS) $(FUZZ_FLAGS) -artifact_prefix=$(B)/found/$(F)- \
		$(B)/found/$(F) $(wildcard $(call fuzz_corpus,$(F)))
.PHONY: fuzz fuzz-run

# --- benchmarks: each of their programs is built
BENCH_ALL = $(foreach m,$(BENCHES),$(addprefix $(B)/bin/,$($m.programs))) $(bench.needs)
$(B)/check/bench.tap: $(if $(SANITIZE)$(M),,$(BENCH_ALL)) FORCE
	$(call tap,$(call of_all,bench,$(call plain_only,\
		echo 'ok - bench: $(words $(BENCH_ALL)) programs link')))

# --- tests of these rules, and real processes. The latter take long and mostly
# wait, so in `make check` they come last, together with the sanitizers below.
FIRST := $(if $(filter check,$(MAKECMDGOALS)),\
	 $(patsubst %,$(B)/check/%.tap,$(filter-out system,$(CHECKS))))
HOUSE := $(patsubst tests/house/%.sh,$(B)/house/%.tap,$(wildcard tests/house/t*.sh))
$(filter %/t04-services.tap,$(HOUSE)): $(filter $(B)/bin/omis-doc,$(ALL))
# The builds in them get no share of this make's jobs: a make that cannot use its share says so.
alone = MAKEFLAGS=$$(printf '%s' "$$MAKEFLAGS" | \
	sed 's/ -j[0-9]*//; s/ --jobserver-[a-z]*=[^ ]*//')
$(HOUSE): $(B)/house/%.tap: tests/house/%.sh FORCE
	$(call tap,$(alone) BUILD=$(B)/house sh $<)
$(B)/check/house.tap: $(HOUSE) FORCE
	$(call tap,cat /dev/null $(HOUSE))
$(B)/check/system.tap: $(ALL) $(SYSTEM_NEEDS) FORCE | $(FIRST)
	$(call say,CHECK)mkdir -p $(@D) && if test -e tests/system/run.sh; then \
		B="$(FULL_B)" CC='$(CC)' sh tests/system/run.sh $(T) >$@.out 2>&1; rc=$$?; \
		cat $@.out; \
		mk/tap-checked $$rc <$@.out >$@; else : >$@; fi

# --- mutation: small changes of the code, which unit tests should find (docs/mutation.md).
# Simulated worlds take too long for each of them, and hold whole daemons as one object.
SEED ?= 1
N    ?= 60
MUTABLE  := proto common/% lm lm/% \
	    tree sm sm/% mainsm mainsm/% libapp libapp/% \
	    eventlog eventlog/% pmsl pmsl/% stats
MUTATED   = $(if $(M),$(SELECTED),$(filter $(MUTABLE),$(MODULES)))
above     = $(foreach u,$(MODULES),$(if $(filter $(1),$($u.uses) $($u.test_uses)),$u))
# Most tests of a daemon's rooms hold all of the daemon.
daemon_of = $(foreach d,$(filter lm sm mainsm,$(firstword $(subst /, ,$(1)))),\
	$(filter $d $d/%,$(MODULES)))
users     = $(filter-out sim sim/% bench bench/% $(1),$(sort \
	$(call above,$(1)) $(foreach u,$(1) $(call above,$(1)),$(call daemon_of,$u))))
trying    = $(filter-out $(B)/tests/unit/sim/%,\
	$(sort $($(1).tests) $(foreach u,$(call users,$(1)),$($u.tests))))
MUTATE_TESTS = $(sort $(foreach r,$(MUTATED),$(call trying,$r)))
mutate:
	@mkdir -p $(B)/mutate && for t in $(MUTATE_TESTS); do test -e $$t.link || rm -f $$t; done
	@$(MAKE) $(MUTATE_TESTS)
	@$(foreach r,$(MUTATED),{ printf 'source %s\n' $($r.src:%=$r/%); \
		printf 'test %s\n' $(call trying,$r); } \
		>$(B)/mutate/$(subst /,-,$r).room;)
	@B=$(B) ROOMS='$(MUTATED)' mk/mutate $(SEED) $(N) | tee $(B)/mutate/report
.PHONY: mutate

# --- tables that house tests compare: of all services, and of all rooms
services-table: $(B)/bin/omis-doc
	mk/services-table $(B)/bin >docs/services.md
rooms-table:
	mkdir -p $(B) && mk/rooms-table >$(B)/rooms-table
	cp $(B)/rooms-table docs/architecture.md
deps-table:
	mkdir -p $(B) && mk/deps-table >$(B)/deps-table
	cp $(B)/deps-table docs/admin.md
.PHONY: services-table rooms-table deps-table

# The graphs from the tables of states, and their pictures.
states: $(B)/tests/unit/mainsm/test_states
	-OMIG_WRITE_STATES=1 $<
	for f in docs/states/*.dot; do dot -Tsvg -Gbgcolor=white $$f -o $${f%.dot}.svg; done
	chmod 644 docs/states/*.dot
.PHONY: states

# --- unit tests and corpora once more, built with sanitizers in folders of their own. They run at a
# low priority, but one at which kernel timers of 20 s do not run out. The names in their TAP
# distinguish them. A simulated world takes five times as long in them, so they run fewer worlds.
sanitize.asan := address,undefined
sanitize.tsan := thread
# Few rooms have threads, or share a segment with other processes.
rooms.tsan    := $(filter common/base common/ring common/net libapp libapp/% eventlog/app \
		 eventlog/spool neko/hosts lm lm/%,$(SELECTED))
# Rooms that read frames, segments, files and texts of others. The build of all rooms and the
# simulated worlds would double the time of `check`, so `check-sanitize` has them.
INPUT_ROOMS   := proto common/% libapp libapp/% lm/attach lm/record eventlog eventlog/% \
		 pmsl pmsl/% interaction/online lm/contract tools/profile tools/results \
		 tools/summary tools/waits tools/web
IS_SHORT      := $(filter check,$(MAKECMDGOALS))
rooms.asan    := $(if $(IS_SHORT),$(filter $(INPUT_ROOMS),$(SELECTED)),$(SELECTED))
ends.asan     := $(if $(IS_SHORT),\
		 echo 'ok - other rooms with sanitizers \# SKIP make check-sanitize')
define sanitized
$(1).taps := $(addprefix $(BUILD)/$(call variant,$(sanitize.$(1)))/check/,unit.tap fuzz.tap)
$(B)/check/$(1).tap: FORCE | $(FIRST)
	$$(call say,CHECK)mkdir -p $$(@D) && rm -f $$($(1).taps) && \
	if test -z '$$(rooms.$(1))'; then \
		echo 'ok - $(1) \# SKIP it has none of these rooms' >$$@; \
	elif OMIG_SIM_SEEDS=$$$${OMIG_SIM_SEEDS:-20} nice -n 10 \
		$$(MAKE) SANITIZE=$$(sanitize.$(1)) M='$$(rooms.$(1))' $$($(1).taps); then \
		sed 's/^\(\(not \)\{0,1\}ok\( [0-9]*\)\{0,1\} - \)/\1$(1): /' $$($(1).taps) >$$@; \
		$$(if $$(ends.$(1)),$$(ends.$(1)) >>$$@;) \
	else echo 'not ok - $(1): the build failed' >$$@; fi
endef
$(foreach s,$(SANITIZED),$(eval $(call sanitized,$s)))

# --- benchmarks: JSON lines; a bench room may list the programs to run
BENCH = $(or $(bench.run),$(bench.programs))
bench: $(addprefix $(B)/bin/,$(bench.programs)) $(bench.needs)
	@mkdir -p $(B)/check; : >$(B)/bench.json; for p in $(BENCH); do \
		B="$(FULL_B)" $(B)/bin/$$p >$(B)/bench.part; rc=$$?; cat $(B)/bench.part; \
		cat $(B)/bench.part >>$(B)/bench.json; test $$rc = 0 || exit $$rc; done
bench-report:
	@test -s $(B)/bench.json || { echo 'run `make bench` first' >&2; exit 1; }
	awk -f mk/bench-report.awk $(B)/bench.json >docs/measured/benchmarks.md
.PHONY: bench bench-report
