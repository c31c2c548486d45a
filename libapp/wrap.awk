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

# Stores what an observer may need to know of the call: partners, tags, communicator, window or
# file.
function noted(p, k,    member, cast)
{
	if (k == "d") member = peers++ ? "source" : "peer"
	else if (k == "g") member = tags++ ? "source_tag" : "tag"
	else if (k ~ /[cwf]/) member = "comm"
	else return ""
	cast = k ~ /[dg]/ ? "(int32_t)" : "(uint64_t)"
	if (out != "c") p = "f_int(" p ")"
	return sprintf("\tHOOK_NOTE(now, %s, %s%s);\n", member, cast, p)
}

BEGIN {
	kindname["t"] = "CALL_P_TYPE"; kindname["c"] = "CALL_P_COMM"; kindname["w"] = "CALL_P_WIN"
	kindname["f"] = "CALL_P_FILE"; kindname["h"] = "CALL_P_HANDLE"
	kindname["Q"] = "CALL_P_REQUEST"
	print "/* SPDX-License-Identifier: Apache-2.0 */"
	print "/* Generated from common/ring/calls.def by libapp/wrap.awk. */"
	print "#include \"libapp/wrap.h\"\n"
	members = ""
}

/^#/ || NF == 0 || $3 == "@" { next }

{
	name = $1; volume = $3; n = NF - 3
	take(0)
	# Blocking collective calls are numbered (libapp/hot/hook.h).
	numbered = $2 ~ /^(collective|barrier)$/ && name !~ /^(I[a-z]|Neighbor_)|_init$/
	completes = volume ~ /^(wait|test|start|request_free)/
	# Persistent requests are known whenever they were made, in calls that are not watched too
	# (hook.h).
	kept = name ~ /_init$/ ? "made" : volume == "request_free" ? "freed" : ""
	emit_all("mpi", "")
	# Open MPI 4 has them under names of its own.
	if (name ~ /_init$/ && $2 ~ /^(collective|barrier)$/)
		emit_all("mpix", "_x")
	if (has_large()) {
		take(1)
		emit_large()
	}
}

# MPI-4 has a second function for each with counts: MPI_X_c, with counts of 64 bits.
function has_large(    i)
{
	for (i = 4; i <= NF; i++)
		if ($i ~ /:n$|counts:b$|disp_unit:i$/)
			return 1
	return name ~ /^Buffer_/
}

# Kind of a parameter; large: of the function with counts of 64 bits.
function kind_of(param, k, large)
{
	if (large && (k == "n" || (k == "i" && param ~ /count$|size$|disp_unit$/)))
		return "o"
	return k
}

# The line's parameters, for emit().
function take(large,    i, p, a, k)
{
	strings = 0; status = 0
	sig = ""; call = ""; fill = ""; note = ""; peers = 0; tags = 0
	for (i = 4; i <= NF; i++) {
		split($i, p, ":")
		a = "a_" p[1]; k = kind_of(p[1], p[2], large)
		sig = sig (i > 4 ? ", " : "") (out == "c" ? ctype(k) : "void *") a
		call = call (i > 4 ? ", " : "") a
		fill = fill sprintf("\t\ta.par[%d] = %s;\n", i - 4, value(a, k))
		note = note noted(a, k)
		if (k == "s" || k == "S") strings++
		if (k == "u") status = i - 3
		if (k == "u") status_name = a
	}
	fill = fill "\t\ta.is_wide = " (large ? "true" : "false") ";\n"
}

# In Fortran as MPICH names them, with descriptors of buffers; it has none for files.
function emit_large(    suffix)
{
	prefix = "mpi"
	suffix = name ~ /^(Buffer_detach|Win_allocate)/ ? "_f08_large" : "_f08ts_large"
	if (out == "c")
		emit("MPI_" name "_c", name, "_c", "c")
	else if (out == "f08" && name !~ /^File_/)
		emit("mpi_" tolower(name) suffix "_", name, suffix, "f")
}

