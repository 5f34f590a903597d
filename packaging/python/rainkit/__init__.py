# SPDX-License-Identifier: Apache-2.0
"""RainKit for Python: accounts, provisioning and control of ESP RainMaker boards.

`Client` is for programs with asyncio, `SyncClient` for scripts. Both raise `Error`.
"""
from . import documents
from ._async import Client, Operation
from ._library import Store, library
from ._sync import SyncClient, SyncOperation
from .errors import Code, Error
from .events import Page, Progress, Question, SignInEvent

__all__ = [
    "Client",
    "Code",
    "Error",
    "Operation",
    "Page",
    "Progress",
    "Question",
    "SignInEvent",
    "Store",
    "SyncClient",
    "SyncOperation",
    "documents",
    "library_version",
]


def library_version() -> str:
    """Returns the version of the library, such as 0.3.0."""
    return str(library().rainkit_version().text)
