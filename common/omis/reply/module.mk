# SPDX-License-Identifier: Apache-2.0
# common/omis/reply: replies: entries and coverage, added, merged, written as JSON.
MODULES                += common/omis/reply
common/omis/reply.src  := reply.c reply_json.c reply_merge.c
common/omis/reply.uses := common/base common/json common/omis/text common/omis/services
