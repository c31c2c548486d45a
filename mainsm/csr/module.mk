# SPDX-License-Identifier: Apache-2.0
# mainsm/csr: conditional requests: parts for each site, and their actions.
# circle: csr.c csr_arm.c csr_fire.c csr_part.c: one module over its files
MODULES += mainsm/csr
mainsm/csr.src := csr.c csr_arm.c csr_fire.c csr_hold.c csr_part.c
mainsm/csr.uses := common/base common/container common/time common/omis/text \
		common/omis/services common/omis/reply common/omis common/loop proto \
		common/route tree mainsm/directory mainsm/tool
