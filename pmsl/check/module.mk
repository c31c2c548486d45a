# SPDX-License-Identifier: Apache-2.0
# pmsl/check: checked trees: built-in metrics, functions, types of calls and times.
# circle: check_call.c check_choice.c check_expr.c check_time.c: a recursive walk over its files
MODULES         += pmsl/check
pmsl/check.src  := builtin.c check.c check_call.c check_choice.c check_expr.c check_time.c \
		function.c
pmsl/check.uses := common/base common/container common/cli common/ring common/flow/graph \
		pmsl/text
