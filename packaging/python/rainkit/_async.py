# SPDX-License-Identifier: Apache-2.0
"""The client for programs with an event loop."""
from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any, AsyncIterator, Awaitable, Generator, Generic, Iterable, Mapping, Optional, Type, TypeVar, Union

from . import _calls, documents
from ._calls import FilePath, Nodes, Values
from ._clients import BaseClient
from ._library import EventKind, ScheduleChange
from ._operations import END_LIMIT, BaseOperation, Call, E, Handle, R, Reading, cancelled, unanswered
from .events import Page, Progress, Question, SignInEvent

Self = TypeVar("Self", bound="Client")


class Operation(BaseOperation[E, R], Awaitable[R]):
    """Something that takes a while. It starts when it is awaited or iterated, once.

    ``result = await operation`` waits for its end. ``async for event in operation`` reads its events; after the loop,
    ``operation.result`` is its result. Both raise its `Error` if it fails. Leaving the loop early cancels and frees it.
    Cancelling the task cancels it too, and waits until it has ended, so that its board is free again.
    """

    def __aiter__(self) -> AsyncIterator[E]:
        self._start()
        return _Events(self)

    def __await__(self) -> Generator[Any, None, R]:
        return self._wait().__await__()

    async def _wait(self) -> R:
        async for event in self:
            if isinstance(event, (Page, Question)):
                raise unanswered(event)
        return self.result

    async def _next(self) -> Optional[E]:
        """Returns the next event; None after the last one."""
        handle = self._handle
        if handle is None:
            self.result
            return None
        try:
            # Other tasks run between two events, also if many wait, and may cancel this one.
            await asyncio.sleep(0)
            while (event := self._take(handle)) is None:
                await _readable(handle.descriptor)
            return None if event is False else event
        except asyncio.CancelledError:
            await self._stop(handle)
            raise
        except BaseException:
            self._abandon()
            raise

    async def _stop(self, handle: Handle) -> None:
        async def read() -> None:
            while True:
                raw = handle.next_event()
                if raw is None:
                    await _readable(handle.descriptor)
                elif raw.kind >= EventKind.RESULT:
                    return

        try:
            handle.cancel()
            await asyncio.wait_for(read(), END_LIMIT)
        except asyncio.TimeoutError:
            pass
        finally:
            self._end(error=cancelled())


class _Events(Reading[E, R], AsyncIterator[E], Generic[E, R]):
    _operation: Operation[E, R]

    async def __anext__(self) -> E:
        event = await self._operation._next()
        if event is None:
            raise StopAsyncIteration
        return event


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(descriptor)


