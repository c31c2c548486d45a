# SPDX-License-Identifier: Apache-2.0
# pmsl: the metric language: text becomes a checked tree, a template, a graph, pieces. Pure.
MODULES   += pmsl
pmsl.src  := pmsl.c dot.c
pmsl.uses := common/base common/cli pmsl/text pmsl/check pmsl/plan
