# SPDX-License-Identifier: Apache-2.0
# sim/rogues: daemons and tools that lie.
MODULES         += sim/rogues
sim/rogues.src  := lies.c lies_words.c lies_dice.c rogue.c roguetool.c
sim/rogues.uses := common/base common/omis/text common/omis/reply proto common/net common/link \
		sim/world sim/nodes
