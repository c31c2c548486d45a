# SPDX-License-Identifier: Apache-2.0
# The numbers of system calls, as the compiler defines them -> the table of syscalls.h.
BEGIN {
	print "#include \"common/tracer/syscalls.h\""
	print "#include <sys/syscall.h>"
	print "#include <stddef.h>"
	print "const struct syscall_name syscall_names[] = {"
}
/^#define SYS_[a-z0-9_]+ __NR_/ { print "\t{ \"" substr($2, 5) "\", " $2 " }," }
END { print "\t{ NULL, 0 },\n};" }
