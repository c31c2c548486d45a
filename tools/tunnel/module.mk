# SPDX-License-Identifier: Apache-2.0
# tools/tunnel: event logs over TLS: a stream of this host and a channel, and a program with both.
MODULES                       += tools/tunnel
tools/tunnel.src              := tunnel.c
tools/tunnel.uses             := common/base common/loop proto common/net common/link \
		common/member tools/libomis
tools/tunnel.programs         := omig-tunnel
tools/tunnel.inner            := omig-tunnel
tools/tunnel.main.omig-tunnel := omig_tunnel_main.c
