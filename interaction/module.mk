# SPDX-License-Identifier: Apache-2.0
# interaction: interaction networks: built, checked, critical paths, states, what-if.
MODULES          += interaction
interaction.src  := netuse.c network.c network_build.c network_order.c netpath.c netnear.c \
		   netretime.c netspent.c netmeter.c netanalysis.c
interaction.uses := common/base common/container
