# SPDX-License-Identifier: Apache-2.0
"""What asynchronous and blocking clients have in common: the options, the handle, and the values that need no waiting."""
from __future__ import annotations

import ctypes
import json
import logging
import os
import weakref
from typing import Any, Callable, List, Mapping, Optional

from ._calls import FilePath, checked, text
from ._library import ClientOptions, LoggerFunction, LogLevel, Store, String, check, library
from ._operations import Call, Handle
from .errors import Code, Error

#: The loggers of all clients. The library may deliver lines of a client that is closed already, so none is forgotten.
_loggers: List[logging.Logger] = []
_LEVELS = {LogLevel.WARNING: logging.WARNING, LogLevel.DEBUG: logging.DEBUG, LogLevel.TRACE: logging.DEBUG - 5}


def _log(context: Optional[int], level: int, line: String) -> None:
    _loggers[(context or 1) - 1].log(_LEVELS.get(LogLevel(level), logging.WARNING), "%s", line.text)


_log_function = LoggerFunction(_log)


def _level(logger: logging.Logger) -> LogLevel:
    if logger.isEnabledFor(logging.DEBUG - 5):
        return LogLevel.TRACE
    return LogLevel.DEBUG if logger.isEnabledFor(logging.DEBUG) else LogLevel.WARNING


class BaseClient:
    """A user's account at one cloud, and what it takes to find boards.

    state              folder for the session and unfinished mappings, which is created with mode 0700; without one, the
                       session ends with the client
    store              the place of the session; the default is AUTOMATIC with a state folder and MEMORY without one
    account            name of the account, if the folder has several; default: the one in use
    deployment         name of the RainMaker deployment, for `base_url`
    base_url           https address of the deployment's API, without the version; http only for this machine, such as
                       http://127.0.0.1:8080; default: Espressif's own. A session is only valid for its own address
    ca_file            PEM file of authorities to trust instead of the system's
    provider           id of another identity provider, such as ``spid``; default: RainMaker
    provider_settings  the provider's settings, such as ``{"base_url": "https://…"}``; default: those of its last sign-in
    definitions        folder with definitions of more providers (docs/adding-an-identity-provider.md)
    logger             gets the library's log lines, on a thread of the library, from the level that it has now: WARNING,
                       DEBUG, or 5 for the headers of requests; no line has a secret
    claim_url          https address of the claim service of the deployment at `base_url`, if it has one
    sign_in_url        https address of the sign-in page of that deployment, if it has one
    client_id          the id of this program at that page

    Nothing is sent, and no file is opened, until a method is called. Raises `Error` for options that cannot work,
    and `ValueError` for a text with a NUL character.
    """

    def __init__(
        self,
        state: Optional[FilePath] = None,
        *,
        store: Optional[Store] = None,
        account: str = "",
        deployment: str = "",
        base_url: str = "",
        ca_file: Optional[FilePath] = None,
        provider: str = "",
        provider_settings: Optional[Mapping[str, Any]] = None,
        definitions: Optional[FilePath] = None,
        logger: Optional[logging.Logger] = None,
        claim_url: str = "",
        sign_in_url: str = "",
        client_id: str = "",
    ) -> None:
        if store is None:
            store = Store.MEMORY if state is None else Store.AUTOMATIC
        options = ClientOptions(
            size=ctypes.sizeof(ClientOptions),
            state=_path(state),
            store=int(store),
            account=checked(account, "account"),
            deployment=checked(deployment, "deployment"),
            base_url=checked(base_url, "base_url"),
            ca_file=_path(ca_file),
            provider=checked(provider, "provider"),
            provider_settings=text(None if provider_settings is None else json.dumps(provider_settings)),
            definitions=_path(definitions),
            claim_url=checked(claim_url, "claim_url"),
            sign_in_url=checked(sign_in_url, "sign_in_url"),
            client_id=checked(client_id, "client_id"),
        )
        if logger is not None:
            if logger not in _loggers:
                _loggers.append(logger)
            options.log_level, options.logger = int(_level(logger)), _log_function
            options.logger_context = _loggers.index(logger) + 1
        self._handle: Optional[ctypes.c_void_p] = ctypes.c_void_p()
        message = ctypes.create_string_buffer(1000)
        loaded = library()
        number = loaded.rainkit_client_new(
            ctypes.byref(options), ctypes.byref(self._handle), message, ctypes.sizeof(message)
        )
        check(number, message.value.decode(errors="replace"))
        # Also at the end of the program, before Python's own end, so that no log line comes after it.
        self._free = weakref.finalize(self, loaded.rainkit_client_free, self._handle)
        self._description = f"{store.name.lower()} store" if state is None else f"state {os.fspath(state)!r}"

    def access_token(self) -> str:
        """Returns the access token. Sends nothing, and takes microseconds.

        Raises `Error` with `Code.AUTH` if none is known or the known one is expired: call `renew`, which also loads a
        stored session.
        """
        return self._copy(library().rainkit_access_token)

    @property
    def user_id(self) -> Optional[str]:
        """The id of the signed-in user; None if it is not known. Known after a sign-in, `session` or `renew`."""
        try:
            return self._copy(library().rainkit_user_id)
        except Error as error:
            if error.code is Code.AUTH:
                return None
            raise

    def __repr__(self) -> str:
        return f"<rainkit.{type(self).__name__} {'closed' if self._handle is None else self._description}>"

    def _open_handle(self) -> ctypes.c_void_p:
        if self._handle is None:
            raise Error(Code.USAGE, "closed", "The client is closed.")
        return self._handle

    def _start(self, call: Call[Any]) -> Handle:
        return Handle(self._open_handle(), call)

    def _copy(self, function: Callable[..., int]) -> str:
        handle, length, size = self._open_handle(), ctypes.c_size_t(), 4096
        while True:
            buffer = ctypes.create_string_buffer(size)
            try:
                number = function(handle, buffer, size, ctypes.byref(length))
                if number == Code.BAD_DATA and length.value >= size:
                    size = length.value + 1
                    continue
                check(number)
                return ctypes.string_at(buffer, length.value).decode()
            finally:
                ctypes.memset(buffer, 0, ctypes.sizeof(buffer))


def _path(path: Optional[FilePath]) -> String:
    return text(None if path is None else os.path.abspath(os.fspath(path)))
