# SPDX-License-Identifier: Apache-2.0
# common/flow/engine: loaded graphs: tokens, windows, partial results. Pure, no clock.
# circle: flow_close.c flow_run.c node_op.c node_queue.c node_set.c: nodes emit, and the run goes on
MODULES                 += common/flow/engine
common/flow/engine.src  := flow_close.c flow_load.c flow_look.c flow_node.c flow_read.c \
		flow_run.c node_delta.c node_op.c node_queue.c node_reads.c node_set.c \
		node_stop.c node_vt_agg.c partial.c
common/flow/engine.uses := common/base common/container stats common/flow/graph
