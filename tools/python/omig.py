# SPDX-License-Identifier: Apache-2.0
"""Ask the Omig monitor from Python: a thin layer over libomis, standard library only.

    import omig

    with omig.connect() as m:
        for process in m.request(":proc_get_info([],1)").action(1):
            print(process.objects, process.values)
        for event in m.follow('thread_has_started_lib_call([],"MPI_Barrier"): print([$proc])', seconds=5):
            print(event.action(1)[0].values)

One connection a process, from one thread, as libomis has it. `python3 -m omig REQUEST...`
sends requests from a shell.
"""
import collections
import ctypes
import os
import re
import select
import sys
import time

__all__ = ["connect", "Monitor", "Reply", "Entry", "Token", "Error", "StatusError", "parse_values", "format_value"]

STATUS = {
    0: "OK", 2: "CSR_DEFINED", 4: "CSR_ENABLED", 6: "CSR_DISABLED", 8: "CSR_DELETED", 10: "CSR_TRIGGERED",
    16: "SYNTAX_ERROR", 18: "UNKNOWN_SERVICE", 20: "UNSUPPORTED_SERVICE", 22: "UNKNOWN_ECP", 24: "UNKNOWN_OBJECT",
    26: "TYPE_MISMATCH", 28: "PARAMETER_ERROR", 30: "OS_ERROR", 32: "NO_PERMISSION", 34: "NO_MEMORY",
    36: "INTERNAL_ERROR", 1000: "UNSPECIFIED_ERROR",
}
_FIRST_ERROR = 16
_TRIGGERED, _DEFINED, _DELETED = 10, 2, 8
_ATTACH_ALL = ":site_attach([]) node_attach([]) proc_attach([])"


class Error(Exception):
    """Whatever this module has to complain about."""


class StatusError(Error):
    """The monitor refused: `status` is the name, `code` the number, `objects` the tokens."""

    def __init__(self, code, text="", objects=()):
        self.code, self.status, self.objects = code, status_name(code), list(objects)
        super().__init__(": ".join(filter(None, [self.status, ",".join(self.objects), text])))


def status_name(code):
    """The name of a status; its lowest bit only says that something was left half changed."""
    return STATUS.get(code & ~1, str(code))


# --- values

class Token(str):
    """The name of an object, as opposed to a string."""

    def __repr__(self):
        return f"Token({str.__repr__(self)})"


_DEPTH_MAX = 16  # as the monitor itself nests
_ESCAPES = {ord(k): v for k, v in zip("abfnrtv\\'\"?", b"\a\b\f\n\r\t\v\\'\"?")}
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdefABCDEF"
_BLANKS = b" \t\n\v\f"
_NUMBER_MAX = 128


