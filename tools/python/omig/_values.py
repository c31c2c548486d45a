# SPDX-License-Identifier: Apache-2.0
"""Values of OMIS as Python's, and back."""
from typing import Any, List, Union

from omig._library import VALUE_KINDS, Value, load

__all__ = ["Token", "parse_values", "format_value"]


class Token(str):
    """The name of an object, as opposed to a string."""

    def __repr__(self) -> str:
        return f"Token({str.__repr__(self)})"


def _of(value: Value) -> Any:
    kind = VALUE_KINDS[value.kind]
    if kind == "int":
        return value.i
    if kind == "float":
        return value.f
    if kind == "list":
        return [_of(value.list[i]) for i in range(value.n)]
    raw = value.s[:value.n]
    if kind == "binary":
        return raw
    return Token(raw.decode()) if kind == "token" else raw.decode("utf-8", "surrogateescape")


def parse_values(text: Union[str, bytes]) -> List[Any]:
    """The values of a result as a list: int, float, str, Token, bytes and list. ValueError."""
    raw = text.encode() if isinstance(text, str) else text
    lib = load()
    root = lib.omis_value_parse(raw, len(raw))
    if not root:
        raise ValueError(lib.omis_last_error().decode("utf-8", "replace"))
    try:
        values: List[Any] = _of(root.contents)
        return values
    finally:
        lib.omis_value_free(root)


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
    raise TypeError(f"{type(value).__name__} is not a value of a request")


def _quoted(c: int) -> bytes:
    if c == 0:
        raise ValueError("a string holds no 0: use bytes")
    return bytes([c]) if 0x20 <= c < 0x7f and c not in b'"\\' else b"\\%03o" % c
