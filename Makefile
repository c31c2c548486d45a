# SPDX-License-Identifier: Apache-2.0
#
# Omig. `make help` prints this block.
#
# Knobs (make KNOB=value):
#   V=1             show the commands
#   BUILD=dir       where everything built goes (default build); a variant
#                   has a folder of its own in it: build/plain, build/thread
#   SANITIZE=list   address,undefined or thread
#   WERROR=1        warnings are errors
#   CC CFLAGS CPPFLAGS LDFLAGS CXX PKG_CONFIG    as usual
#   POSTGRESQL=yes|no|dlopen  yes links libpq, dlopen (default) loads it when it is needed
#   PREFIX=/usr/local DESTDIR=                   for install
#   M=room          limit all, check-unit, check-floors, check-size,
#                   check-prose, check-format, check-headers and check-statics to one room
#   F=name RUNS=n   the fuzz target and how often `make fuzz` runs it; FAST=1: without sanitizers
#
# Targets:
#   all             libraries, programs, manual pages
#   check           every check below, summed up in the last line; check-asan for the rooms that
#                   read input from outside, and not check-tsan
#   check-floors    #includes and `uses` obey the floors
#   check-headers   each header compiles alone; installed ones as C99 and C++
#   check-hot       hot objects call only what their allow file lists
#   check-abi       shared libraries export exactly what their .abi file lists
#   check-abidiff   types of their public headers are those of packaging/abi
#   check-anywhere  libraries in foreign processes load with any C library since glibc 2.17
#   check-statics   no writable global that its room does not list
#   check-circles   files call one another in circles only with a reason, never across rooms
#   check-names     each global name is defined in one room
#   check-rooms     each folder of sources is a room, of at most 30 files
#   check-size      functions <= 70 lines and <= 5 parameters, files <= 600
#   check-prose     words, columns and sentences of comments and documents, subjects of commits
#   check-format    C files are as clang-format 14 writes them (`make format`)
#   check-unit      unit tests (tests/unit/ROOM/test_*.c)
#   check-fuzz      replay of the fuzz corpora
#   check-house     tests of these rules themselves
#   check-system    tests/system/*/*.sh: real processes
#   check-asan      check-unit and check-fuzz with SANITIZE=address,undefined
#   check-tsan      the same with SANITIZE=thread
#   check-sanitize  both of them
#   ratchet         removes entries from mk/ratchet/* that no longer deviate
#   fuzz F=name     libFuzzer run with clang
#   mutate M=room   changes the code in N places, drawn by SEED, and runs the unit tests
#                   (docs/mutation.md)
#   bench           one JSON object a line; bench-report: the table in docs/measured/
#   bench-growth    many hosts, for minutes: a table and a plot in docs/measured/
#   bench-tools     many tools, a million triggers: a table in docs/measured/
#   bench-traffic   traffic of links by events, hosts and sites: a table and a plot in
#                   docs/measured/
#   bench-why       programs with planted bottlenecks: how well `omig why` finds them, in
#                   docs/measured/
#   growth-paper    ten thousand hosts, up to three levels of sms, in virtual time: tables and plots
#                   in docs/measured/
#   services-table  writes docs/services.md, after a change of services or tests
#   rooms-table     writes the rooms of docs/architecture.md, after a change of a module.mk
#   abi-baselines   writes packaging/abi, after a change that programs survive
#   deps-table      writes the packages of docs/admin.md, after a change of packaging/deps.tsv
#   states          writes docs/states, after a change of a table of states (needs graphviz)
#   dist            the last commit as a release: tarball, bill of materials, checksums
#   sbom            the bill of materials (SPDX) of what was built
#   distcheck       builds, tests, installs and removes what is in it, without a network
#   release         dist and distcheck: what to publish, with its checksums
#   deb             packages of Debian of a release, in build/plain/deb
#   rpm             packages of RPM of a release, in build/plain/rpm
#   deb-check       deb, and tests of them: lintian; installed, used and purged in a bare Debian
#   install uninstall format clean help

all:
include $(wildcard config.mk)
VERSION := $(file <VERSION)
include mk/flags.mk

