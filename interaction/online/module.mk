# SPDX-License-Identifier: Apache-2.0
# interaction/online: networks contracted where their events are born, and added up above.
MODULES                 += interaction/online
interaction/online.src  := netchains.c netpieces.c netfold.c netdecide.c netcontract.c \
			   netarc.c netsenders.c netspec.c netonline.c
interaction/online.uses := common/base common/container stats interaction interaction/set
