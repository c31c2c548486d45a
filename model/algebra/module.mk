# SPDX-License-Identifier: Apache-2.0
# model/algebra: least squares by QR, with and without bounds, and linear programmes.
MODULES            += model/algebra
model/algebra.src  := least.c nonnegative.c programme.c
model/algebra.uses := common/base
model/algebra.libs := -lm
