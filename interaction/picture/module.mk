# SPDX-License-Identifier: Apache-2.0
# interaction/picture: interaction networks drawn: SVG, pages, Graphviz, trace viewers, spans.
MODULES                  += interaction/picture
interaction/picture.src  := netlayout.c netpage.c netsvg.c nettrace.c
interaction/picture.uses := common/base common/axis common/container common/json \
		    eventlog/lifeline interaction