class Client(BaseClient):
    __doc__ = BaseClient.__doc__

    async def close(self) -> None:
        """Closes the client. Its operations end with `Code.CANCELLED`.

        Waits at most 5 s for a renewal of tokens that is under way, since losing the cloud's answer may lose the session.
        """
        self._handle = None
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, self._free))

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def _run(self, call: Call[R]) -> R:
        return await Operation[Any, R](self, call)

    # The methods. generate makes those of the blocking client from them.
    # Times are in seconds; None is the default, which each method names. Documents are in rainkit.documents.

    # ---- The account

    def sign_in(
        self, user: str, password: str, *, timeout: Optional[float] = None
    ) -> Operation[SignInEvent, documents.Session]:
        """Signs in with a user name and a password, and keeps the session (default limit: 60 s).

        A user with a second step gets a `Question` named ``one_time_code``.
        """
        return Operation(self, _calls.sign_in(user, password, timeout))

    def sign_in_browser(
        self, identity_provider: str = "", *, timeout: Optional[float] = None
    ) -> Operation[SignInEvent, documents.Session]:
        """Signs in with a browser (default limit: 300 s).

        The first event is a `Page`: open its ``url`` in the user's browser on this machine. If the browser runs
        elsewhere, pass the address at which it ends to ``page.answer``. `identity_provider` is the provider behind
        RainMaker's page, such as ``github``.
        """
        return Operation(self, _calls.sign_in_browser(identity_provider, timeout))

    def sign_in_device(self, *, timeout: Optional[float] = None) -> Operation[SignInEvent, documents.Session]:
        """Signs in on another device, at a provider that offers this (RFC 8628; default limit: 600 s).

        The first event is a `Page`: show its ``url`` and its ``user_code``.
        """
        return Operation(self, _calls.sign_in_device(timeout))

    async def sign_out(self, *, everywhere: bool = False, timeout: Optional[float] = None) -> documents.SignedOut:
        """Ends the session here and at the cloud, or all sessions of the user (default limit: 60 s)."""
        return await self._run(_calls.sign_out(everywhere, timeout))

    async def session(self, *, timeout: Optional[float] = None) -> documents.Session:
        """Reads the stored session. Sends nothing. Raises `Error` with `Code.AUTH` if there is none."""
        return await self._run(_calls.session(timeout))

    async def profile(self, *, timeout: Optional[float] = None) -> documents.Profile:
        """Fetches the user's profile from the cloud (default limit: 60 s)."""
        return await self._run(_calls.profile(timeout))

    async def renew(
        self, *, min_valid: Optional[float] = None, timeout: Optional[float] = None
    ) -> documents.Session:
        """Makes sure that the access token is valid for `min_valid` seconds (default: 60), and renews it if not.

        Then `access_token` has it. Any number of clients and processes may do this at once: one of them renews.
        The default limit is 60 s.
        """
        return await self._run(_calls.renew(min_valid, timeout))

    # ---- Boards

    def discover(
        self, transports: Union[str, Iterable[str]] = (), *, timeout: Optional[float] = None
    ) -> Operation[Progress[documents.DiscoveryEvent], documents.Discovery]:
        """Searches for boards until the time is over (default: 20 s), over all transports or over those named:
        ``serial``, ``ble``, ``softap`` and ``on-network``.

        Each board is an event named ``found``. A transport that cannot search is one named ``warning``. The result has
        all boards. Pass a board's ``transport:location`` to `provision`, such as ``ble:PROV_a1b2c3``.
        """
        return Operation(self, _calls.discover(transports, timeout))

    def provision(
        self,
        board: str = "",
        *,
        ssid: Union[str, bytes] = b"",
        passphrase: str = "",
        proof: str = "",
        qr_payload: Union[str, bytes] = b"",
        user_name: str = "",
        security: Optional[int] = None,
        keep_network: bool = False,
        without_account: bool = False,
        reset_first: bool = False,
        name: str = "",
        tags: Optional[Mapping[str, str]] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        custom_endpoint: str = "",
        custom_data: bytes = b"",
        timeout: Optional[float] = None,
    ) -> Operation[Progress[documents.ProvisionEvent], documents.Provisioned]:
        """Puts a board on Wi-Fi and into the account. Events are named by their state. The result has its ``node_id``.

        An event also has ``node_id`` as soon as it is known: store it, because the board may be in the account even if the
        operation fails or is cancelled later.

        board            address: ``serial:/dev/ttyUSB0``, ``ble:PROV_a1b2c3``, ``softap:192.168.4.1:80`` or
                         ``softap:?device-name=PROV_a1b2c3``; empty: the one in `qr_payload`, else the only board in reach
        ssid             name of the network, 1 to 32 bytes, which need not be UTF-8
        passphrase       8 to 63 bytes, or a WEP key of 5; a board that accepts a key itself: 64 hexadecimal digits; empty
                         for an open network
        proof            proof of possession; empty for a board that needs none
        qr_payload       content of the board's QR code, which has its name and proof
        user_name        for Security 2; default: ``wifiprov``
        security         required security scheme: 0, 1 or 2; default: the board's, but not 0 if there is a proof
        keep_network     the board keeps its Wi-Fi, and `ssid` is ignored
        without_account  the board is not put into the account
        reset_first      the board first forgets Wi-Fi settings that failed
        name, tags, metadata   of the board in the account; if a name or tag cannot be set, the operation still succeeds,
                         and ``warnings`` of the result says so (reason ``not_named``): use ``node_id`` from then on
        custom_data      bytes for an endpoint of the board's application, sent before the Wi-Fi settings
        custom_endpoint  name of that endpoint; default: ``custom-data``
        timeout          default: 120 s
        """
        return Operation(
            self,
            _calls.provision(
                board,
                qr_payload,
                proof,
                user_name,
                security,
                ssid,
                passphrase,
                keep_network,
                without_account,
                reset_first,
                name,
                tags,
                metadata,
                custom_endpoint,
                custom_data,
                timeout,
            ),
        )

    def claim(
        self, board: str = "", *, proof: str = "", timeout: Optional[float] = None
    ) -> Operation[Progress[documents.ProvisionEvent], documents.Claimed]:
        """Gets a board its cloud certificate, and changes nothing else (default limit: 120 s).

        `board` is the address of a board that claims by itself; empty: the only board on a cable.
        """
        return Operation(self, _calls.claim(board, proof, timeout))

    # ---- The boards of the account, by their id or name (default limit: 30 s)

    async def nodes(self, *, timeout: Optional[float] = None) -> documents.NodeList:
        """Lists the boards of the account."""
        return await self._run(_calls.nodes(timeout))

    async def node(self, node: str, *, timeout: Optional[float] = None) -> documents.Node:
        """Finds a board, and returns whether it is online and its values."""
        return await self._run(_calls.node(node, timeout))

    async def get(self, node: str, *, timeout: Optional[float] = None) -> documents.Values:
        """Reads the values that a board has reported."""
        return await self._run(_calls.get(node, timeout))

    async def set(
        self, nodes: Nodes, values: Values, *, wait: Optional[float] = None, timeout: Optional[float] = None
    ) -> documents.ValuesSet:
        """Sets values of one or several boards, such as ``{"Light": {"Power": True}}``.

        Names, types and bounds are checked before anything is sent. With `wait` it also waits so many seconds for the
        boards to report the values. Then it raises `Error` with `Code.DEADLINE` or `Code.BATCH_PARTIAL` if they do not.
        Until a new board has reported its devices, it raises `Code.BAD_DATA` with the reason ``no_configuration``.
        """
        return await self._run(_calls.set_values(nodes, values, wait, timeout))

    def watch(
        self, nodes: Optional[Nodes] = None, *, timeout: Optional[float] = None
    ) -> Operation[Progress[documents.WatchEvent], Mapping[str, Any]]:
        """Watches boards until the loop ends, the operation is cancelled or the time is over (default: no limit).

        ``watching``               the watch has begun: no later change is missed
        ``online``, ``offline``    the cloud sees the board, or not any more
        ``value``                  a value is different: ``path``, ``value`` and ``previous``
        ``alert``                  an alert of a board
        ``without_alerts``         the cloud does not let this user listen to alerts
        ``listening``, ``interrupted``  the boards' own reports are heard from now on, or not any more

        Without `nodes` it watches all boards of the account, also those that are added later. Then there are also:

        ``added``, ``removed``     a board came into the account or left it; at the start, ``added`` comes once for each board.
                                   ``added`` has ``name`` and, if the cloud says so, ``connected``
        ``unreachable``, ``reachable``  the cloud does not answer, or answers again
        """
        return Operation(self, _calls.watch(nodes, timeout))

    async def rename(self, node: str, name: str, *, timeout: Optional[float] = None) -> documents.ValuesSet:
        """Renames a board."""
        return await self._run(_calls.rename(node, name, timeout))

    async def remove(self, node: str, *, timeout: Optional[float] = None) -> documents.NodeRemoved:
        """Removes a board from the account."""
        return await self._run(_calls.remove(node, timeout))

    def update(
        self, node: str, image: FilePath, *, timeout: Optional[float] = None
    ) -> Operation[Progress[documents.UpdateEvent], documents.Updated]:
        """Sends a board new firmware from a file, and waits until it runs (default limit: 300 s).

        Events are named ``uploaded``, ``retrying``, ``news`` and ``sent``.
        """
        return Operation(self, _calls.update(node, image, timeout))

    # ---- Schedules

    async def schedules(self, node: str, *, timeout: Optional[float] = None) -> documents.ScheduleList:
        """Lists a board's schedules."""
        return await self._run(_calls.schedules(node, timeout))

    async def add_schedule(
        self, node: str, name: str, values: Values, time: str, days: str = "", *, timeout: Optional[float] = None
    ) -> documents.ScheduleChanged:
        """Adds a schedule: the board sets the values at a time of its own clock.

        `time` is ``HH:MM``, ``+MINUTES`` or ``sunrise`` and the like; `days` is ``mon-fri``, ``daily`` and the like,
        empty for once.
        """
        return await self._run(
            _calls.add_schedule(node, name, values, time, days, timeout)
        )

    async def remove_schedule(
        self, node: str, schedule: str, *, timeout: Optional[float] = None
    ) -> documents.ScheduleChanged:
        """Removes a schedule, given by its id or name."""
        return await self._run(
            _calls.change_schedule(node, schedule, ScheduleChange.REMOVE, timeout)
        )

    async def enable_schedule(
        self, node: str, schedule: str, *, timeout: Optional[float] = None
    ) -> documents.ScheduleChanged:
        """Enables a schedule, given by its id or name."""
        return await self._run(
            _calls.change_schedule(node, schedule, ScheduleChange.ENABLE, timeout)
        )

    async def disable_schedule(
        self, node: str, schedule: str, *, timeout: Optional[float] = None
    ) -> documents.ScheduleChanged:
        """Disables a schedule, given by its id or name."""
        return await self._run(
            _calls.change_schedule(node, schedule, ScheduleChange.DISABLE, timeout)
        )

    # ---- Sharing

    async def shares(self, node: str = "", *, timeout: Optional[float] = None) -> documents.SharingList:
        """Lists the users of a board, or of all boards."""
        return await self._run(_calls.shares(node, timeout))

    async def share(
        self, nodes: Nodes, user: str, *, timeout: Optional[float] = None
    ) -> documents.SharingChanged:
        """Offers boards to another user, who has to accept. The result has the ``request_id`` of the offer."""
        return await self._run(_calls.share(nodes, user, timeout))

    async def stop_sharing(
        self, nodes: Nodes, user: str, *, timeout: Optional[float] = None
    ) -> documents.SharingChanged:
        """Stops sharing boards with a user."""
        return await self._run(_calls.stop_sharing(nodes, user, timeout))

    async def share_requests(
        self, *, sent: bool = False, timeout: Optional[float] = None
    ) -> documents.SharingRequests:
        """Lists the offers that wait for this user's answer, or those that this user made."""
        return await self._run(_calls.share_requests(sent, timeout))

    async def accept_share(self, request_id: str, *, timeout: Optional[float] = None) -> documents.SharingChanged:
        """Accepts an offer."""
        return await self._run(_calls.answer_share(request_id, True, timeout))

    async def decline_share(self, request_id: str, *, timeout: Optional[float] = None) -> documents.SharingChanged:
        """Declines an offer."""
        return await self._run(_calls.answer_share(request_id, False, timeout))
