# SPDX-License-Identifier: Apache-2.0

# What a bleak program does with a board: finds it by its service, connects, reads every user description, asks for the version, meets the
# errors, loses the link and comes back. Prints one JSON object.
import asyncio
import json
import sys

from bleak import BleakClient, BleakScanner
from bleak.exc import BleakError

SERVICE = "021a9004-0382-4aea-bff4-6b3f1c5adfb4"
VERSION = "021aff53-0382-4aea-bff4-6b3f1c5adfb4"
SESSION = "021aff51-0382-4aea-bff4-6b3f1c5adfb4"


async def failure(action):
    try:
        await action
    except BleakError as error:
        return str(error)
    return None


async def main():
    result = {}
    device = await BleakScanner.find_device_by_filter(
        lambda device, advertisement: SERVICE in advertisement.service_uuids, timeout=10)
    result["name"], result["address"] = device.name, device.address
    dropped = asyncio.Event()
    async with BleakClient(device, disconnected_callback=lambda _: dropped.set()) as client:
        result["endpoints"] = {}
        for characteristic in client.services.get_service(SERVICE).characteristics:
            for descriptor in characteristic.descriptors:
                name = bytes(await client.read_gatt_descriptor(descriptor.handle)).decode()
                result["endpoints"][name] = characteristic.uuid
            result["properties"] = characteristic.properties
        result["before"] = len(await client.read_gatt_char(VERSION))
        await client.write_gatt_char(VERSION, b"---", response=True)
        result["version"] = bytes(await client.read_gatt_char(VERSION)).decode()
        await client.write_gatt_char(VERSION, b"", response=True)
        result["empty_write_keeps"] = bytes(await client.read_gatt_char(VERSION)).decode() == result["version"]
        result["too_long"] = await failure(client.write_gatt_char(VERSION, bytes(513), response=True))
        result["refused"] = await failure(client.write_gatt_char(SESSION, b"\xff\xff", response=True))
        result["connected"] = client.is_connected
    await asyncio.wait_for(dropped.wait(), 10)
    # The second scan must see a device that is in the tree already.
    again = await BleakScanner.find_device_by_address(device.address, timeout=10)
    async with BleakClient(again) as client:
        result["value_after_reconnect"] = len(await client.read_gatt_char(VERSION))
    print(json.dumps(result))


asyncio.run(main())
