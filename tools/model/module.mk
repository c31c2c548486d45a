# SPDX-License-Identifier: Apache-2.0
# tools/model: the command omig model: estimates of demands, and the experiments of its paper.
MODULES          += tools/model
tools/model.src  := cmd_model.c demands.c experiment.c experiment_run.c \
		    experiment_table1.c experiment_table2.c \
		    experiment_fit.c estimate_show.c \
		    model_file.c observe.c observe_show.c simulate_show.c solve_show.c what_if.c
tools/model.uses := common/base common/axis common/cli common/json common/ring stats stats/draw \
		    model/estimate model/experiment model/queue model/layered model/propagate \
		    model/simulate eventlog/lifeline tools/libomis tools/results tools/term \
		    tools/session tools/measure
tools/model.libs := -lm
