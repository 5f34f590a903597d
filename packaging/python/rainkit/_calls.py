# SPDX-License-Identifier: Apache-2.0
"""The arguments of the library's functions, made of Python's. Times are in seconds here and in milliseconds there."""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Iterable, Mapping, Optional, Union

from . import documents
from ._library import ClaimOptions, ProvisionOptions, ScheduleChange, String
from ._operations import Call

#: One node, or several: ids or names.
Nodes = Union[str, Iterable[str]]
Values = Mapping[str, Mapping[str, Any]]
FilePath = Union[str, "os.PathLike[str]"]
#: The library's limit for one text.
MAXIMUM_BYTES = 1 << 20


def text(value: Union[str, bytes, None]) -> String:
    return String.of(value or b"")


def checked(value: str, name: str) -> String:
    """A text that may be empty. The library refuses a NUL character, and more than 1 MiB, without naming the argument."""
    if "\0" in value:
        raise ValueError(f"{name} has a NUL character")
    string = String.of(value)
    if string.length > MAXIMUM_BYTES:
        raise ValueError(f"{name} is longer than 1 MiB")
    return string


def needed(value: str, name: str) -> String:
    if not value:
        raise ValueError(f"{name} is empty")
    return checked(value, name)


def needed_secret(value: str, name: str) -> String:
    """A secret may have any character."""
    if not value:
        raise ValueError(f"{name} is empty")
    return String.of(value)


def milliseconds(seconds: Optional[float]) -> int:
    """Returns 0, the default, for None."""
    if seconds is None:
        return 0
    result = max(1, round(seconds * 1000)) if seconds > 0 else 0
    if not 0 < result < 1 << 32:
        raise ValueError("a time must be more than 0 and less than 4,294,967 seconds")
    return result


def json_text(value: Optional[Mapping[str, Any]]) -> String:
    return text(None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False))


def listed(nodes: Nodes, name: str = "node") -> String:
    names = [nodes] if isinstance(nodes, str) else list(nodes)
    if not names or not all(names):
        raise ValueError(f"{name} is empty")
    return checked(",".join(names), name)


def sign_in(user: str, password: str, timeout: Optional[float]) -> Call[documents.Session]:
    return Call("rainkit_sign_in_password", needed(user, "user"), needed_secret(password, "password"), milliseconds(timeout))


def sign_in_browser(identity_provider: str, timeout: Optional[float]) -> Call[documents.Session]:
    return Call("rainkit_sign_in_browser", checked(identity_provider, "identity_provider"), milliseconds(timeout))


def sign_in_device(timeout: Optional[float]) -> Call[documents.Session]:
    return Call("rainkit_sign_in_device", milliseconds(timeout))


def sign_out(everywhere: bool, timeout: Optional[float]) -> Call[documents.SignedOut]:
    return Call("rainkit_sign_out", int(everywhere), milliseconds(timeout))


def session(timeout: Optional[float]) -> Call[documents.Session]:
    return Call("rainkit_session", milliseconds(timeout))


def profile(timeout: Optional[float]) -> Call[documents.Profile]:
    return Call("rainkit_profile", milliseconds(timeout))


def renew(min_valid: Optional[float], timeout: Optional[float]) -> Call[documents.Session]:
    return Call("rainkit_renew", milliseconds(min_valid), milliseconds(timeout))


def discover(transports: Union[str, Iterable[str]], timeout: Optional[float]) -> Call[documents.Discovery]:
    names = transports if isinstance(transports, str) else ",".join(transports)
    return Call("rainkit_discover", checked(names, "transports"), milliseconds(timeout))


def provision(
    board: str,
    qr_payload: Union[str, bytes],
    proof: str,
    user_name: str,
    security: Optional[int],
    ssid: Union[str, bytes],
    passphrase: str,
    keep_network: bool,
    without_account: bool,
    reset_first: bool,
    name: str,
    tags: Optional[Mapping[str, str]],
    metadata: Optional[Mapping[str, Any]],
    custom_endpoint: str,
    custom_data: bytes,
    timeout: Optional[float],
) -> Call[documents.Provisioned]:
    if security not in (None, 0, 1, 2):
        raise ValueError("security must be 0, 1 or 2")
    if not ssid and not keep_network:
        raise ValueError("ssid is empty: name the network, or set keep_network")
    pairs = [f"{key}:{value}" for key, value in (tags or {}).items()]
    if any("," in pair for pair in pairs) or any(":" in key for key in tags or {}):
        raise ValueError("tags must not have commas, and their keys no colons")
    options = ProvisionOptions(
        size=ctypes.sizeof(ProvisionOptions),
        board=checked(board, "board"),
        qr_payload=text(qr_payload),
        proof=text(proof),
        user_name=checked(user_name, "user_name"),
        security=0 if security is None else security + 1,
        keeps_network=int(keep_network),
        ssid=text(ssid),
        passphrase=text(passphrase),
        without_account=int(without_account),
        resets_first=int(reset_first),
        name=checked(name, "name"),
        tags=checked(",".join(pairs), "tags"),
        metadata=json_text(metadata),
        custom_endpoint=checked(custom_endpoint, "custom_endpoint"),
        custom_data=text(custom_data),
        timeout_ms=milliseconds(timeout),
    )
    return Call("rainkit_provision", options)


