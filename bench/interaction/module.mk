# SPDX-License-Identifier: Apache-2.0
# bench/interaction: interaction networks: built, analysed, split, and read from JSON.
MODULES                   += bench/interaction
bench/interaction.uses    := common/base common/container common/json interaction interaction/form \
			     interaction/set bench
bench/interaction.programs := bench_interaction
bench/interaction.not_installed := $(bench/interaction.programs)
bench/interaction.main.bench_interaction := interaction_main.c
bench.needs               += $(B)/bin/bench_interaction
bench.run                 += bench_interaction
