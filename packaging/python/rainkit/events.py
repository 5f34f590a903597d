# SPDX-License-Identifier: Apache-2.0
"""The events of operations."""
from __future__ import annotations

import dataclasses
from typing import Callable, Generic, Optional, TypeVar, Union

D = TypeVar("D")


@dataclasses.dataclass(frozen=True)
class Progress(Generic[D]):
    """Something happened.

    name      its state, such as ``found``, ``started`` or ``value``
    document  its details
    dropped   how many events before this one were dropped, because more than 1,024 waited
    """

    name: str
    document: D
    dropped: int = 0


@dataclasses.dataclass(frozen=True)
class _Answerable:
    _answer: Callable[[str], None] = dataclasses.field(repr=False, compare=False)


@dataclasses.dataclass(frozen=True)
class Page(_Answerable):
    """The user signs in at a page.

    url           open it in the user's browser
    user_code     for another device: the code that the user enters at the page
    complete_url  for another device: the address that already contains the code, if the provider has one
    """

    # They are not in repr, because they let others take part in the sign-in.
    url: str = dataclasses.field(repr=False)
    user_code: Optional[str] = dataclasses.field(default=None, repr=False)
    complete_url: Optional[str] = dataclasses.field(default=None, repr=False)

    def answer(self, address: str) -> None:
        """Passes on the address at which the browser ended, if it runs on another machine. An empty one cancels."""
        self._answer(address)


@dataclasses.dataclass(frozen=True)
class Question(_Answerable):
    """The operation asks for something and waits for `answer`.

    name     what it asks for, such as ``one_time_code``
    message  the question for people
    """

    name: str
    message: str

    def answer(self, text: str) -> None:
        """Answers the question. An empty answer cancels the operation."""
        self._answer(text)


#: The events of a sign-in.
SignInEvent = Union[Page, Question]
