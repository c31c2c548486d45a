# SPDX-License-Identifier: Apache-2.0
# proto: frames, the wire form of messages, the guard before decoding. The one room that sees
# generated protobuf code.
MODULES     += proto
proto.src   := frame.c guard.c convert.c msg.c
proto.proto := omig.proto
proto.gen   := $(B)/gen/proto/messages.h $(B)/gen/proto/table.c
proto.pkgs  := libprotobuf-c
proto.uses  := common/base

$(B)/gen/proto/messages.h: proto/omig.proto proto/messages.awk
	$(call say,AWK)mkdir -p $(@D) && awk -v out=structs -f proto/messages.awk $< >$@
$(B)/gen/proto/table.c: proto/omig.proto proto/messages.awk
	$(call say,AWK)mkdir -p $(@D) && awk -v out=table -f proto/messages.awk $< >$@
