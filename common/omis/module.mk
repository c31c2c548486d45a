# SPDX-License-Identifier: Apache-2.0
# common/omis: the request language. Pure: bytes in, tree or position and words out.
MODULES          += common/omis
common/omis.src  := arena.c value.c value_parse.c write.c lex.c lex_number.c lex_string.c request.c \
		    status.c token.c catalogue.c catalogue_doc.c services_node.c services_proc.c \
		    services_thread.c services_misc.c services_pa.c services_trace.c services_omig.c services_users.c services_job.c services_dfg.c check.c bind.c \
		    reply.c reply_merge.c reply_json.c
common/omis.uses := common/base
common/omis.libs := -lm
