# SPDX-License-Identifier: Apache-2.0
# pmsl/plan: templates, graphs of chosen objects, and pieces placed on daemons.
# circle: bind.c bind_eval.c bind_fold.c bind_source.c: a recursive walk over its files
MODULES        += pmsl/plan
pmsl/plan.src  := bind.c bind_choice.c bind_eval.c bind_fold.c bind_op.c bind_remember.c \
		bind_source.c bound.c dag.c dag_node.c dag_words.c group.c late.c place.c world.c
pmsl/plan.uses := common/base common/container common/ring common/omis/text common/flow/graph \
		pmsl/text pmsl/check
