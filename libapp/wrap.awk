# SPDX-License-Identifier: Apache-2.0
# common/ring/calls.def -> wrappers: -v out=c, f (mpif.h, use mpi) or f08 (use mpi_f08).
# Functions of rule @ have wrappers of their own (init.c).

function ctype(k)
{
	if (k == "i" || k == "n" || k == "d" || k == "r" || k == "g") return "int "
	if (k == "a") return "intptr_t "
	if (k == "o") return "int64_t "
	if (k ~ /[bqusS]/) return "void *"
	return "uintptr_t "
}

# Value of C argument p of kind k, as 64 bits. In Fortran all are addresses.
function value(p, k)
{
	if (out == "c") {
		if (k ~ /[bqusS]/) return "(int64_t)(uintptr_t)" p
		return "(int64_t)" p
	}
	if (k ~ /[bqusS]/) return "(int64_t)(uintptr_t)" p
	if (k ~ /[indrg]/) return "f_int(" p ")"
	if (k ~ /[ao]/) return "f_wide(" p ")"
	return "args_from_fortran(" kindname[k] ", " p ")"
}

BEGIN {
	kindname["t"] = "CALL_P_TYPE"; kindname["c"] = "CALL_P_COMM"; kindname["w"] = "CALL_P_WIN"
	kindname["f"] = "CALL_P_FILE"; kindname["h"] = "CALL_P_HANDLE"
	print "/* SPDX-License-Identifier: Apache-2.0 */\n/* Generated from common/ring/calls.def by libapp/wrap.awk. */"
	print "#include \"libapp/wrap.h\"\n"
	members = ""
}

/^#/ || NF == 0 || $3 == "@" { next }

{
	name = $1; volume = $3; n = NF - 3
	strings = 0; status = 0; completes = 0
	sig = ""; call = ""; fill = ""
	for (i = 4; i <= NF; i++) {
		split($i, p, ":")
		a = "a_" p[1]; k = p[2]
		sig = sig (i > 4 ? ", " : "") (out == "c" ? ctype(k) : "void *") a
		call = call (i > 4 ? ", " : "") a
		fill = fill sprintf("\t\ta.par[%d] = %s;\n", i - 4, value(a, k))
		if (k == "s") strings++
		if (k == "S") strings++
		if (k == "u") status = i - 3
		if (k == "u") status_name = a
		if (k == "b") buffers = 1
	}
	completes = volume ~ /^(wait|test|start|request_free)/
	if (out == "c")
		emit("MPI_" name, name, "", "c")
	else if (out == "f")
		emit("mpi_" tolower(name) "_", name, "", "f")
	else {
		emit("mpi_" tolower(name) "_f08_", name, "_f08", "f")
		if (sig ~ /void \*a_(buf|buffer|sendbuf|recvbuf|origin|result|compare|base|inbuf|outbuf|inoutbuf)/)
			emit("mpi_" tolower(name) "_f08ts_", name, "_f08ts", "f")
	}
}

