# SPDX-License-Identifier: Apache-2.0
# tools/launch: the start of mainsm, an lm and the program by omig run.
MODULES           += tools/launch
tools/launch.src  := beside.c launch.c launch_lm.c launch_probe.c launch_mainsm.c launch_program.c \
		  launch_token.c supervise.c
tools/launch.uses := common/base common/ring common/omis/text common/omis common/net \
		common/link common/daemon tools/libomis