# The floors, lowest first. A room may use only what stands above it in this list.
MODULES :=
include common/base/module.mk
include common/store/module.mk
include common/container/module.mk
include common/time/module.mk
include common/json/module.mk
include common/cli/module.mk
include common/axis/module.mk
include common/inproc/module.mk
include common/board/module.mk
include common/ring/module.mk
include common/omis/text/module.mk
include common/omis/services/module.mk
include common/omis/reply/module.mk
include common/omis/module.mk
include common/loop/module.mk
include common/tracer/module.mk
include common/gate/module.mk
include proto/module.mk
include libapp/match/module.mk
include libapp/hot/module.mk
include libapp/vertex/module.mk
include libapp/setup/module.mk
include libapp/module.mk
include libio/module.mk
include common/net/module.mk
include stats/module.mk
include stats/draw/module.mk
include why/module.mk
include why/simulated/module.mk
include model/algebra/module.mk
include model/estimate/module.mk
include model/experiment/module.mk
include model/queue/module.mk
include model/layered/module.mk
include model/propagate/module.mk
include common/flow/graph/module.mk
include common/flow/engine/module.mk
include common/flow/batch/module.mk
include common/route/module.mk
include common/conf/module.mk
include common/audit/module.mk
include common/link/module.mk
include common/member/module.mk
include common/daemon/module.mk
include common/authority/module.mk
include tree/module.mk
include eventlog/module.mk
include eventlog/spool/module.mk
include eventlog/keep/module.mk
include eventlog/text/module.mk
include eventlog/send/module.mk
include eventlog/inlet/module.mk
include eventlog/sort/module.mk
include eventlog/lifeline/module.mk
include eventlog/app/module.mk
include eventlog/netlogger/module.mk
include eventlog/archive/module.mk
include interaction/module.mk
include interaction/weave/module.mk
include interaction/form/module.mk
include interaction/set/module.mk
include interaction/picture/module.mk
include interaction/online/module.mk
include pmsl/text/module.mk
include pmsl/check/module.mk
include pmsl/plan/module.mk
include pmsl/module.mk
include neko/core/module.mk
include neko/stat/module.mk
include neko/simulated/module.mk
include model/simulate/module.mk
include neko/real/module.mk
include neko/algorithms/module.mk
include neko/run/module.mk
include neko/hosts/module.mk
include tracer/thread/module.mk
include tracer/gate/module.mk
include tracer/function/module.mk
include tracer/module.mk
include lm/host/module.mk
include lm/helper/module.mk
include lm/proc/module.mk
include lm/hold/module.mk
include lm/instrument/module.mk
include lm/attach/module.mk
include lm/task/module.mk
include lm/service/module.mk
include lm/plugin/module.mk
include lm/csr/module.mk
include lm/record/module.mk
include lm/contract/module.mk
include lm/measure/module.mk
include lm/module.mk
include sm/hosts/module.mk
include sm/csr/module.mk
include sm/measure/module.mk
include sm/subscription/module.mk
include sm/node/module.mk
include sm/shared/module.mk
include sm/module.mk
include mainsm/directory/module.mk
include mainsm/tool/module.mk
include mainsm/csr/module.mk
include mainsm/subscription/module.mk
include mainsm/registry/module.mk
include mainsm/measure/module.mk
include mainsm/history/module.mk
include mainsm/service/module.mk
include mainsm/start/module.mk
include mainsm/module.mk
include sim/world/module.mk
include sim/disk/module.mk
include sim/nodes/module.mk
include sim/rogues/module.mk
include sim/tools/module.mk
include sim/judge/module.mk
include sim/faults/module.mk
include sim/studies/module.mk
include sim/module.mk
include tools/libomis/module.mk
include tools/results/module.mk
include tools/web/module.mk
include tools/term/module.mk
include tools/chart/module.mk
include tools/summary/module.mk
include tools/session/module.mk
include tools/launch/module.mk
include tools/view/module.mk
include tools/profile/module.mk
include tools/alert/module.mk
include tools/export/module.mk
include tools/measure/module.mk
include tools/page/module.mk
include tools/events/module.mk
include tools/tunnel/module.mk
include tools/receive/module.mk
include tools/interaction/module.mk
include tools/sensors/module.mk
include tools/probes/module.mk
include tools/selftest/module.mk
include tools/waits/module.mk
include tools/why/module.mk
include neko/cmd/module.mk
include tools/model/module.mk
include tools/cmd/log/module.mk
include tools/cmd/summary/module.mk
include tools/cmd/module.mk
include tools/cmd/alert/module.mk
include tools/cmd/interaction/module.mk
include tools/cmd/metrics/module.mk
include tools/cmd/plugin/module.mk
include tools/cmd/profile/module.mk
include tools/cmd/attach/module.mk
include tools/cmd/stacks/module.mk
include tools/cmd/waits/module.mk
include tools/cmd/why/module.mk
include tools/module.mk
include bench/module.mk
include bench/views/module.mk
include bench/attach/module.mk
include bench/interaction/module.mk
include bench/files/module.mk

# The order alone does not say these: the library inside the ranks uses few rooms only, daemons
# are siblings, tools use the protocol as foreign programs do.
libapp/match.only   := common/base
libapp/hot.only     := common/base common/gate common/ring libapp/match
libapp/vertex.only  := common/base common/gate common/ring libapp/match libapp/hot
libapp/setup.only   := common/base common/inproc common/gate common/ring libapp/match libapp/hot \
		       libapp/vertex
libapp.only         := $(libapp/setup.only) libapp/setup
siblings            = $(foreach d,$(1),$d $d/%)
never_uses          = $(foreach r,$(filter $(1),$(MODULES)),$(eval $r.never := $(2)))
$(call never_uses,lm lm/%,tracer $(call siblings,sm mainsm))
$(call never_uses,tracer,$(call siblings,lm sm mainsm))
$(call never_uses,sm sm/%,$(call siblings,lm mainsm))
$(call never_uses,mainsm mainsm/%,$(call siblings,lm sm))
$(call never_uses,neko/% tools tools/%,$(call siblings,lm sm mainsm sim))
tools/web.only      := common/base common/container

include mk/rules.mk
include mk/check.mk
include mk/install.mk
# A part of this tree may lack these.
include $(wildcard sim/program.mk examples/module.mk tests/system/module.mk \
	tests/system/foreign/rules.mk tests/why/module.mk)

all: $(ALL)

format:
	git ls-files '*.c' '*.h' | xargs clang-format-14 -i

clean:
	rm -rf $(BUILD)

help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' Makefile

.PHONY: all format clean help FORCE
FORCE:
