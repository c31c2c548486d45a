# SPDX-License-Identifier: Apache-2.0
# sm/csr: conditional requests of this site, one part for each branch.
MODULES += sm/csr
sm/csr.src := csr.c csr_fire.c csr_part.c
sm/csr.uses := common/base common/container common/omis/text common/omis/services \
		common/omis/reply common/omis common/loop proto common/route tree sm/hosts