function emit_all(lib, suffix)
{
	prefix = lib
	if (out == "c")
		emit(toupper(lib) "_" name, name, suffix, "c")
	else if (out == "f")
		emit(lib "_" tolower(name) "_", name, suffix, "f")
	else {
		emit(lib "_" tolower(name) "_f08_", name, suffix "_f08", "f")
		if (has_buffer())
			emit(lib "_" tolower(name) "_f08ts_", name, suffix "_f08ts", "f")
	}
}

function has_buffer()
{
	return sig ~ "void \\*a_(buf|buffer|sendbuf|recvbuf|origin|result|compare|base|inbuf|" \
		     "outbuf|inoutbuf)"
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
	lang = how == "c" ? "LANG_C" : out == "f" ? "LANG_F" : \
	       suffix ~ /_f08ts/ ? "LANG_TS" : "LANG_F08"
	members = members sprintf("\t%s (*%s)(%s);\n", r, id, s)
	inits = inits sprintf("\t.%s = resolve_%s,\n", id, id)
	protos = protos sprintf("static %s resolve_%s(%s);\n", r, id, s)
	body = body sprintf("static %s resolve_%s(%s)\n{\n", r, id, s)
	body = body sprintf("\tvoid *f = real_find(\"%s\", \"%s\");\n\n", symbol, profiling(symbol))
	if (how == "f" && suffix ~ /_f08ts/) {
		mpir = "\"pmpir_" tolower(name) suffix "_\""
		body = body "\tif (!f)\n\t\tf = real_find(" mpir ", " mpir ");\n"
	}
	if (how == "c")
		body = body "\tif (!f)\n\t\treturn REAL_MISSING;\n"
	else
		body = body "\tif (!f) {\n\t\tf_missing(a_ierr);\n\t\treturn;\n\t}\n"
	body = body sprintf("\t__atomic_store_n((void **)&real.%s, f, __ATOMIC_RELAXED);\n", id)
	body = body sprintf("\t%sREAL(%s)(%s);\n}\n\n", how == "c" ? "return " : "", id, c)
	look = sprintf("\twrap_look(\"%s\", \"%s\", (void **)&real.%s);\n", symbol, \
		       profiling(symbol), id)
	if (suffix == "_c") large = large "\t" look
	else resolves = resolves look

	mark = "HOOK_CALL(CALL_ID_" name ", " (how == "c" ? "0" : "SEG_CURRENT_FORTRAN") ", "
	body = body sprintf("static __attribute__((noinline)) %s active_%s(%s)\n{\n", r, id, s) \
	       "\tstruct hook_args a;\n\tstruct hook h;\n"
	if (completes) body = body "\tstruct wait_set wait;\n"
	if (numbered) body = body "\tuint64_t number;\n"
	body = body "\tstruct seg_current *now;\n"
	if (how == "c") body = body "\tint rc;\n"
	body = body sprintf("\n\tif (!hook_enter%s(&h, CALL_ID_%s, hook_frame()))", \
			    kept == "" ? "" : "_kept", name)
	missed = numbered ? "\t\tcollective_miss();\n" : ""
	body = body " {\n" missed
	if (how == "c") body = body sprintf("\t\treturn REAL(%s)(%s);\n\t}\n", id, c)
	else body = body sprintf("\t\tREAL(%s)(%s);\n\t\treturn;\n\t}\n", id, c)
	body = body "\tnow = hook_thread.now;\n" note
	body = body "\thook_watch(&h, now, " mark "h.seen), hook_frame());\n"
	if (numbered) body = body "\tcollective_begin(&h, COLLECTIVE_" name ");\n"
	body = body "\tif (h.word & HOOK_ARGS) {\n" fill "\t\ta.lang = " lang ";\n"
	body = body "\t\ta.wait = " (completes ? "&wait" : "NULL") ";\n\t\thook_prepare(&h, &a);\n"
	if (status)
		body = body sprintf("\t\t%s = (void *)(uintptr_t)a.par[%d];\n", status_name, \
				    status - 1)
	body = body "\t}\n\thook_begin(&h);\n"
	body = body sprintf("\t%sREAL(%s)(%s);\n", how == "c" ? "rc = " : "", id, c)
	if (numbered)
		body = body sprintf("\tnumber = collective_%snumber(now, COLLECTIVE_%s, %s);\n", \
				    how == "c" ? "" : "f_", name, \
				    how == "c" ? "rc" : "f_result(a_ierr)") \
		       "\tif (number && h.word & HOOK_KEYED)\n" \
		       "\t\tprobe_collective(COLLECTIVE_" name ", number, h.begin);\n"
	body = body sprintf("\thook_leave(&h, %s);\n%s}\n\n", \
			    how == "c" ? "rc" : "f_result(a_ierr)", \
			    how == "c" ? "\treturn rc;\n" : "")

	if (how == "c" && kept == "") body = body timed(name, id, s, c)
	if (kept == "made") body = body keep(name, id, s, c, lang)
	body = body sprintf("%s %s(%s);\nEXPORT %s %s(%s)\n{\n", r, symbol, s, r, symbol, s) \
	       "\tstruct seg_current *now = hook_thread.now;\n"
	before = volume == "forget" ? "comm_forget_all();" : \
		 volume == "finalize" ? "setup_finalize();" : ""
	# A statement must not stand before the declarations.
	if (before != "") before = "\t{\n\t\t" before "\n\t}\n"
	if (how == "c")
		body = body before c_body(name, id, c)
	else {
		body = body before f_body(name, id, c, lang)
		if (out == "f") {
			alias(tolower(prefix "_" name), symbol, s)
			alias(tolower(prefix "_" name) "__", symbol, s)
			alias(toupper(prefix "_" name), symbol, s)
		}
	}
}

