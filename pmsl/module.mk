# SPDX-License-Identifier: Apache-2.0
# pmsl: the metric language. Text becomes a checked tree, a template, a graph of chosen objects, pieces. Pure.
MODULES   += pmsl
pmsl.src  := source.c diag.c lex.c type.c unit.c tree.c parse.c parse_expr.c builtin.c function.c \
	     check.c check_expr.c check_call.c check_time.c \
	     dag.c dag_node.c dag_words.c world.c bound.c bind.c bind_eval.c bind_op.c bind_remember.c bind_fold.c bind_source.c \
	     late.c group.c place.c pmsl.c dot.c
pmsl.uses := common/base common/ring common/omis common/flow
pmsl.libs := -lm
