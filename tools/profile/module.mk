# SPDX-License-Identifier: Apache-2.0
# tools/profile: profiles by call, rank, node, partner, call site and size, made of replies.
MODULES            += tools/profile
tools/profile.src  := profile.c profile_ask.c profile_past.c profile_show.c profile_write.c
tools/profile.uses := common/base common/json stats tools/libomis tools/term tools/session
