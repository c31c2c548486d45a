# SPDX-License-Identifier: Apache-2.0
# A preprocessed mpi.h -> a wrapper for each function that it declares, in C and Fortran (mpif.h,
# `use mpi`). Parameters are called p1, p2 ...; what a call moves say the macros AFTER_X of tally.c.

!/^#/ { text = text " " $0 }

# declared[i] and kind[i] of "const int counts[]": "const int p4[]" and "int[]"
function take_parameter(i, decl,    tail, brackets, type)
{
	gsub(/^[ \t]+|[ \t]+$/, "", decl)
	match(decl, /[A-Za-z_0-9]+[ \t]*(\[[^]]*\])*$/)
	tail = substr(decl, RSTART)
	type = substr(decl, 1, RSTART - 1)
	brackets = index(tail, "[") ? substr(tail, index(tail, "[")) : ""
	declared[i] = type " p" i brackets
	kind[i] = type brackets
	gsub(/const|[ \t]/, "", kind[i])
}

# Fortran's argument i as a rule sees it: as in C.
function as_in_c(i,    t)
{
	t = kind[i]
	if (t == "int") return "int p" i " = int_of(f" i ");"
	if (t ~ /^MPI_(Aint|Offset|Count)$/) return t " p" i " = *(" t " *)f" i ";"
	if (t == "MPI_Datatype") return t " p" i " = PMPI_Type_f2c(int_of(f" i "));"
	if (t ~ /^MPI_(Comm|Win)$/) return t " p" i " = P" t "_f2c(int_of(f" i "));"
	if (t == "void*") return "void *p" i " = buffer_of(f" i ");"
	return "void *p" i " = f" i ";"
}

# In front of a call with a rule. As many statuses as requests: p1, where these are an array.
function prepare(name, letter,    count)
{
	if (!requests && !status)
		return
	count = kind[requests] !~ /\[/ ? 1 : letter == "p" ? "p1" : "int_of(f1)"
	print "#ifdef AFTER_" name
	if (requests) print "\tcall_requests(&t, " letter requests ", " count ");"
	if (status) print "\t" letter status " = call_status(&t, " letter status ", " count ");"
	print "#endif"
}

function emit(name, list,    n, part, i, c, cargs, f, fargs, lengths, lengthargs, locals, low)
{
	requests = status = kind[0] = 0
	n = list ~ /^[ \t]*void[ \t]*$/ ? 0 : split(list, part, ",")
	for (i = 1; i <= n; i++) {
		take_parameter(i, part[i])
		c = c (i > 1 ? ", " : "") declared[i]
		cargs = cargs (i > 1 ? ", " : "") "p" i
		f = f "void *f" i ", "
		fargs = fargs "f" i ", "
		locals = locals "\t\t" as_in_c(i) "\n"
		if (kind[i] ~ /^char\*/) {
			lengths = lengths ", size_t l" i
			lengthargs = lengthargs ", l" i
		}
		if (kind[i] ~ /^MPI_Status(\*|\[\])$/) status = i
		if (kind[i] ~ /^MPI_Request(\*|\[\])$/) requests = i
	}
	print "int MPI_" name "(" (n ? c : "void") ")\n{\n\tstruct call t = call_open(ID_" \
		name ", IN_C);\n\tint rc;\n"
	prepare(name, "p")
	print "\trc = PMPI_" name "(" cargs ");"
	print "#ifdef AFTER_" name "\n\tif (call_moves(&t, rc)) {\n\t\tAFTER_" name "\n\t}\n#endif"
	print "\tcall_close(&t);\n\treturn rc;\n}\n"

	low = tolower(name) "_"
	print "void pmpi_" low "(" f "void *ierr" lengths ") __attribute__((weak));"
	print "void mpi_" low "(" f "void *ierr" lengths ");"
	print "void mpi_" low "(" f "void *ierr" lengths ")\n{\n\tstruct call t = call_open(ID_" \
		name ", IN_FORTRAN);\n"
	prepare(name, "f")
	print "\tpmpi_" low "(" fargs "ierr" lengthargs ");"
	print "#ifdef AFTER_" name "\n\tif (call_moves(&t, int_of(ierr))) {\n" locals \
		"\n\t\tAFTER_" name "\n\t}\n#endif"
	print "\tcall_close(&t);\n}\n"
}

END {
	while (match(text, /[ \t]int[ \t]+MPI_[A-Z][A-Za-z0-9_]*[ \t]*\([^()]*\)/)) {
		name = list = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		sub(/^[ \t]*int[ \t]+MPI_/, "", name)
		sub(/[ \t]*\(.*/, "", name)
		sub(/^[^(]*\(/, "", list)
		sub(/\)$/, "", list)
		# Not of the usual kind: the interface for tools, conversions, variable arguments.
		if (name ~ /^T_|2f$|2c$|2f08$/ || list ~ /\.\.\./ || name in lists)
			continue
		names[++count] = name
		lists[name] = list
	}
	print "enum {"
	for (k = 1; k <= count; k++)
		print "\tID_" names[k] ","
	print "};\nstatic const char *const names[] = {"
	for (k = 1; k <= count; k++)
		print "\t\"MPI_" names[k] "\","
	print "};\n"
	for (k = 1; k <= count; k++)
		emit(names[k], lists[names[k]])
}
