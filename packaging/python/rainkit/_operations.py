# SPDX-License-Identifier: Apache-2.0
"""What asynchronous and blocking operations have in common: the handle, the events and the outcome."""
from __future__ import annotations

import ctypes
import json
import warnings
from typing import TYPE_CHECKING, Any, Dict, Generic, Literal, Optional, Tuple, TypeVar, Union, cast

from ._library import EventKind, RawEvent, String, check, code_of, library
from .errors import Code, Error
from .events import Page, Progress, Question

if TYPE_CHECKING:
    from ._clients import BaseClient

E = TypeVar("E")
R = TypeVar("R")

#: How long a cancelled operation may take to end, in seconds, before it is left alone.
END_LIMIT = 10.0


class Call(Generic[R]):
    """A call that starts an operation with a result of type R. Its arguments may be secrets, so it is never shown."""

    __slots__ = ("function", "arguments")

    def __init__(self, function: str, *arguments: object) -> None:
        self.function, self.arguments = function, arguments

    @property
    def name(self) -> str:
        return self.function[len("rainkit_") :]


class Handle:
    """An operation of the library. It is cancelled and freed with its last reference."""

    def __init__(self, client: ctypes.c_void_p, call: Call[Any]) -> None:
        self._library = library()
        self._value: Optional[ctypes.c_void_p] = None
        value = ctypes.c_void_p()
        check(getattr(self._library, call.function)(client, *call.arguments, ctypes.byref(value)))
        self._value = value
        self.descriptor: int = self._library.rainkit_operation_descriptor(value)

    def next_event(self) -> Optional[RawEvent]:
        """Takes the next event if one waits. Its strings are valid until the next call."""
        event = RawEvent(size=ctypes.sizeof(RawEvent))
        check(self._library.rainkit_next_event(self._value, ctypes.byref(event)))
        return None if event.kind == EventKind.NONE else event

    def answer(self, text: str) -> None:
        message = "The operation is over, or has too many answers."
        if self._value is None:
            raise Error(Code.USAGE, "usage", message)
        check(self._library.rainkit_operation_answer(self._value, String.of(text)), message)

    def cancel(self) -> None:
        if self._value is not None:
            check(self._library.rainkit_operation_cancel(self._value))

    def free(self) -> None:
        # Refused in a forked child, where the parent's operation is not ours to end.
        value, self._value = self._value, None
        if value is not None:
            self._library.rainkit_operation_free(value)

    def __del__(self) -> None:
        if getattr(self, "_value", None) is not None:
            self.free()


class BaseOperation(Generic[E, R]):
    """An operation of a client: it has events, and in the end a result or an error. It starts when it is first used."""

    def __init__(self, client: BaseClient, call: Call[R]) -> None:
        self._client, self._call = client, call
        self._handle: Optional[Handle] = None
        self._outcome: Optional[Tuple[Optional[R], Optional[Error]]] = None
        self._is_started = False

    @property
    def result(self) -> R:
        """The result of a finished operation. Raises its error if it failed, and RuntimeError if it still runs."""
        if self._outcome is None:
            raise RuntimeError("the operation is not finished")
        result, error = self._outcome
        if error is not None:
            raise error
        return cast(R, result)

    def cancel(self) -> None:
        """Asks the operation to end. Its reader then gets the error `Code.CANCELLED`, unless it ended before."""
        if self._handle is not None:
            self._handle.cancel()
        elif not self._is_started:
            self._is_started = True
            self._outcome = (None, cancelled())

    def __del__(self) -> None:
        if not getattr(self, "_is_started", True):
            warnings.warn(f"{self!r} was never awaited, iterated or waited for", RuntimeWarning, stacklevel=2)

    def __repr__(self) -> str:
        if self._outcome is not None:
            state = "failed" if self._outcome[1] else "finished"
        else:
            state = "running" if self._is_started else "not started"
        return f"<rainkit.{type(self).__name__} {self._call.name}: {state}>"

    def _start(self) -> None:
        if self._is_started:
            if self._outcome is not None:
                return
            raise RuntimeError("the operation already has a reader")
        self._is_started = True
        try:
            self._handle = self._client._start(self._call)
        except Error as error:
            self._end(error=error)
            raise

    def _take(self, handle: Handle) -> Union[E, None, Literal[False]]:
        """Returns the next event; None if none waits; False after the last one."""
        raw = handle.next_event()
        if raw is None:
            return None
        document = cast(Dict[str, Any], json.loads(raw.document.text)) if raw.document.length else None
        if raw.kind == EventKind.RESULT:
            self._end(result=document)
            return False
        if raw.kind == EventKind.ERROR:
            error = Error(
                code_of(raw.code),
                raw.reason.text,
                raw.message.text,
                remedy=raw.remedy.text,
                step=raw.step.text,
                name=raw.name.text,
                document=document,
            )
            self._end(error=error)
            raise error
        return cast(E, self._event(raw, document or {}))

    def _event(self, raw: RawEvent, document: Dict[str, Any]) -> object:
        if raw.kind == EventKind.PAGE:
            url = str(document.get("url", ""))
            return Page(self._answer, url, document.get("user_code"), document.get("complete_url"))
        if raw.kind == EventKind.QUESTION:
            return Question(self._answer, raw.name.text, raw.message.text)
        return Progress(raw.name.text, document, raw.dropped)

    def _answer(self, text: str) -> None:
        if self._handle is None:
            raise Error(Code.USAGE, "usage", "The operation is over.")
        self._handle.answer(text)

    def _end(self, result: Any = None, error: Optional[Error] = None) -> None:
        """Frees the operation, and notes its outcome."""
        if self._outcome is None:
            self._outcome = (result, error)
        # Its arguments may be secrets.
        self._call.arguments = ()
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.free()

    def _abandon(self) -> None:
        """Cancels and frees an operation that nobody reads any more."""
        if self._outcome is None:
            self._end(error=cancelled())


class Reading(Generic[E, R]):
    """One pass over an operation's events. If the reader drops it early, the operation is cancelled and freed."""

    def __init__(self, operation: BaseOperation[E, R]) -> None:
        self._operation = operation

    def __del__(self) -> None:
        self._operation._abandon()


def cancelled() -> Error:
    return Error(Code.CANCELLED, "cancelled", "The operation was cancelled.")


def unanswered(event: Union[Page, Question]) -> Error:
    kind = "shows a page" if isinstance(event, Page) else f"asks for {event.name}"
    return Error(
        Code.USAGE,
        "unanswered",
        f"The operation {kind}, and nobody reads its events.",
        remedy="Read its events with a loop.",
    )