def claim(board: str, proof: str, timeout: Optional[float]) -> Call[documents.Claimed]:
    size = ctypes.sizeof(ClaimOptions)
    return Call("rainkit_claim", ClaimOptions(size, checked(board, "board"), text(proof), milliseconds(timeout)))


def nodes(timeout: Optional[float]) -> Call[documents.NodeList]:
    return Call("rainkit_node_list", milliseconds(timeout))


def node(name: str, timeout: Optional[float]) -> Call[documents.Node]:
    return Call("rainkit_node_show", needed(name, "node"), milliseconds(timeout))


def get(name: str, timeout: Optional[float]) -> Call[documents.Values]:
    return Call("rainkit_node_get", needed(name, "node"), milliseconds(timeout))


def set_values(names: Nodes, values: Values, wait: Optional[float], timeout: Optional[float]) -> Call[documents.ValuesSet]:
    return Call("rainkit_node_set", listed(names), json_text(values), milliseconds(wait), milliseconds(timeout))


def watch(names: Optional[Nodes], timeout: Optional[float]) -> Call[Mapping[str, Any]]:
    return Call("rainkit_node_watch", text(None) if names is None else listed(names), milliseconds(timeout))


def rename(name: str, new_name: str, timeout: Optional[float]) -> Call[documents.ValuesSet]:
    return Call("rainkit_node_rename", needed(name, "node"), needed(new_name, "name"), milliseconds(timeout))


def remove(name: str, timeout: Optional[float]) -> Call[documents.NodeRemoved]:
    return Call("rainkit_node_remove", needed(name, "node"), milliseconds(timeout))


def schedules(name: str, timeout: Optional[float]) -> Call[documents.ScheduleList]:
    return Call("rainkit_schedule_list", needed(name, "node"), milliseconds(timeout))


def add_schedule(node: str, name: str, values: Values, time: str, days: str, timeout: Optional[float]) -> Call[documents.ScheduleChanged]:
    return Call(
        "rainkit_schedule_add",
        needed(node, "node"),
        needed(name, "name"),
        json_text(values),
        needed(time, "time"),
        checked(days, "days"),
        milliseconds(timeout),
    )


def change_schedule(node: str, schedule: str, change: ScheduleChange, timeout: Optional[float]) -> Call[documents.ScheduleChanged]:
    return Call(
        "rainkit_schedule_change",
        needed(node, "node"),
        needed(schedule, "schedule"),
        int(change),
        milliseconds(timeout),
    )


def shares(node: str, timeout: Optional[float]) -> Call[documents.SharingList]:
    return Call("rainkit_share_list", checked(node, "node"), milliseconds(timeout))


def share(names: Nodes, user: str, timeout: Optional[float]) -> Call[documents.SharingChanged]:
    return Call("rainkit_share_add", listed(names), needed(user, "user"), milliseconds(timeout))


def stop_sharing(names: Nodes, user: str, timeout: Optional[float]) -> Call[documents.SharingChanged]:
    return Call("rainkit_share_remove", listed(names), needed(user, "user"), milliseconds(timeout))


def share_requests(sent: bool, timeout: Optional[float]) -> Call[documents.SharingRequests]:
    return Call("rainkit_share_requests", int(sent), milliseconds(timeout))


def answer_share(request_id: str, accept: bool, timeout: Optional[float]) -> Call[documents.SharingChanged]:
    return Call("rainkit_share_answer", needed(request_id, "request_id"), int(accept), milliseconds(timeout))


def update(node: str, image: FilePath, timeout: Optional[float]) -> Call[documents.Updated]:
    return Call("rainkit_update", needed(node, "node"), needed(os.fspath(image), "image"), milliseconds(timeout))
