# SPDX-License-Identifier: Apache-2.0
# libapp/match: numbers of messages in their channels, and ids that both ends compute
# -fno-stack-protector: the canary would be the dearest part of a count.
libapp.inside         := -fno-stack-protector -U_FORTIFY_SOURCE
MODULES               += libapp/match
libapp/match.src      := comms.c key.c receives.c sends.c
libapp/match.uses     := common/base
libapp/match.cflags   := $(libapp.inside)
libapp/match.hot      := comms.o key.o receives.o sends.o
libapp/match.hot_allow := libapp/hot/hot.allow
