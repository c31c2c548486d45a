# SPDX-License-Identifier: Apache-2.0
# libapp/vertex: vertices of interaction networks, of the messages that a rank sends and receives
MODULES                += libapp/vertex
libapp/vertex.src      := announce.c channels.c groups.c lock.c meets.c messages.c put.c
libapp/vertex.uses     := common/base common/ring libapp/match libapp/hot
libapp/vertex.cflags   := $(libapp.inside)
libapp/vertex.hot      := channels.o groups.o lock.o meets.o messages.o put.o
libapp/vertex.hot_allow := libapp/hot/hot.allow
libapp/vertex.statics  := channels.c:sends channels.c:receives lock.c:messages \
		put.c:vertex_number put.c:missed
