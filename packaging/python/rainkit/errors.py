# SPDX-License-Identifier: Apache-2.0
"""The error of every function, and its code."""
from __future__ import annotations

import enum
from typing import Any, Dict, Optional, Tuple


class Code(enum.IntEnum):
    """What kind of failure an error is: the exit codes of rainctl (docs/exit-codes.md)."""

    OTHER = 1
    WRONG_POP = 10
    WIFI_AUTH_FAILED = 11
    WIFI_AP_NOT_FOUND = 12
    MAPPING_FAILED = 13
    DEVICE_LOST = 14
    SECURITY_MISMATCH = 15
    DEADLINE = 16
    CLAIM_NEEDED = 17
    BATCH_PARTIAL = 20
    USAGE = 64
    BAD_DATA = 65
    UNAVAILABLE = 69
    CANNOT_WRITE = 73
    TEMPORARY = 75
    AUTH = 77
    CONFIG = 78
    CANCELLED = 130


class Error(Exception):
    """A failure of RainKit.

    code      its kind; `Code.OTHER` for a code that this version of the package does not know
    name      the code's name, such as ``wrong_pop``
    reason    the cause in snake case, more exact than the code, such as ``invalid_credentials`` (docs/reasons.md)
    message   one or two sentences for people
    remedy    what to try; may be empty
    step      the step of provisioning that failed, such as ``connect``; otherwise empty
    document  the part of the work that was done, if an operation did a part of it
    """

    def __init__(
        self,
        code: Code,
        reason: str,
        message: str,
        *,
        remedy: str = "",
        step: str = "",
        name: str = "",
        document: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(f"{message} {remedy}" if remedy else message)
        self.code = code
        self.name = name or code.name.lower()
        self.reason = reason
        self.message = message
        self.remedy = remedy
        self.step = step
        self.document = document

    def __repr__(self) -> str:
        return f"rainkit.Error({self.code!r}, {self.reason!r}, {self.message!r})"

    def __reduce__(self) -> Tuple[Any, ...]:
        # Errors cross the borders of processes, as with concurrent.futures.
        return _restored, (self.code, self.reason, self.message, self.remedy, self.step, self.name, self.document)


def _restored(
    code: Code, reason: str, message: str, remedy: str, step: str, name: str, document: Optional[Dict[str, Any]]
) -> Error:
    return Error(code, reason, message, remedy=remedy, step=step, name=name, document=document)
