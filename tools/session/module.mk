# SPDX-License-Identifier: Apache-2.0
# tools/session: requests to mainsm, and the display of replies.
MODULES            += tools/session
tools/session.src  := node_fields.c object_names.c reply_each.c session.c session_csr.c show.c \
		      site.c waiting.c
tools/session.uses := common/base common/cli common/json common/link tools/libomis tools/term
tools/session.libs := -lm
tools/session.statics := session.c:the_link session.c:the_job
