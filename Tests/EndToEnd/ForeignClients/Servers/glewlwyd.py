# SPDX-License-Identifier: Apache-2.0
"""A Glewlwyd of one's own on loopback, and a person who uses it without a browser.

    glewlwyd.py serve            starts the server that scripts/foreign-client has unpacked, in a new folder, on the first of GLEWLWYD_PORTS, with
                                 SQLite; sets it up over its own REST interface; prints one JSON line; ends with standard input.
    glewlwyd.py visit URL        is $BROWSER: signs in as ada, grants what is asked for and goes where the server sends a browser, to
                                 the loopback listener in the end. GLEWLWYD_DENY=1 grants nothing.

Nothing here is RainKit's: only Python's standard library and Glewlwyd's documented REST interface (API.md, OIDC.md).
"""

import gzip
import http.client
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))
UNPACKED = os.path.join(ROOT, ".build", "identity-servers", "glewlwyd")
USER, PASSWORD = "ada", "correct-horse"
SCOPES = ["openid", "profile", "g_profile"]


class Client:
    """One HTTP exchange after the other, with cookies, without following redirects."""

    def __init__(self, base):
        self.host = urllib.parse.urlsplit(base).netloc
        self.cookies = {}

    def send(self, method, path, body=None, form=False):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        headers = {"Accept": "application/json"}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        data = None
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded" if form else "application/json"
            data = urllib.parse.urlencode(body) if form else json.dumps(body)
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        content = response.read()
        for name, value in response.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.split(";")[0]
        location = response.getheader("Location")
        connection.close()
        return response.status, location, content

    def must(self, method, path, body=None):
        status, _, content = self.send(method, path, body)
        if not 200 <= status < 300:
            raise SystemExit(f"{method} {path}: {status} {content[:400]!r}")
        return json.loads(content) if content[:1] in (b"{", b"[") else None


def sign_in(client, user, password):
    client.must("POST", "/api/auth/", {"username": user, "password": password})


