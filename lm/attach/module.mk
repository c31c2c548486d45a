# SPDX-License-Identifier: Apache-2.0
# lm/attach: registration: the way of a rank's segment to the lm.
# circle: registration.c registration_socket.c: one module over two files
MODULES += lm/attach
lm/attach.src := chosen.c closer.c registration.c registration_socket.c
lm/attach.uses := common/base common/container common/ring common/loop lm/host lm/proc \
		lm/instrument
