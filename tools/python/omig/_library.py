# SPDX-License-Identifier: Apache-2.0
"""libomis by ctypes."""
import ctypes
import os
from typing import Any

from omig._reply import Error


class Result(ctypes.Structure):
    _fields_ = [("obj_list", ctypes.c_char_p), ("status", ctypes.c_int), ("result", ctypes.POINTER(ctypes.c_char)),
                ("result_len", ctypes.c_size_t)]


class Missing(ctypes.Structure):
    _fields_ = [("object", ctypes.c_char_p), ("reason", ctypes.c_char_p)]


class Coverage(ctypes.Structure):
    _fields_ = [("asked", ctypes.c_uint), ("answered", ctypes.c_uint), ("n_missing", ctypes.c_uint),
                ("missing", ctypes.POINTER(Missing)), ("oldest_ns", ctypes.c_int64), ("newest_ns", ctypes.c_int64)]


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


def load() -> Any:
    lib = _find()
    lib.omis_init.argtypes = [ctypes.c_void_p] * 4
    lib.omis_request_n.argtypes = [ctypes.c_char_p, ctypes.c_size_t, Callback, ctypes.c_void_p, ctypes.c_int]
    lib.omis_request_n.restype = ctypes.c_void_p
    lib.omis_reply_free.argtypes = [ctypes.c_void_p]
    lib.omis_reply_coverage.argtypes = [ctypes.c_void_p, ctypes.POINTER(Coverage)]
    lib.omis_request_policy.argtypes = [ctypes.c_int, ctypes.c_uint, ctypes.c_uint]
    lib.omis_last_error.restype = ctypes.c_char_p
    return lib
