# SPDX-License-Identifier: Apache-2.0
"""libomis by ctypes."""
import ctypes
import functools
import os
from typing import Any


class Error(Exception):
    """Each error of this module."""


class Result(ctypes.Structure):
    _fields_ = [("obj_list", ctypes.c_char_p), ("status", ctypes.c_int), ("result", ctypes.POINTER(ctypes.c_char)),
                ("result_len", ctypes.c_size_t)]


class Missing(ctypes.Structure):
    _fields_ = [("object", ctypes.c_char_p), ("reason", ctypes.c_char_p)]


class Coverage(ctypes.Structure):
    _fields_ = [("asked", ctypes.c_uint), ("answered", ctypes.c_uint), ("n_missing", ctypes.c_uint),
                ("missing", ctypes.POINTER(Missing)), ("oldest_ns", ctypes.c_int64), ("newest_ns", ctypes.c_int64)]


class Value(ctypes.Structure):
    pass


Value._fields_ = [("kind", ctypes.c_int), ("i", ctypes.c_int64), ("f", ctypes.c_double),
                  ("s", ctypes.POINTER(ctypes.c_char)), ("n", ctypes.c_size_t), ("list", ctypes.POINTER(Value))]
VALUE_KINDS = ["int", "float", "string", "token", "binary", "list"]

ReplyPointer = ctypes.POINTER(ctypes.POINTER(Result))
Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
NO_CALLBACK = Callback(0)


def _find() -> Any:
    here = os.path.dirname(os.path.realpath(__file__))
    beside = os.path.join(os.path.dirname(here), "libomis.so.0")
    places = [os.environ.get("OMIG_LIBOMIS"), beside, "libomis.so.0"]
    for place in filter(None, places):
        try:
            return ctypes.CDLL(place)
        except OSError as e:
            why = e
    raise Error(f"libomis is not there ({why}); OMIG_LIBOMIS=PATH names it")


@functools.lru_cache(maxsize=None)
def load() -> Any:
    lib = _find()
    lib.omis_init.argtypes = [ctypes.c_void_p] * 4
    lib.omis_request_n.argtypes = [ctypes.c_char_p, ctypes.c_size_t, Callback, ctypes.c_void_p, ctypes.c_int]
    lib.omis_request_n.restype = ctypes.c_void_p
    lib.omis_reply_free.argtypes = [ctypes.c_void_p]
    lib.omis_reply_coverage.argtypes = [ctypes.c_void_p, ctypes.POINTER(Coverage)]
    lib.omis_request_policy.argtypes = [ctypes.c_int, ctypes.c_uint, ctypes.c_uint]
    lib.omis_value_parse.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    lib.omis_value_parse.restype = ctypes.POINTER(Value)
    lib.omis_value_free.argtypes = [ctypes.POINTER(Value)]
    lib.omis_last_error.restype = ctypes.c_char_p
    return lib