class _Parser:
    def __init__(self, text):
        self.text, self.at, self.depth = bytes(text), 0, 0

    def fail(self, what):
        raise ValueError(f"{what} at offset {self.at}")

    def peek(self):
        while self.at < len(self.text) and self.text[self.at] in _BLANKS:
            self.at += 1
        return self.text[self.at] if self.at < len(self.text) else -1

    def take(self, byte):
        if self.peek() != byte:
            return False
        self.at += 1
        return True

    def values(self, closer):
        found = []
        if closer is None and self.peek() < 0 or closer is not None and self.take(closer):
            return found
        while True:
            found.append(self.value())
            if not self.take(ord(",")):
                break
        if closer is None and self.peek() >= 0 or closer is not None and not self.take(closer):
            self.fail("a comma or the end is missing")
        return found

    def value(self):
        c = self.peek()
        if c == ord("["):
            return self.list()
        if c == ord('"'):
            return self.string().decode("utf-8", "surrogateescape")
        if c == ord("'"):
            return self.char()
        if c >= 0 and c in b"0123456789+-.":
            return self.number()
        if c >= 0 and (chr(c).isalpha() and c < 128):
            return self.word()
        self.fail("a value is missing")

    def list(self):
        if self.depth == _DEPTH_MAX:
            self.fail("lists nested too deep")
        self.depth += 1
        self.at += 1
        found = self.values(ord("]"))
        self.depth -= 1
        return found

    def run(self, allowed):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in allowed:
            self.at += 1
        return self.text[start:self.at]

    def word(self):
        word = self.run(_LETTERS).decode()
        if word in ("nan", "inf"):
            return float(word)
        prefix, _, rest = word.partition("_")
        if not prefix or not rest or len(word) > 255:
            self.fail(f"'{word[:40]}' is no token")
        return Token(word)

    def number(self):
        start = self.at
        word = b""
        while self.at < len(self.text):
            c = self.text[self.at:self.at + 1]
            last = word[-1:].lower()
            is_hex = word.lstrip(b"+-")[:2].lower() == b"0x"
            signed = c in (b"+", b"-") and (not word or (last == (b"p" if is_hex else b"e") and len(word) > 1))
            if not (c in _LETTER_BYTES or c == b"." or signed):
                break
            word += c
            self.at += 1
            if len(word) > _NUMBER_MAX:
                self.fail("a number that is too long")
        if self.text[self.at:self.at + 1] == b"#":
            return self.binary(word)
        try:
            return _number(word.decode())
        except (ValueError, OverflowError):
            self.at = start
            self.fail(f"'{word[:40].decode()}' is no number")

    def binary(self, digits):
        if not digits or digits.strip(_DIGITS):
            self.fail("no length of a binary value")
        self.at += 1
        n = int(digits) if len(digits) < 12 else len(self.text) + 1
        if n > len(self.text) - self.at:
            self.fail("a binary value longer than the text")
        self.at += n
        return self.text[self.at - n:self.at]

    def string(self, quote=ord('"')):
        out = bytearray()
        self.at += 1
        while True:
            if self.at >= len(self.text) or self.text[self.at] in b"\n\0":
                self.fail("a string without an end")
            c = self.text[self.at]
            self.at += 1
            if c == quote:
                return bytes(out)
            if c != ord("\\"):
                out.append(c)
                continue
            out += self.escape()
            if not out[-1]:
                self.fail("a 0 in a string")

    def escape(self):
        if self.at >= len(self.text):
            self.fail("a string without an end")
        c = self.text[self.at]
        self.at += 1
        if c in _ESCAPES:
            return bytes([_ESCAPES[c]])
        if c in b"01234567":
            n = 1
            while n < 3 and self.text[self.at:self.at + 1] in _OCTAL:
                n, self.at = n + 1, self.at + 1
            return self.byte(int(self.text[self.at - n:self.at], 8))
        if c == ord("x"):
            digits = self.run(_HEX)
            return self.byte(int(digits, 16) if digits else -1)
        if c in b"uU":
            n = 4 if c == ord("u") else 8
            digits = self.text[self.at:self.at + n]
            if len(digits) < n or digits.strip(_HEX):
                self.fail("too few digits in a character's number")
            self.at += n
            code = int(digits, 16)
            if code > 0x10ffff or 0xd800 <= code < 0xe000:
                self.fail("no such character")
            return chr(code).encode()
        self.fail("an escape that C does not know")

    def byte(self, value):
        if not 0 <= value <= 255:
            self.fail("an escape beyond a byte")
        return bytes([value])

    def char(self):
        c = self.string(ord("'"))
        if len(c) != 1:
            self.fail("not one byte between the quotes")
        return c[0]


_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_LETTER_BYTES = [bytes([c]) for c in _LETTERS]
_OCTAL = [b"0", b"1", b"2", b"3", b"4", b"5", b"6", b"7"]
_INT = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))(?:[uU]?[lL]{0,2}|[lL]{1,2}[uU])", re.A)
_FLOAT = re.compile(r"([+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?)[fFlL]?", re.A)
_HEX_FLOAT = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+", re.A)


def _number(word):
    if word in ("+inf", "-inf"):
        return float(word)
    found = _INT.fullmatch(word)
    if found:
        sign, base16, base8, base10 = found.groups()
        value = int(sign + (base16 or base8 or base10), 16 if base16 else 8 if base8 else 10)
        if not -(1 << 63) <= value < 1 << 63:
            raise OverflowError
        return value
    found = _FLOAT.fullmatch(word)
    value = float(found[1]) if found else float.fromhex(word) if _HEX_FLOAT.fullmatch(word) else None
    if value is None:
        raise ValueError
    if value in (float("inf"), float("-inf")):
        raise OverflowError
    return value


def parse_values(text):
    """The values of a result as a list: int, float, str, Token, bytes and list. ValueError."""
    return _Parser(text.encode() if isinstance(text, str) else text).values(None)


def format_value(value):
    """One value as bytes of a request; the inverse of parse_values() for one of its kinds."""
    if isinstance(value, Token):
        return str(value).encode()
    if isinstance(value, bool):
        return b"1" if value else b"0"
    if isinstance(value, int):
        return str(value).encode()
    if isinstance(value, float):
        return repr(value).encode()
    if isinstance(value, (bytes, bytearray)):
        return b"%d#%s" % (len(value), bytes(value))
    if isinstance(value, str):
        raw = value.encode("utf-8", "surrogateescape")
        return b'"' + b"".join(_quoted(c) for c in raw) + b'"'
    if isinstance(value, (list, tuple)):
        return b"[" + b",".join(format_value(v) for v in value) + b"]"
    raise TypeError(f"{type(value).__name__} is no value of a request")


