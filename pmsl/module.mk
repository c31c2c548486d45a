# SPDX-License-Identifier: Apache-2.0
# pmsl: the metric language. Text becomes a tree, a checked tree. Pure.
MODULES   += pmsl
pmsl.src  := source.c diag.c lex.c type.c unit.c tree.c parse.c parse_expr.c
pmsl.uses := common/base common/ring common/omis
pmsl.libs := -lm
