# SPDX-License-Identifier: Apache-2.0
"""Values of OMIS as Python's, and back."""
import re
from typing import Any, List, NoReturn, Optional, Union

__all__ = ["Token", "parse_values", "format_value"]


class Token(str):
    """The name of an object, as opposed to a string."""

    def __repr__(self) -> str:
        return f"Token({str.__repr__(self)})"


_DEPTH_MAX = 16  # as the monitor itself nests
_ESCAPES = {ord(k): v for k, v in zip("abfnrtv\\'\"?", b"\a\b\f\n\r\t\v\\'\"?")}
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdefABCDEF"
_BLANKS = b" \t\n\v\f"
_NUMBER_MAX = 128


class _Parser:
    def __init__(self, text: bytes) -> None:
        self.text, self.at, self.depth = bytes(text), 0, 0

    def fail(self, what: str) -> NoReturn:
        raise ValueError(f"{what} at offset {self.at}")

    def peek(self) -> int:
        while self.at < len(self.text) and self.text[self.at] in _BLANKS:
            self.at += 1
        return self.text[self.at] if self.at < len(self.text) else -1

    def take(self, byte: int) -> bool:
        if self.peek() != byte:
            return False
        self.at += 1
        return True

    def values(self, closer: Optional[int]) -> List[Any]:
        found: List[Any] = []
        if closer is None and self.peek() < 0 or closer is not None and self.take(closer):
            return found
        while True:
            found.append(self.value())
            if not self.take(ord(",")):
                break
        if closer is None and self.peek() >= 0 or closer is not None and not self.take(closer):
            self.fail("a comma or the end is missing")
        return found

    def value(self) -> Any:
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

    def list(self) -> List[Any]:
        if self.depth == _DEPTH_MAX:
            self.fail("lists nested too deep")
        self.depth += 1
        self.at += 1
        found = self.values(ord("]"))
        self.depth -= 1
        return found

    def run(self, allowed: bytes) -> bytes:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in allowed:
            self.at += 1
        return self.text[start:self.at]

    def word(self) -> Union[float, Token]:
        word = self.run(_LETTERS).decode()
        if word in ("nan", "inf"):
            return float(word)
        prefix, _, rest = word.partition("_")
        if not prefix or not rest or len(word) > 255:
            self.fail(f"'{word[:40]}' is no token")
        return Token(word)

    def number(self) -> Union[int, float, bytes]:
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

    def binary(self, digits: bytes) -> bytes:
        if not digits or digits.strip(_DIGITS):
            self.fail("no length of a binary value")
        self.at += 1
        n = int(digits) if len(digits) < 12 else len(self.text) + 1
        if n > len(self.text) - self.at:
            self.fail("a binary value longer than the text")
        self.at += n
        return self.text[self.at - n:self.at]

    def string(self, quote: int = ord('"')) -> bytes:
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

    def escape(self) -> bytes:
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

    def byte(self, value: int) -> bytes:
        if not 0 <= value <= 255:
            self.fail("an escape beyond a byte")
        return bytes([value])

    def char(self) -> int:
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


def _number(word: str) -> Union[int, float]:
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
    real = float(found[1]) if found else float.fromhex(word) if _HEX_FLOAT.fullmatch(word) else None
    if real is None:
        raise ValueError
    if real in (float("inf"), float("-inf")):
        raise OverflowError
    return real


def parse_values(text: Union[str, bytes]) -> List[Any]:
    """The values of a result as a list: int, float, str, Token, bytes and list. ValueError."""
    return _Parser(text.encode() if isinstance(text, str) else text).values(None)


def format_value(value: Any) -> bytes:
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


def _quoted(c: int) -> bytes:
    if c == 0:
        raise ValueError("a string holds no 0: use bytes")
    return bytes([c]) if 0x20 <= c < 0x7f and c not in b'"\\' else b"\\%03o" % c
