# SPDX-License-Identifier: Apache-2.0
# tools/interaction: interaction networks of files: read, shown, split and compared.
MODULES                += tools/interaction
tools/interaction.src  := netcompare.c netdump.c netfiles.c \
			  netjob.c netread.c netset.c netshow.c netstage.c netsum.c \
			  netwatch.c
tools/interaction.uses := common/base common/cli common/container common/json stats eventlog \
		eventlog/text eventlog/sort eventlog/lifeline eventlog/archive interaction \
		interaction/weave \
		interaction/form interaction/set interaction/picture interaction/online \
		common/omis/text tools/term tools/session tools/events
