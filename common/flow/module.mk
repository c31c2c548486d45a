# SPDX-License-Identifier: Apache-2.0
# common/flow: the dataflow engine. Pure: no clock, no input or output, no threads.
MODULES          += common/flow
common/flow.src  := graph.c graph_words.c graph_verify.c graph_rules.c graph_cost.c graph_value.c graph_read.c \
		    agg.c agg_value.c match.c token.c op.c partial.c \
		    flow_load.c flow_node.c flow_run.c flow_close.c flow_read.c flow_look.c \
		    node_op.c node_set.c node_vt_agg.c node_delta.c node_stop.c node_reads.c node_queue.c \
		    batch_encode.c batch_decode.c rest.c
common/flow.uses := common/base common/omis stats
common/flow.libs := -lm
