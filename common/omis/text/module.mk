# SPDX-License-Identifier: Apache-2.0
# common/omis/text: the text of requests: values, names of objects, status words, parsed trees.
MODULES               += common/omis/text
common/omis/text.src  := arena.c lex.c lex_number.c lex_string.c request.c status.c token.c \
		value.c value_parse.c write.c
common/omis/text.uses := common/base
common/omis/text.libs := -lm
