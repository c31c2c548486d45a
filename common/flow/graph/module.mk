# SPDX-License-Identifier: Apache-2.0
# common/flow/graph: graphs of nodes: checked, costed, written and read; operators and aggregates.
MODULES                += common/flow/graph
common/flow/graph.src  := agg.c agg_value.c choice.c graph.c graph_cost.c graph_read.c \
		graph_rules.c graph_value.c graph_verify.c graph_words.c match.c op.c token.c \
		who.c
common/flow/graph.uses := common/base common/container common/omis/text stats
common/flow/graph.libs := -lm
