# SPDX-License-Identifier: Apache-2.0
"""Replies to requests, and the errors of this package."""
from typing import Any, List, NamedTuple, Sequence, Tuple

from omig._library import Error
from omig._values import Token, parse_values

__all__ = ["Error", "StatusError", "status_name", "Entry", "Reply", "FIRST_ERROR"]

STATUS = {
    0: "OK", 2: "CSR_DEFINED", 4: "CSR_ENABLED", 6: "CSR_DISABLED", 8: "CSR_DELETED", 10: "CSR_TRIGGERED",
    16: "SYNTAX_ERROR", 18: "UNKNOWN_SERVICE", 20: "UNSUPPORTED_SERVICE", 22: "UNKNOWN_ECP", 24: "UNKNOWN_OBJECT",
    26: "TYPE_MISMATCH", 28: "PARAMETER_ERROR", 30: "OS_ERROR", 32: "NO_PERMISSION", 34: "NO_MEMORY",
    36: "INTERNAL_ERROR", 1000: "UNSPECIFIED_ERROR",
}
FIRST_ERROR = 16


class StatusError(Error):
    """The monitor refused: `status` is the name, `code` the number, `objects` the tokens."""

    def __init__(self, code: int, text: str = "", objects: Sequence[str] = ()) -> None:
        self.code, self.status, self.objects = code, status_name(code), list(objects)
        super().__init__(": ".join(filter(None, [self.status, ",".join(self.objects), text])))


def status_name(code: int) -> str:
    """The name of a status; its lowest bit only says that something was left half changed."""
    return STATUS.get(code & ~1, str(code))


class Entry(NamedTuple):
    """The report of some objects: tokens, status, and values (or the text of an error)."""
    objects: List[Token]
    code: int
    text: bytes

    @property
    def status(self) -> str:
        return status_name(self.code)

    @property
    def is_error(self) -> bool:
        return self.code >= FIRST_ERROR

    @property
    def values(self) -> List[Any]:
        """The values of a result; an error's words are not values."""
        return [] if self.is_error else parse_values(self.text)


class Reply:
    """Entries by action (0 is the request itself), and how many objects they speak for."""

    def __init__(self, actions: List[List[Entry]], asked: int = 0, answered: int = 0,
                 missing: Sequence[Tuple[str, str]] = ()) -> None:
        self.actions, self.asked, self.answered, self.missing = actions, asked, answered, list(missing)

    def action(self, number: int) -> List[Entry]:
        return self.actions[number] if number < len(self.actions) else []

    @property
    def kind(self) -> int:
        return self.actions[0][0].code if self.actions and self.actions[0] else 0

    def check(self) -> "Reply":
        """Raises StatusError for the first entry that is an error."""
        for entries in self.actions:
            for e in entries:
                if e.is_error:
                    raise StatusError(e.code, e.text.decode("utf-8", "replace"), e.objects)
        return self

    def __repr__(self) -> str:
        return f"Reply({self.actions!r}, asked={self.asked}, answered={self.answered})"
