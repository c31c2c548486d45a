# SPDX-License-Identifier: Apache-2.0
# bench/interaction: interaction networks: built, analysed, split, read, and contracted.
MODULES                   += bench/interaction
bench/interaction.uses    := common/base common/container common/json common/ring interaction \
			     interaction/form interaction/set interaction/online stats bench
bench/interaction.programs := bench_interaction bench_online
# recorded_main.c is linked with libomig and each MPI: bench/module.mk
bench/interaction.not_built := recorded_main.c
bench/interaction.not_installed := $(bench/interaction.programs)
bench/interaction.main.bench_interaction := interaction_main.c
bench/interaction.main.bench_online := online_main.c
bench.needs               += $(B)/bin/bench_interaction $(B)/bin/bench_online
bench.run                 += bench_interaction bench_online
