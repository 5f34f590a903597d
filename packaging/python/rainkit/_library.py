# SPDX-License-Identifier: Apache-2.0
"""The C library: its structures, numbers and functions as in rainkit.h, which tests compare with this file."""
from __future__ import annotations

import ctypes
import enum
import functools
import os
import pathlib
from ctypes import POINTER, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any, Dict, List, Tuple, Union

from .errors import Code, Error

#: The version of the interface that this package needs.
ABI_VERSION = 1


class Store(enum.IntEnum):
    """The place of a session."""

    AUTOMATIC = 0
    """The desktop's Secret Service if it answers, otherwise a file."""
    FILE = 1
    """A private file in the state folder."""
    SECRET_SERVICE = 2
    MEMORY = 3
    """Nothing is written: the session ends with the client."""


class LogLevel(enum.IntEnum):
    OFF = 0
    WARNING = 1
    DEBUG = 2
    TRACE = 3


class EventKind(enum.IntEnum):
    NONE = 0
    PROGRESS = 1
    PAGE = 2
    QUESTION = 3
    RESULT = 4
    ERROR = 5


class ScheduleChange(enum.IntEnum):
    REMOVE = 1
    ENABLE = 2
    DISABLE = 3


class String(ctypes.Structure):
    """rainkit_string. It keeps the bytes that it was made of."""

    _fields_ = [("data", POINTER(c_char)), ("length", c_size_t)]
    if TYPE_CHECKING:
        data: Any
        length: int

    @staticmethod
    def of(text: Union[str, bytes]) -> String:
        content = text.encode() if isinstance(text, str) else bytes(text)
        string = String()
        if content:
            string.data = ctypes.cast(c_char_p(content), POINTER(c_char))
            string.length = len(content)
        return string

    @property
    def text(self) -> str:
        return ctypes.string_at(self.data, self.length).decode(errors="replace") if self.length else ""


#: void (*)(void *context, int32_t level, rainkit_string line)
LoggerFunction = ctypes.CFUNCTYPE(None, c_void_p, c_int32, String)


class ClientOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("state", String),
        ("store", c_int32),
        ("log_level", c_int32),
        ("account", String),
        ("deployment", String),
        ("base_url", String),
        ("ca_file", String),
        ("provider", String),
        ("provider_settings", String),
        ("definitions", String),
        ("logger", LoggerFunction),
        ("logger_context", c_void_p),
        ("claim_url", String),
        ("sign_in_url", String),
        ("client_id", String),
    ]


class ProvisionOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("board", String),
        ("qr_payload", String),
        ("proof", String),
        ("user_name", String),
        ("security", c_int32),
        ("keeps_network", c_int32),
        ("ssid", String),
        ("passphrase", String),
        ("without_account", c_int32),
        ("resets_first", c_int32),
        ("name", String),
        ("tags", String),
        ("metadata", String),
        ("custom_endpoint", String),
        ("custom_data", String),
        ("timeout_ms", c_uint32),
    ]


class ClaimOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("board", String), ("proof", String), ("timeout_ms", c_uint32)]


class RawEvent(ctypes.Structure):
    """rainkit_event"""

    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int32),
        ("code", c_int32),
        ("dropped", c_uint64),
        ("name", String),
        ("document", String),
        ("reason", String),
        ("message", String),
        ("remedy", String),
        ("step", String),
    ]
    if TYPE_CHECKING:
        size: int
        kind: int
        code: int
        dropped: int
        name: String
        document: String
        reason: String
        message: String
        remedy: String
        step: String


