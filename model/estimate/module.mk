# SPDX-License-Identifier: Apache-2.0
# model/estimate: demands of the services of a process, from counts and busy times of periods.
MODULES             += model/estimate
model/estimate.src  := best.c constant.c estimate.c generalised.c intervals.c \
			periods.c periods_read.c
model/estimate.uses := common/base stats model/algebra
model/estimate.libs := -lm
