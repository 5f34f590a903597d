# SPDX-License-Identifier: Apache-2.0
"""The types of results and of events' documents. packaging/python/generate writes this file from docs/schema.

Documents only gain members, so there may be more than these types know.
"""
from typing import Any, List, Optional, TypedDict, Union


class Note(TypedDict):
    """A warning: the operation succeeded, but not completely."""

    reason: str
    message: str


class UpdateEvent(TypedDict, total=False):
    """A step of a firmware update: `bytes` and `size` of uploaded, `offline` of sent, `message` of the others."""

    bytes: int
    size: int
    offline: bool
    message: str


class _Session(TypedDict):
    schema_version: int
    profile: str
    base_url: str
    provider: str
    user_name: str
    user_id: str
    store: str
    received_at: str
    expired: bool
    renewable: bool


class Session(_Session, total=False):
    """The stored session: its user, deployment and times."""

    account: str
    store_path: str
    expires_at: str
    expires_in: int
    refresh_expires_at: str
    refresh_expires_in: int
    warnings: List[Note]


class _ValidToken(TypedDict):
    token: str
    certain: bool


class ValidToken(_ValidToken, total=False):
    """A token that stays valid after a sign-out."""

    expires_at: str


class _SignedOut(TypedDict):
    schema_version: int
    profile: str
    revoked: bool


class SignedOut(_SignedOut, total=False):
    """The result of `sign_out`. `revoked` says whether the cloud ended the session too."""

    still_valid: List[ValidToken]
    sign_out_page: str
    account_in_use: str
    warnings: List[Note]


class _Profile(TypedDict):
    schema_version: int


class Profile(_Profile, total=False):
    """The user's profile."""

    profile: str
    user_name: str
    user_id: str
    name: str
    email: str
    phone_number: str
    locale: str
    is_admin: bool
    attributes: Any
    picture_url: str
    second_step: bool
    administrator: str
    roles: List[str]
    tags: List[str]
    administrator_tags: List[str]
    quota: Any
    guest: bool
    guest_expires_at: str
    warnings: List[Note]


class _DiscoveredBoard(TypedDict):
    transport: str


class DiscoveredBoard(_DiscoveredBoard, total=False):
    """A board in reach."""

    port: str
    address: str
    name: str
    rssi: int
    services: List[str]
    connected: bool
    node_id: str


class _Discovery(TypedDict):
    schema_version: int
    boards: List[DiscoveredBoard]


class Discovery(_Discovery, total=False):
    """The boards that a search found."""

    warnings: List[Note]


class _CustomDataAnswer(TypedDict):
    endpoint: str
    answer_hex: str


class CustomDataAnswer(_CustomDataAnswer, total=False):
    """The answer of an endpoint of the board's application."""

    bytes: int
    answer: str


class _Provisioned(TypedDict):
    schema_version: int
    mapping: str
    claimed: bool
    resumed: bool
    elapsed_ms: int


class Provisioned(_Provisioned, total=False):
    """The result of provisioning. `node_id` is the board's id in the account."""

    node_id: str
    ip: str
    ssid: str
    ssid_hex: str
    custom_data: List[CustomDataAnswer]
    name: str
    warnings: List[Note]


class _Claimed(TypedDict):
    schema_version: int
    claimed: bool


class Claimed(_Claimed, total=False):
    """The result of a claim."""

    node_id: str
    mac: str
    image: str
    flash_address: str
    warnings: List[Note]


class _ListedNode(TypedDict):
    node_id: str


class ListedNode(_ListedNode, total=False):
    """A board in a list."""

    name: str
    model: str
    role: str
    connected: bool


class _NodeList(TypedDict):
    schema_version: int
    nodes: List[ListedNode]


class NodeList(_NodeList, total=False):
    """The boards of the account."""

    warnings: List[Note]


class _Node(TypedDict):
    schema_version: int


class Node(_Node, total=False):
    """A board of the account, whether it is online, and its values."""

    node_id: str
    name: str
    type: str
    model: str
    firmware_version: str
    role: str
    connected: bool
    since: str
    tags: List[str]
    metadata: Any
    params: Any
    warnings: List[Note]


