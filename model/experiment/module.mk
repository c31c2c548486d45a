# SPDX-License-Identifier: Apache-2.0
# model/experiment: the paper's simulator, its two tables, and tests of their printed figures.
MODULES               += model/experiment
model/experiment.src  := anova.c fit.c printed.c server.c study.c
model/experiment.uses := common/base stats stats/draw model/algebra model/estimate
model/experiment.libs := -lm
