# SPDX-License-Identifier: Apache-2.0
# common/omis/reply: replies: entries and coverage, added, merged.
MODULES                += common/omis/reply
common/omis/reply.src  := reply.c reply_merge.c
common/omis/reply.uses := common/base common/omis/text common/omis/services