# A call in a way that needs its arguments no more than an observer does.
function way(seen, begin, end)
{
	return note "\t\thook_set_call(now, " mark seen "), hook_frame());\n" begin end
}

# Makes a persistent request while the hook is off: what it moves later is noted behind the call.
function keep(name, id, s, c, lang,    is_c, begin, behind)
{
	is_c = lang == "LANG_C"
	begin = "static __attribute__((noinline)) " (is_c ? "int" : "void") \
		" keep_" id "(" s ")\n{\n" \
		"\tstruct seg_current *now = hook_thread.now;\n" \
		"\tstruct hook_args a;\n\tint rc;\n\n"
	behind = "\tif (rc == 0) {\n" fill "\t\ta.lang = " lang ";\n" \
		"\t\ta.func = CALL_ID_" name ";\n\t\targs_keep(&a);\n\t}\n"
	return begin way("0", "", "\t" (is_c ? "rc = " : "") "REAL(" id ")(" c ");\n") \
	       (is_c ? "" : "\trc = f_result(a_ierr);\n") behind \
	       "\t" (is_c ? "return " : "") "hook_end(now, CALL_ID_" name ", 0, rc);\n}\n\n"
}

# Frees a request while the hook is off: before MPI does, and another thread has the handle.
function freed(lang)
{
	if (kept != "freed")
		return ""
	return "\tif (__builtin_expect(!requests_are_none(), 0)) {\n" \
	       "\t\targs_freed(a_request, " lang ");\n\t}\n"
}

# The hook is off: REAL is called, with what is behind it.
function off_way(name, id, c, real, lang)
{
	return freed(lang) (kept == "made" ? \
		"\t" (lang == "LANG_C" ? "return " : "") "keep_" id "(" c ");\n}\n\n" : \
		way("0", "", real))
}

function busy(name)
{
	return numbered ? "collective_busy(now, CALL_ID_" name ", COLLECTIVE_" name ")" : \
			  "hook_busy(now, CALL_ID_" name ")"
}

function is_on(name)
{
	return "__builtin_expect(" busy(name) " != 0, 0)"
}