function emit(symbol, name, suffix, how,    s, c, r, i, id, lang)
{
	id = name suffix
	s = sig; c = call
	if (how == "f") {
		s = s (s == "" ? "" : ", ") "void *a_ierr"; c = c (c == "" ? "" : ", ") "a_ierr"
		for (i = 0; i < strings; i++) { s = s ", uintptr_t a_len" i; c = c ", a_len" i }
	}
	if (s == "") s = "void"
	r = how == "c" ? "int" : "void"
	lang = how == "c" ? "LANG_C" : out == "f" ? "LANG_F" : suffix == "_f08ts" ? "LANG_TS" : "LANG_F08"
	members = members sprintf("\t%s (*%s)(%s);\n", r, id, s)
	inits = inits sprintf("\t.%s = resolve_%s,\n", id, id)
	protos = protos sprintf("static %s resolve_%s(%s);\n", r, id, s)
	body = body sprintf("static %s resolve_%s(%s)\n{\n", r, id, s)
	body = body sprintf("\tvoid *f = real_find(\"%s\", \"%s\");\n\n", symbol, profiling(symbol))
	if (how == "f" && suffix == "_f08ts")
		body = body sprintf("\tif (!f)\n\t\tf = real_find(\"pmpir_%s_f08ts_\", \"pmpir_%s_f08ts_\");\n", tolower(name), tolower(name))
	if (how == "c")
		body = body "\tif (!f)\n\t\treturn REAL_MISSING;\n"
	else
		body = body "\tif (!f) {\n\t\tf_missing(a_ierr);\n\t\treturn;\n\t}\n"
	body = body sprintf("\t__atomic_store_n((void **)&real.%s, f, __ATOMIC_RELAXED);\n", id)
	body = body sprintf("\t%sREAL(%s)(%s);\n}\n\n", how == "c" ? "return " : "", id, c)
	resolves = resolves sprintf("\twrap_look(\"%s\", \"%s\", (void **)&real.%s);\n", symbol, profiling(symbol), id)

	body = body sprintf("static __attribute__((noinline)) %s active_%s(%s)\n{\n\tstruct hook_args a;\n\tstruct hook h;\n", r, id, s)
	if (completes) body = body "\tstruct wait_set wait;\n"
	if (how == "c") body = body "\tint rc;\n"
	body = body sprintf("\n\tif (!hook_enter(&h, CALL_ID_%s, hook_frame()))", name)
	if (how == "c") body = body sprintf("\n\t\treturn REAL(%s)(%s);\n", id, c)
	else body = body sprintf(" {\n\t\tREAL(%s)(%s);\n\t\treturn;\n\t}\n", id, c)
	body = body "\tif (h.word & HOOK_ARGS) {\n" fill "\t\ta.lang = " lang ";\n\t\ta.wait = " (completes ? "&wait" : "NULL") ";\n\t\thook_prepare(&h, &a);\n"
	if (status)
		body = body sprintf("\t\t%s = (void *)(uintptr_t)a.par[%d];\n", status_name, status - 1)
	body = body "\t}\n\thook_begin(&h);\n"
	body = body sprintf("\t%sREAL(%s)(%s);\n", how == "c" ? "rc = " : "", id, c)
	body = body sprintf("\thook_leave(&h, %s);\n%s}\n\n", how == "c" ? "rc" : "f_result(a_ierr)", how == "c" ? "\treturn rc;\n" : "")

	body = body sprintf("%s %s(%s);\nEXPORT %s %s(%s)\n{\n", r, symbol, s, r, symbol, s)
	before = volume == "forget" ? "\tcomm_forget_all();\n" : volume == "finalize" ? "\tsetup_finalize();\n" : ""
	if (how == "c") {
		# A statement must not stand before the declarations.
		body = body (before == "" ? c_body(name, id, c) : "\t{\n" before "\t}\n" c_body(name, id, c))
	} else {
		body = body before sprintf("\tif (HOOK_IS_ON(CALL_ID_%s))\n\t\tactive_%s(%s);\n\telse\n\t\tREAL(%s)(%s);\n}\n\n", name, id, c, id, c)
		if (out == "f") {
			alias(tolower("mpi_" name), symbol, s)
			alias(tolower("mpi_" name) "__", symbol, s)
			alias(toupper("mpi_" name), symbol, s)
		}
	}
}

function begin_call_end(name, id, c, way)
{
	return "\t\thook_" way "_begin(slot, hook_frame());\n" \
	       "\t\trc = REAL(" id ")(" c ");\n\t\thook_" way "_end(slot);\n\t\treturn rc;\n"
}

# The exported C function, but for what needs the arguments: active_X.
function c_body(name, id, c)
{
	return "\tuint32_t word = hook_read(CALL_ID_" name ");\n\tstruct seg_slot *slot = NULL;\n\tint rc;\n\n" \
	       "\tif (__builtin_expect(!word, 1))\n\t\treturn REAL(" id ")(" c ");\n" \
	       "\tswitch (hook_way(CALL_ID_" name ", word, &slot)) {\n" \
	       "\tcase HOOK_WAY_COUNT:\n" begin_call_end(name, id, c, "count") \
	       "\tcase HOOK_WAY_TIME:\n" begin_call_end(name, id, c, "time") \
	       "\tdefault:\n\t\treturn active_" id "(" c ");\n\t}\n}\n\n"
}

function alias(symbol, target, s)
{
	body = body sprintf("void %s(%s);\nEXPORT void %s(%s) __attribute__((alias(\"%s\")));\n\n", symbol, s, symbol, s, target)
}

function profiling(symbol) { return symbol ~ /^MPI/ ? "P" symbol : "p" symbol }

END {
	print protos
	print "static struct {\n" members "} real = {\n" inits "};\n"
	print body
	if (out == "c")
		print "void wrap_resolve_all(void)\n{\n" resolves "}"
}
