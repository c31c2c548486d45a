# SPDX-License-Identifier: Apache-2.0
# pmsl/text: the text of metrics: words, types, units, parsed trees, diagnoses.
MODULES        += pmsl/text
pmsl/text.src  := diag.c lex.c parse.c parse_expr.c parse_word.c source.c tree.c type.c unit.c
pmsl/text.uses := common/base common/omis/text
pmsl/text.libs := -lm