# What each function takes. A function that starts an operation also takes the client first and the operation's place last.
STARTS: Dict[str, List[Any]] = {
    "rainkit_sign_in_password": [String, String, c_uint32],
    "rainkit_sign_in_browser": [String, c_uint32],
    "rainkit_sign_in_device": [c_uint32],
    "rainkit_sign_out": [c_int32, c_uint32],
    "rainkit_session": [c_uint32],
    "rainkit_profile": [c_uint32],
    "rainkit_renew": [c_uint32, c_uint32],
    "rainkit_discover": [String, c_uint32],
    "rainkit_provision": [POINTER(ProvisionOptions)],
    "rainkit_claim": [POINTER(ClaimOptions)],
    "rainkit_node_list": [c_uint32],
    "rainkit_node_show": [String, c_uint32],
    "rainkit_node_get": [String, c_uint32],
    "rainkit_node_set": [String, String, c_uint32, c_uint32],
    "rainkit_node_watch": [String, c_uint32],
    "rainkit_node_rename": [String, String, c_uint32],
    "rainkit_node_remove": [String, c_uint32],
    "rainkit_schedule_list": [String, c_uint32],
    "rainkit_schedule_add": [String, String, String, String, String, c_uint32],
    "rainkit_schedule_change": [String, String, c_int32, c_uint32],
    "rainkit_share_list": [String, c_uint32],
    "rainkit_share_add": [String, String, c_uint32],
    "rainkit_share_remove": [String, String, c_uint32],
    "rainkit_share_requests": [c_int32, c_uint32],
    "rainkit_share_answer": [String, c_int32, c_uint32],
    "rainkit_update": [String, String, c_uint32],
}
OTHERS: Dict[str, Tuple[List[Any], Any]] = {
    "rainkit_abi_version": ([], c_uint32),
    "rainkit_version": ([], String),
    "rainkit_code_name": ([c_int32], String),
    "rainkit_client_new": ([POINTER(ClientOptions), POINTER(c_void_p), c_char_p, c_size_t], c_int32),
    "rainkit_client_free": ([c_void_p], c_int32),
    "rainkit_access_token": ([c_void_p, POINTER(c_char), c_size_t, POINTER(c_size_t)], c_int32),
    "rainkit_user_id": ([c_void_p, POINTER(c_char), c_size_t, POINTER(c_size_t)], c_int32),
    "rainkit_operation_descriptor": ([c_void_p], c_int),
    "rainkit_next_event": ([c_void_p, POINTER(RawEvent)], c_int32),
    "rainkit_wait_event": ([c_void_p, c_int64, POINTER(RawEvent)], c_int32),
    "rainkit_wait": ([c_void_p, POINTER(RawEvent)], c_int32),
    "rainkit_operation_answer": ([c_void_p, String], c_int32),
    "rainkit_operation_cancel": ([c_void_p], c_int32),
    "rainkit_operation_free": ([c_void_p], c_int32),
}


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """Loads the library at its first use: the one inside the package, else that of RAINKIT_LIBRARY, else the system's."""
    inside = pathlib.Path(__file__).with_name("librainkit.so.1")
    path = str(inside) if inside.exists() else os.environ.get("RAINKIT_LIBRARY") or "librainkit.so.1"
    try:
        loaded = ctypes.CDLL(path)
        for name, (arguments, result) in OTHERS.items():
            function = getattr(loaded, name)
            function.argtypes, function.restype = arguments, result
        for name, own in STARTS.items():
            function = getattr(loaded, name)
            function.argtypes, function.restype = [c_void_p, *own, POINTER(c_void_p)], c_int32
    except (OSError, AttributeError) as error:
        raise Error(
            Code.UNAVAILABLE,
            "no_library",
            f"librainkit cannot be loaded: {error}.",
            remedy="Install the wheel that contains it or the Debian package librainkit1, or name its file in RAINKIT_LIBRARY.",
        ) from error
    if (version := loaded.rainkit_abi_version()) < ABI_VERSION:
        raise Error(
            Code.UNAVAILABLE, "old_library", f"{path} has version {version} of the interface, and {ABI_VERSION} is needed."
        )
    return loaded


_REFUSALS = {
    Code.USAGE: ("usage", "An argument is longer than 1 MiB, or its client or operation was closed."),
    Code.CANCELLED: ("cancelled", "Another thread closed the operation."),
    Code.UNAVAILABLE: (
        "forked",
        "This process was forked after it had used librainkit, which only works in the process that loaded it.",
    ),
    Code.TEMPORARY: ("no_descriptors", "The system has no more descriptors or threads."),
    Code.AUTH: ("not_signed_in", "No valid session is known."),
}


def check(number: int, message: str = "") -> None:
    """Raises the error of a call that was refused."""
    if number == 0:
        return
    code = code_of(number)
    reason, usual = _REFUSALS.get(code, (code.name.lower(), "The call failed."))
    remedy = ""
    if code is Code.UNAVAILABLE:
        remedy = "Start it as a new program, for example with multiprocessing's spawn."
    elif code is Code.AUTH:
        remedy = "Call renew(), or sign in."
    raise Error(code, reason, message or usual, remedy=remedy)


def code_of(number: int) -> Code:
    try:
        return Code(number)
    except ValueError:
        return Code.OTHER
