# SPDX-License-Identifier: Apache-2.0
# bench/attach: omig attach, as lm-trace does it for the ranks of a host.
MODULES              += bench/attach
bench/attach.uses    := common/base common/loop common/gate tracer bench
bench/attach.programs := bench_attach
bench/attach.not_installed := $(bench/attach.programs)
bench/attach.main.bench_attach := attach_main.c
bench.needs          += $(B)/bin/bench_attach $(B)/tests/system/entered $(B)/lib/libomig.so
bench.run            += bench_attach
