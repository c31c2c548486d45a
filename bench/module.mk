# SPDX-License-Identifier: Apache-2.0
# Benchmarks print figures and never judge. Each program is one topic.
MODULES        += bench
bench.src      := bench.c floor_tree.c treebed.c
bench.uses     := common/base tools/libomis
bench.programs := bench_tree
bench.main.bench_tree := bench_tree_main.c
bench.needs    := $(B)/bin/mainsm $(B)/bin/sm $(B)/bin/lm