# The call of the real C function: it counts behind it.
function run(name, id, c)
{
	return numbered ? "collective_ran(now, COLLECTIVE_" name ", REAL(" id ")(" c "))" : \
			  "REAL(" id ")(" c ")"
}

# The way that takes registers of the arguments for the clock. It is a function of its own, so that
# the others keep theirs.
function timed(name, id, s, c,    slot)
{
	slot = "hook_slot(now, CALL_ID_" name ")"
	return "static __attribute__((noinline)) int timed_" id "(" s ")\n{\n" \
	       "\tstruct seg_current *now = hook_thread.now;\n\tint rc;\n\n" \
	       way("HOOK_TIME", "\t\thook_time_begin(" slot ");\n", \
		   "\t\trc = " run(name, id, c) ";\n" \
		   "\t\thook_check(CALL_ID_" name ", HOOK_COUNT | HOOK_TIME);\n" \
		   "\t\thook_time_end(now, CALL_ID_" name ");\n\t\treturn rc;\n}\n\n")
}

# The exported C function. It needs no other register across the call than that of `now`.
function c_body(name, id, c,    count, slot, real)
{
	slot = "hook_slot(now, CALL_ID_" name ")"
	count = "\t\thook_count(" slot ");\n"
	real = run(name, id, c)
	if (kept != "")
		return "\n\tif (" is_on(name) ") {\n\t\tHOOK_FROM_HERE();\n\t\treturn active_" id \
		       "(" c ");\n\t}\n" \
		       off_way(name, id, c, "\treturn hook_end(now, CALL_ID_" name ", 0, " \
					    real ");\n}\n\n", "LANG_C")
	return "\tuint64_t busy = " busy(name) ";\n\tint rc;\n\n" \
	       "\tif (__builtin_expect(!busy, 1)) {\n" \
	       way("0", "", "\t\treturn hook_end(now, CALL_ID_" name ", 0, " real ");\n\t}\n") \
	       "\tswitch (hook_way(busy)) {\n\tcase HOOK_WAY_COUNT:\n" \
	       way("HOOK_COUNT", count, \
		   "\t\treturn hook_end(now, CALL_ID_" name ", HOOK_COUNT, " real ");\n") \
	       "\tcase HOOK_WAY_SKIP:\n" \
	       way("HOOK_TIME", count, \
		   "\t\trc = " real ";\n" \
		   "\t\thook_check(CALL_ID_" name ", hook_thread.sample_word);\n" \
		   "\t\thook_set_frame(now, 0);\n\t\treturn rc;\n") \
	       "\tcase HOOK_WAY_TIME:\n\t\treturn timed_" id "(" c ");\n" \
	       "\tdefault:\n\t\tHOOK_FROM_HERE();\n\t\treturn active_" id "(" c ");\n\t}\n}\n\n"
}

function f_body(name, id, c, lang)
{
	return "\n\tif (" is_on(name) ") {\n\t\tHOOK_FROM_HERE();\n\t\tactive_" id "(" c \
	       ");\n\t\treturn;\n\t}\n" \
	       off_way(name, id, c, "\tREAL(" id ")(" c ");\n" \
				    (numbered ? "\tcollective_f_ran(now, COLLECTIVE_" name \
						", f_result(a_ierr));\n" : "") \
				    "\thook_end(now, CALL_ID_" name ", 0, 0);\n}\n\n", lang)
}

function alias(symbol, target, s)
{
	body = body sprintf("void %s(%s);\n", symbol, s)
	body = body sprintf("EXPORT void %s(%s) __attribute__((alias(\"%s\")));\n\n", symbol, s, \
			    target)
}

function profiling(symbol) { return symbol ~ /^MPI/ ? "P" symbol : "p" symbol }

END {
	print protos
	print "static struct {\n" members "} real = {\n" inits "};\n"
	print body
	if (out == "c")
		print "void wrap_resolve_all(void)\n{\n" resolves \
		      "\tif (real_find(\"MPI_Send_c\", \"PMPI_Send_c\")) {\n" large "\t}\n}"
}