def set_up(base):
    admin = Client(base)
    sign_in(admin, "admin", "password")
    admin.must("POST", "/api/scope/", {"name": "profile", "display_name": "Profile", "password_required": False})
    admin.must("POST", "/api/user/?source=database", {
        "username": USER, "name": "Ada Lovelace", "email": "ada@example.com", "password": PASSWORD,
        "scope": ["openid", "profile", "g_profile"], "enabled": True,
    })
    for client in [
        {"client_id": "native-1", "confidential": False,
         "authorization_type": ["code", "token", "id_token", "refresh_token", "device_authorization", "delete_token"],
         "redirect_uri": REDIRECTS, "token_endpoint_auth_method": ["none"]},
        {"client_id": "web-1", "confidential": True, "client_secret": "web-1-secret",
         "authorization_type": ["code", "token", "id_token", "password", "client_credentials", "refresh_token",
                                "device_authorization", "delete_token"],
         "redirect_uri": REDIRECTS, "token_endpoint_auth_method": ["client_secret_basic", "client_secret_post"]},
    ]:
        client |= {"name": client["client_id"], "scope": ["openid", "profile"], "enabled": True}
        admin.must("POST", "/api/client/?source=database", client)
    # Signs the id tokens (RS256); Glewlwyd publishes the public half.
    private = subprocess.run(
        ["openssl", "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], check=True,
        capture_output=True, text=True).stdout
    public = subprocess.run(
        ["openssl", "pkey", "-pubout"], input=private, check=True, capture_output=True, text=True).stdout
    admin.must("POST", "/api/mod/plugin/", {
        "module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "enabled": True,
        "parameters": {
            "iss": base + "/api/oidc", "jwt-type": "rsa", "jwt-key-size": "256", "key": private, "cert": public,
            "access-token-duration": 3600, "refresh-token-duration": 1209600, "code-duration": 600,
            "refresh-token-rolling": True, "refresh-token-one-use": "always", "allow-non-oidc": True,
            "auth-type-code-enabled": True, "auth-type-token-enabled": True, "auth-type-id-token-enabled": True,
            "auth-type-none-enabled": False, "auth-type-password-enabled": True, "auth-type-client-enabled": True,
            "auth-type-device-enabled": True, "auth-type-refresh-enabled": True, "auth-type-code-revoke-replayed": True,
            "device-authorization-expiration": int(os.environ.get("GLEWLWYD_EXPIRES", "600")), "device-authorization-interval": int(os.environ.get("GLEWLWYD_INTERVAL", "1")),
            "scope": [{"name": "openid", "refresh-token-rolling": True}], "additional-parameters": [],
            "claims": [], "name-claim": "on-demand", "name-claim-scope": ["profile"], "email-claim": "on-demand",
            "email-claim-scope": ["profile"], "scope-claim": "no", "service-documentation": "", "op-policy-uri": "",
            "op-tos-uri": "", "jwks-show": True, "jwks-uri": "", "pkce-allowed": True, "pkce-method-plain-allowed": False,
            "pkce-required-public-client": True, "request-parameter-allow": False,
            "introspection-revocation-allowed": True, "introspection-revocation-auth-scope": [],
            "introspection-revocation-allow-target-client": True, "register-client-allowed": False,
            "session-management-allowed": False, "oauth-as-iss-id": True,
        },
    })


REDIRECTS = []


def serve():
    folder = tempfile.mkdtemp(prefix="glewlwyd-")
    port, listener = os.environ["GLEWLWYD_PORTS"].split()
    base = f"http://localhost:{port}"
    # Glewlwyd compares redirect URIs whole, ports too (RFC 8252, 7.3, is newer): the test listens on the port that is registered.
    REDIRECTS.append(f"http://127.0.0.1:{listener}/callback")
    server = None
    try:
        database = sqlite3.connect(os.path.join(folder, "glewlwyd.db"))
        script = os.path.join(UNPACKED, "usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz")
        database.executescript(gzip.open(script, "rt").read())
        database.close()
        sample = gzip.open(os.path.join(UNPACKED, "usr/share/doc/glewlwyd/glewlwyd.conf.sample.gz"), "rt").read()
        settings = {
            "port": int(port), "external_url": f'"{base}"', "cookie_secure": 0, "log_level": '"ERROR"',
            "static_files_path": f'"{UNPACKED}/usr/share/glewlwyd/webapp/"', "bind_address": '"127.0.0.1"',
            "user_module_path": f'"{UNPACKED}/usr/lib/glewlwyd/user"',
            "user_middleware_module_path": f'"{folder}/none"',
            "client_module_path": f'"{UNPACKED}/usr/lib/glewlwyd/client"',
            "user_auth_scheme_module_path": f'"{UNPACKED}/usr/lib/glewlwyd/scheme"',
            "plugin_module_path": f'"{UNPACKED}/usr/lib/glewlwyd/plugin"',
        }
        os.mkdir(os.path.join(folder, "none"))
        for name, value in settings.items():
            sample, count = re.subn(rf"(?m)^#?\s*{name}\s*=.*$", lambda _: f"{name}={value}", sample, count=1)
            if not count:
                sample = f"{name}={value}\n{sample}"
        sample = re.sub(r'(?m)^(\s*)path\s*=\s*".*glewlwyd\.db"', rf'\1path = "{folder}/glewlwyd.db"', sample)
        path = os.path.join(folder, "glewlwyd.conf")
        with open(path, "w") as file:
            file.write(sample)
        server = subprocess.Popen(
            [os.path.join(ROOT, "scripts", "glewlwyd"), "-c", path], stdin=subprocess.DEVNULL, stdout=sys.stderr,
            stderr=sys.stderr)
        end = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", int(port)), timeout=1).close()
                break
            except OSError:
                if server.poll() is not None or time.monotonic() > end:
                    raise SystemExit("glewlwyd does not start")
                time.sleep(0.02)
        set_up(base)
        print(json.dumps({"issuer": base + "/api/oidc", "base": base, "redirect": REDIRECTS[0], "port": int(listener)}), flush=True)
        sys.stdin.read()
    finally:
        if server and server.poll() is None:
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(5)
            except subprocess.TimeoutExpired:
                server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def visit(url):
    parts = urllib.parse.urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}"
    query = urllib.parse.parse_qs(parts.query)
    person = Client(base)
    sign_in(person, USER, PASSWORD)
    deny = os.environ.get("GLEWLWYD_DENY") == "1"
    client_id = query.get("client_id", [os.environ.get("GLEWLWYD_CLIENT", "native-1")])[0]
    if not deny:
        person.must("PUT", f"/api/auth/grant/{client_id}", {"scope": "openid profile"})
    # Glewlwyd asks in its own pages, and answers with a refusal where it may not ask.
    target = parts.path + "?" + parts.query + ("&prompt=none" if deny else "&g_continue")
    status, location, content = person.send("GET", target)
    print(f"visit: {status} {location or content[:300]}", file=sys.stderr)
    if not location or not location.startswith("http://127.0.0.1:"):
        return
    deliver(location)


def deliver(location):
    """As a browser goes on: the fragment stays here, and the page's own script sends it."""
    parts = urllib.parse.urlsplit(location)
    page = Client(location)
    status, _, content = page.send("GET", parts.path + ("?" + parts.query if parts.query else ""))
    if parts.fragment and b"location.hash" in content:
        connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        connection.request("POST", parts.path, parts.fragment, {
            "Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://{parts.netloc}"})
        status = connection.getresponse().status
    print(f"deliver: {status}", file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        serve()
    elif len(sys.argv) == 3 and sys.argv[1] == "visit":
        visit(sys.argv[2])
    else:
        raise SystemExit(__doc__)
