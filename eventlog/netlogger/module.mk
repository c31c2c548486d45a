# SPDX-License-Identifier: Apache-2.0
# eventlog/netlogger: NetLogger's own calls, for programs that have them.
MODULES                    += eventlog/netlogger
eventlog/netlogger.src     := netlogger.c nlog.c nlurl.c nlformat.c nltransfer.c
eventlog/netlogger.uses    := common/base common/inproc eventlog eventlog/text eventlog/send
eventlog/netlogger.shared  := libomig-netlogger
eventlog/netlogger.typed   := libomig-netlogger
eventlog/netlogger.typed_by := netlogger.h
eventlog/netlogger.anywhere := libomig-netlogger
eventlog/netlogger.keep.libomig-netlogger := NetLogger* NL_*
eventlog/netlogger.pc      := omig-netlogger.pc.in
# Handles that are open, for the helper; the tag of all handles; NetLogger's own variables.
eventlog/netlogger.statics := nlog.c:all netlogger.c:global_tag netlogger.c:NL_file_append \
		nlurl.c:NL_file_mode \
			      nlog.c:NL_flush_on
eventlog/netlogger.install  = $(foreach h,netlogger.h NetLogger.h nl.h nl_log.h nlsumm.h \
		nltransfer.h,\
	eventlog/netlogger/netlogger.h:$(includedir)/omig/netlogger/$h)
$(B)/lib/libomig-netlogger.so: BASE_LDFLAGS += -Wl,-z,nodelete
