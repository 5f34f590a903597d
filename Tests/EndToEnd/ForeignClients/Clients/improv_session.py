# SPDX-License-Identifier: Apache-2.0
"""Speaks Improv to a serial port with the commands and results of py-improv-ble-client, and prints what came as JSON.

Over a cable a command travels without that client's own checksum, in a packet with one of its own (improv-wifi.com/serial).
Usage: improv_session.py PORT SSID PASSPHRASE; or improv_session.py codec
"""
import json
import os
import select
import sys
import time

from improv_ble_client import protocol as codec


def packet(kind, data):
    body = b"IMPROV\x01" + bytes([kind, len(data)]) + data
    return body + bytes([sum(body) & 0xFF]) + b"\n"


def packets(port, seconds):
    """Packets until the time is over, found by the checksum."""
    buffer, end = b"", time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([port], [], [], left)[0]:
            buffer += os.read(port, 4096)
        while (start := buffer.find(b"IMPROV\x01")) >= 0 and len(buffer) > start + 8:
            stop = start + 9 + buffer[start + 8]
            if len(buffer) <= stop:
                break
            if sum(buffer[start:stop]) & 0xFF == buffer[stop]:
                yield buffer[start + 7], buffer[start + 9 : stop]
                buffer = buffer[stop + 1 :]
            else:
                buffer = buffer[start + 1 :]


def main():
    settings = codec.WiFiSettingsCmd
    if sys.argv[1] == "codec":
        commands = {
            "join": settings(b"MyWirelessAP", b"mysecurepassword").as_bytes(),
            "join_open": settings(b"Cafe", b"").as_bytes(),
            "information": codec.DeviceInfoCmd().as_bytes(),
        }
        print(json.dumps({name: packet(3, data[:-1]).hex() for name, data in commands.items()}
                         | {"states": {state.name: state.value for state in codec.State},
                            "errors": {error.name: error.value for error in codec.Error}}))
        return
    port = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
    heard = {"states": [], "errors": [], "information": None, "url": None}
    os.write(port, packet(3, codec.DeviceInfoCmd().as_bytes()[:-1]))
    asked = False
    for kind, data in packets(port, 10):
        if kind == 1:
            heard["states"].append(codec.State(data[0]).name)
        elif kind == 2:
            heard["errors"].append(codec.Error(data[0]).name)
        elif kind == 4:
            # That client's results end with a checksum of their own.
            whole = data + bytes([sum(data) & 0xFF])
            if data[0] == codec.DeviceInfoRes.cmd_id:
                result = codec.DeviceInfoRes.from_bytes(whole)
                heard["information"] = [result.firmware_name, result.firmware_version, result.hardware_chip, result.device_name]
            elif data[0] == codec.WiFiSettingsRes.cmd_id:
                heard["url"] = codec.WiFiSettingsRes.from_bytes(whole).redirect_url
        if heard["information"] and not asked:
            asked = True
            os.write(port, packet(3, settings(sys.argv[2].encode(), sys.argv[3].encode()).as_bytes()[:-1]))
        if heard["url"] or heard["errors"]:
            break
    print(json.dumps(heard, default=lambda value: value.decode()))


main()
