# SPDX-License-Identifier: Apache-2.0
# tools/view: trees, live tables and health, made of replies.
MODULES         += tools/view
tools/view.src  := graphviz.c health.c jobs.c jobs_show.c monitor.c past.c stacks.c \
		stacks_show.c top_sample.c top_show.c top_json.c top_rank.c top_screen.c \
		top_waits.c top_words.c tree.c tree_order.c
tools/view.uses := common/base common/json common/ring tools/libomis tools/term tools/session
