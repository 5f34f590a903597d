# SPDX-License-Identifier: Apache-2.0
"""Runs Home Assistant with its MQTT integration, on this machine only: home_assistant.py FOLDER BROKER_PORT HTTP_PORT

Prints one line of JSON with a token for its REST API, and then becomes Home Assistant, which works until it is ended.
"""
import json
import os
import pathlib
import secrets
import sys
import time
import uuid

import jwt

folder, broker, port = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
storage = folder / ".storage"
storage.mkdir(parents=True, exist_ok=True)
user, token_id, key = uuid.uuid4().hex, uuid.uuid4().hex, secrets.token_hex(64)
created = "2024-01-01T00:00:00+00:00"


def store(name, version, minor, data):
    content = {"version": version, "minor_version": minor, "key": name, "data": data}
    (storage / name).write_text(json.dumps(content))


store("auth", 1, 1, {
    "users": [{
        "id": user, "group_ids": ["system-admin"], "is_owner": True, "is_active": True, "name": "Owner",
        "system_generated": False, "local_only": False,
    }],
    "groups": [], "credentials": [],
    "refresh_tokens": [{
        "id": token_id, "user_id": user, "client_id": None, "client_name": "test", "client_icon": None,
        "token_type": "long_lived_access_token", "created_at": created, "access_token_expiration": 315360000.0,
        "token": secrets.token_hex(64), "jwt_key": key, "last_used_at": None, "last_used_ip": None,
        "expire_at": None, "credential_id": None, "version": "2024.3.3",
    }],
})
store("onboarding", 4, 1, {"done": ["user", "core_config", "analytics", "integration"]})
store("core.config_entries", 1, 1, {"entries": [{
    "entry_id": uuid.uuid4().hex, "version": 1, "minor_version": 1, "domain": "mqtt", "title": "MQTT",
    "data": {"broker": "127.0.0.1", "port": broker, "discovery": True, "protocol": "5"}, "options": {},
    "pref_disable_new_entities": False, "pref_disable_polling": False, "source": "user", "unique_id": None,
    "disabled_by": None,
}]})
(folder / "configuration.yaml").write_text(
    f"homeassistant:\n  name: Test\n  time_zone: UTC\n  unit_system: metric\nhttp:\n  server_host: 127.0.0.1\n"
    f"  server_port: {port}\napi:\nconfig:\nfrontend:\nlogger:\n  default: warning\n")
now = int(time.time())
token = jwt.encode({"iss": token_id, "iat": now, "exp": now + 86400 * 365}, key, algorithm="HS256")
print(json.dumps({"token": token, "url": f"http://127.0.0.1:{port}"}), flush=True)

program = str(pathlib.Path(sys.executable).with_name("hass"))
os.execv(program, [program, "--config", str(folder), "--skip-pip", "--log-no-color"])