def _quoted(c):
    if c == 0:
        raise ValueError("a string holds no 0: use bytes")
    return bytes([c]) if 0x20 <= c < 0x7f and c not in b'"\\' else b"\\%03o" % c


# --- replies

class Entry(collections.namedtuple("Entry", "objects code text")):
    """What some objects have to report: tokens, status, and values (or words, of an error)."""
    __slots__ = ()

    @property
    def status(self):
        return status_name(self.code)

    @property
    def is_error(self):
        return self.code >= _FIRST_ERROR

    @property
    def values(self):
        """The values of a result; an error's words are no values."""
        return [] if self.is_error else parse_values(self.text)


class Reply:
    """Entries by action (0 is the request itself), and how many objects they speak for."""

    def __init__(self, actions, asked=0, answered=0, missing=()):
        self.actions, self.asked, self.answered, self.missing = actions, asked, answered, list(missing)

    def action(self, number):
        return self.actions[number] if number < len(self.actions) else []

    @property
    def kind(self):
        return self.actions[0][0].code if self.actions and self.actions[0] else 0

    def check(self):
        """Raises StatusError for the first entry that is an error."""
        for entries in self.actions:
            for e in entries:
                if e.is_error:
                    raise StatusError(e.code, e.text.decode("utf-8", "replace"), e.objects)
        return self

    def __repr__(self):
        return f"Reply({self.actions!r}, asked={self.asked}, answered={self.answered})"


# --- libomis

class _Result(ctypes.Structure):
    _fields_ = [("obj_list", ctypes.c_char_p), ("status", ctypes.c_int), ("result", ctypes.POINTER(ctypes.c_char)),
                ("result_len", ctypes.c_size_t)]


class _Missing(ctypes.Structure):
    _fields_ = [("object", ctypes.c_char_p), ("reason", ctypes.c_char_p)]


class _Coverage(ctypes.Structure):
    _fields_ = [("asked", ctypes.c_uint), ("answered", ctypes.c_uint), ("n_missing", ctypes.c_uint),
                ("missing", ctypes.POINTER(_Missing)), ("oldest_ns", ctypes.c_int64), ("newest_ns", ctypes.c_int64)]


_Reply = ctypes.POINTER(ctypes.POINTER(_Result))
_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def _find_library():
    here = os.path.dirname(os.path.realpath(__file__))
    places = [os.environ.get("OMIG_LIBOMIS"), os.path.join(here, "libomis.so.0"), "libomis.so.0"]
    for place in filter(None, places):
        try:
            return ctypes.CDLL(place)
        except OSError as e:
            why = e
    raise Error(f"libomis is not there ({why}); OMIG_LIBOMIS=PATH names it")


def _load():
    lib = _find_library()
    lib.omis_init.argtypes = [ctypes.c_void_p] * 4
    lib.omis_request_n.argtypes = [ctypes.c_char_p, ctypes.c_size_t, _Callback, ctypes.c_void_p, ctypes.c_int]
    lib.omis_request_n.restype = ctypes.c_void_p
    lib.omis_reply_free.argtypes = [ctypes.c_void_p]
    lib.omis_reply_coverage.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Coverage)]
    lib.omis_request_policy.argtypes = [ctypes.c_int, ctypes.c_uint, ctypes.c_uint]
    lib.omis_last_error.restype = ctypes.c_char_p
    return lib


def connect(mainsm=None, timeout=5.0, attach=True):
    """A Monitor: of the connection string, else OMIG_MAINSM, else the user's own mainsm.

    attach: make all that is known visible first. Raises StatusError.
    """
    return Monitor(mainsm, timeout, attach)


