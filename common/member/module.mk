# SPDX-License-Identifier: Apache-2.0
# common/member: certificates: enrolment, renewal, revocation, and the way to a parent.
MODULES         += common/member
common/member.src  := enrol.c join.c parent.c renew.c server_link.c
common/member.uses := common/base common/loop proto common/net common/link