class _Values(TypedDict):
    schema_version: int
    node_id: str
    params: Any


class Values(_Values, total=False):
    """The values that a board reported, in `params`."""

    warnings: List[Note]


class _NodeOutcome(TypedDict):
    node_id: str
    state: str


class NodeOutcome(_NodeOutcome, total=False):
    """The outcome of a change for one board."""

    message: str
    error_code: int
    not_reported: List[str]


class _ValuesSet(TypedDict):
    schema_version: int
    nodes: List[NodeOutcome]


class ValuesSet(_ValuesSet, total=False):
    """The outcome of a change for each board."""

    warnings: List[Note]


class _NodeRemoved(TypedDict):
    schema_version: int
    node_id: str
    removed: bool


class NodeRemoved(_NodeRemoved, total=False):
    """The board that was removed from the account."""

    warnings: List[Note]


class _ScheduleList(TypedDict):
    schema_version: int


class ScheduleList(_ScheduleList, total=False):
    """The schedules of a board."""

    node_id: str
    schedules: List[Any]
    scenes: List[Any]
    warnings: List[Note]


class _ScheduleChanged(TypedDict):
    schema_version: int
    node_id: str
    id: str
    operation: str
    state: str


class ScheduleChanged(_ScheduleChanged, total=False):
    """The schedule that was changed."""

    message: str
    warnings: List[Note]


class SharedBoard(TypedDict):
    """A board and its users."""

    id: str
    primary_users: List[str]
    secondary_users: List[str]


class _SharingList(TypedDict):
    schema_version: int
    shared: List[SharedBoard]


class SharingList(_SharingList, total=False):
    """The users of each board."""

    warnings: List[Note]


class _SharingChanged(TypedDict):
    schema_version: int


class SharingChanged(_SharingChanged, total=False):
    """The boards and the user of a change of sharing, and the `request_id` of an offer."""

    group_id: str
    name: str
    changed: bool
    removed: Union[bool, List[str]]
    added: List[str]
    already: List[str]
    automation_id: str
    request_id: str
    ids: List[str]
    user_name: str
    accepted: bool
    cancelled: bool
    count: int
    node_id: str
    set: List[str]
    deleted: List[str]
    tags: List[str]
    warnings: List[Note]


class _SharingRequest(TypedDict):
    request_id: str
    status: str
    ids: List[str]


class SharingRequest(_SharingRequest, total=False):
    """An offer of boards."""

    user_name: str
    owner_name: str
    requested_at: str
    transfer: bool
    group_names: List[str]
    metadata: Any


class _SharingRequests(TypedDict):
    schema_version: int
    requests: List[SharingRequest]


class SharingRequests(_SharingRequests, total=False):
    """Offers of boards."""

    warnings: List[Note]


class _Updated(TypedDict):
    schema_version: int
    node_id: str
    state: str
    project: str
    version: str
    size: int


class Updated(_Updated, total=False):
    """The result of a firmware update."""

    info: str
    chip: str
    warnings: List[Note]


class ProvisionEvent(TypedDict, total=False):
    """A step of provisioning or of a claim."""

    ts: str
    run: str
    device: str
    step: Optional[str]
    state: str
    code: str
    attempt: int
    elapsed_ms: int
    node_id: str
    detail: str
    reason: str
    user_name: str
    user_id: str
    attributes: Any
    exit: int
    message: str
    retry_after: int


class DiscoveryEvent(TypedDict, total=False):
    """A board that was found, or a transport that cannot search."""

    ts: str
    event: str
    transport: str
    port: str
    address: str
    name: str
    rssi: int
    services: List[str]
    connected: bool
    node_id: str
    reason: str
    message: str


class WatchEvent(TypedDict, total=False):
    """A change or an alert of a board. `added` and `removed` also have `name`, and `added` has `connected`. The events `watching`, `listening`, `interrupted`, `without_alerts`, `unreachable` and `reachable` are about the watch: they have no `node_id`, but `message` if there is a reason."""

    ts: str
    node_id: str
    state: str
    path: str
    value: Any
    previous: Any
    text: str
    values: Any
    name: str
    message: str
    connected: bool