class Monitor:
    """The connection; a context manager. There is one in a process."""

    def __init__(self, mainsm=None, timeout=5.0, attach=True):
        self._lib = _load()
        words = [b"python", b"--omis-timeout", b"%d" % max(1, int(timeout * 1000))]
        if mainsm:
            words += [b"--omis-mainsm", mainsm.encode()]
        argc = ctypes.c_int(len(words))
        argv = (ctypes.c_char_p * (len(words) + 1))(*words, None)
        pointer = ctypes.cast(argv, ctypes.c_void_p)
        code = self._lib.omis_init(ctypes.byref(argc), ctypes.byref(pointer), None, None)
        if code:
            raise StatusError(code, self._lib.omis_last_error().decode("utf-8", "replace"))
        self._is_open = True
        if attach:
            self.attach()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Deletes what this tool defined and ends the connection. Twice is fine."""
        if self._is_open:
            self._is_open = False
            self._lib.omis_finalize()

    def attach(self):
        """Makes visible what has come since."""
        return self.request(_ATTACH_ALL).check()

    def policy(self, wait="all", quorum=0, deadline=2.0):
        """How long requests wait: "all", "quorum" or "now"; the deadline is in seconds."""
        code = self._lib.omis_request_policy(("all", "quorum", "now").index(wait), quorum, int(deadline * 1000))
        if code:
            raise StatusError(code, self._lib.omis_last_error().decode("utf-8", "replace"))

    def request(self, text):
        """Sends an unconditional request and returns its Reply; errors of objects stand in it.

        Raises StatusError when the request as a whole was refused.
        """
        self._need_open()
        raw = text.encode() if isinstance(text, str) else bytes(text)
        reply = self._take(self._lib.omis_request_n(raw, len(raw), _Callback(), None, 0))
        for e in reply.action(0):
            if e.is_error:
                raise StatusError(e.code, e.text.decode("utf-8", "replace"), e.objects)
        return reply

    def follow(self, text, seconds=None):
        """Defines and enables a conditional request; yields a Reply for each time it was triggered.

        Ends after so many seconds, or when the request is gone. Leaving the loop deletes it.
        """
        self._need_open()
        came, raw = collections.deque(), text.encode() if isinstance(text, str) else bytes(text)
        callback = _Callback(lambda reply, _: came.append(self._take(reply)))
        self._kept = getattr(self, "_kept", []) + [callback]  # libomis may call it until close()
        refused = self._lib.omis_request_n(raw, len(raw), callback, None, 0)
        if refused:
            came.append(self._take(refused))
        until = None if seconds is None else time.monotonic() + seconds
        csr = None
        try:
            while self._await(came, until):
                reply = came.popleft()
                if reply.kind == _DEFINED:
                    csr = reply.action(0)[0].values[0]
                    self.request(b":csr_enable([%s])" % csr.encode()).check()
                elif reply.kind == _TRIGGERED:
                    yield reply
                elif reply.kind == _DELETED or reply.kind == 0:
                    csr = None
                    break
                elif reply.kind >= _FIRST_ERROR:
                    csr = None
                    reply.check()
        finally:
            if csr and self._is_open:
                self.request(b":csr_delete([%s])" % csr.encode())

    def tree(self):
        """All that is known: a list of Object, containers first."""
        return [Object(*(v + [None] * len(Object._fields))[:len(Object._fields)])
                for e in self.request(":omig_tree()").check().action(1) for v in e.values]

    def _need_open(self):
        if not self._is_open:
            raise Error("the connection is closed")

    def _await(self, came, until):
        while not came:
            left = 1.0 if until is None else until - time.monotonic()
            if left <= 0:
                return False
            select.select([self._lib.omis_fd()], [], [], min(left, 1.0))
            self._lib.omis_handler()
        return True

    def _take(self, pointer):
        if not pointer:
            raise MemoryError
        try:
            return self._read(pointer)
        finally:
            self._lib.omis_reply_free(pointer)

    def _read(self, pointer):
        coverage = _Coverage()
        self._lib.omis_reply_coverage(pointer, ctypes.byref(coverage))
        missing = [(coverage.missing[i].object.decode(), coverage.missing[i].reason.decode("utf-8", "replace"))
                   for i in range(coverage.n_missing)]
        actions, services, i = [], ctypes.cast(pointer, _Reply), 0
        while services[i]:
            entries, k = [], 0
            while services[i][k].obj_list is not None:
                r = services[i][k]
                text = ctypes.string_at(r.result, r.result_len) if r.result else b""
                tokens = [Token(t) for t in r.obj_list.decode().split(",") if t]
                entries.append(Entry(tokens, r.status, text))
                k += 1
            actions.append(entries)
            i += 1
        return Reply(actions, coverage.asked, coverage.answered, missing)


Object = collections.namedtuple("Object", "token parent name state pid rank world_size job mpi exit_status host state_age_ns")
Object.__doc__ = "What omig_tree() tells of a site, node, process or thread; the token's prefix says which."


def main(requests):
    """python3 -m omig REQUEST...: a line an entry."""
    if not requests or requests[0] in ("-h", "--help"):
        print("usage: python3 -m omig REQUEST...", file=sys.stderr)
        return 2
    try:
        with connect() as m:
            for text in requests:
                for number, entries in enumerate(m.request(text).actions):
                    for e in entries:
                        print(number, ",".join(e.objects) or "-", e.status,
                              e.text.decode("utf-8", "replace") if e.is_error else e.values)
    except Error as e:
        print(f"omig: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
