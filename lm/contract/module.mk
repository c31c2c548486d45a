# SPDX-License-Identifier: Apache-2.0
# lm/contract: interactions of this host as contracted arcs, as one more source of events.
MODULES += lm/contract
lm/contract.src := contract.c contract_site.c
lm/contract.uses := common/base common/container common/loop common/omis/text common/omis/reply \
		common/time common/ring proto eventlog eventlog/text interaction interaction/form \
		interaction/set interaction/online lm/proc lm/instrument lm/csr
