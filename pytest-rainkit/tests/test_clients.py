# SPDX-License-Identifier: Apache-2.0
"""Espressif's own programs and bleak on the fixtures. `scripts/pytest-plugin` has them installed and runs this."""
import asyncio
import os
import pathlib
import subprocess

import pytest

CLIENT = pathlib.Path(os.environ["OFFICIAL_CLIENT"])


def official(*words, tmp_path):
    """Runs esp-rainmaker-cli with a configuration of its own."""
    folder = tmp_path / "official"
    folder.mkdir(exist_ok=True)
    environment = {
        **os.environ, "RM_USER_CONFIG_DIR": str(folder), "RMAKER_CLI_LOG_DIR": str(folder), "HOME": str(folder), "NO_PROXY": "*",
    }
    done = subprocess.run([CLIENT, *words], env=environment, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return done.stdout + done.stderr


#: Espressif's esp_prov, in the version that its command-line client brings along; the script of that name beside it takes no board over HTTP.
ESP_PROV = """
import sys
from rmaker_tools.rmaker_prov.prov import prov_util as esp_prov

address, version, secret, ssid, passphrase = sys.argv[1:]
transport = esp_prov.get_transport("softap", address)
patch = esp_prov.get_sec_patch_ver(transport)
security = esp_prov.get_security(int(version), patch, "wifiprov", secret, secret)
assert esp_prov.establish_session(transport, security), "no session"
assert esp_prov.send_wifi_config(transport, security, ssid, passphrase), "settings refused"
assert esp_prov.apply_wifi_config(transport, security), "not applied"
"""


@pytest.mark.parametrize("preset, security", [("rainmaker-1.8.5", "1"), ("idf-4.4", "1"), ("idf-6.0", "2")])
def test_esp_prov(board, preset, security):
    """Espressif's esp_prov puts a board on Wi-Fi over HTTP."""
    device = board(preset=preset)
    done = subprocess.run(
        [CLIENT.parent / "python", "-c", ESP_PROV, device.http, security, device.pop, device.ssid, device.passphrase],
        capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert device.joined()["ssid"] == device.ssid


def test_bleak(bluetooth, board):
    """bleak hears the board, and reads what it is."""
    from bleak import BleakClient, BleakScanner

    device = board("--ble", "--security", "1")

    async def read():
        found = await BleakScanner.find_device_by_name(device.bluetooth["name"], timeout=10)
        assert found is not None
        async with BleakClient(found) as client:
            return [characteristic.uuid for service in client.services for characteristic in service.characteristics]

    assert len(asyncio.run(read())) >= 4


def test_official_client(cloud, board, bluetooth, tmp_path):
    """esp-rainmaker-cli signs in, provisions a board over Bluetooth, and sees it in the account."""
    device = board("--ble", "--security", "1", "--mapping", "user", node="node-1")
    official("profile", "add", "sim", "--base-url", cloud.api + "/", tmp_path=tmp_path)
    official("profile", "switch", "sim", tmp_path=tmp_path)
    said = official("login", "--user_name", cloud.user, "--password", cloud.password, tmp_path=tmp_path)
    said += official(
        "provision", "--transport", "ble", "--device_name", device.bluetooth["name"], "--pop", device.pop, "--ssid", device.ssid,
        "--passphrase", device.passphrase, "--no-retry", tmp_path=tmp_path)
    device.joined(30)
    nodes = official("getnodes", tmp_path=tmp_path)
    assert "node-1" in nodes, said + nodes


def test_journal_times_out(board):
    with pytest.raises(TimeoutError):
        board().wait_for(0.1, event="never")
