# SPDX-License-Identifier: Apache-2.0
"""An authorization server out of Authlib's parts, on loopback: JWT bearer assertions (RFC 7523) and introspection (RFC 7662).

    authlib_server.py serve             prints one JSON line and serves until standard input ends
    authlib_server.py assertion AUD SUB [KEY [LIFE]]   prints a signed assertion, made by Authlib too
"""

import json
import logging
import os
import socket
import sys
import threading
import time
import warnings

warnings.filterwarnings("ignore")

KEY = "the assertion's own key, long enough for HMAC"


def assertion(audience, subject, key=KEY, life="300"):
    from authlib.oauth2.rfc7523.assertion import sign_jwt_bearer_assertion

    return sign_jwt_bearer_assertion(
        key=key, issuer="issuer-1", audience=audience, subject=subject, header={"alg": "HS256"},
        expires_at=int(time.time()) + int(life))


def serve():
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    from authlib.integrations.flask_oauth2 import AuthorizationServer
    from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin
    from authlib.oauth2.rfc7523 import JWTBearerGrant as _JWTBearerGrant
    from authlib.oauth2.rfc7662 import IntrospectionEndpoint as _IntrospectionEndpoint
    from flask import Flask, jsonify, request
    from werkzeug.serving import make_server

    class Client(ClientMixin):
        def __init__(self, name, secret):
            self.name, self.secret = name, secret

        def get_client_id(self):
            return self.name

        def get_allowed_scope(self, scope):
            return scope or ""

        def check_client_secret(self, secret):
            return secret == self.secret

        def check_endpoint_auth_method(self, method, endpoint):
            return method in ("client_secret_basic", "none")

        def check_grant_type(self, grant_type):
            return True

    class Token(TokenMixin):
        def __init__(self, fields, user):
            self.fields, self.user, self.issued = fields, user, int(time.time())

        def check_client(self, client):
            return True

        def get_scope(self):
            return self.fields.get("scope", "")

        def get_expires_in(self):
            return self.fields["expires_in"]

        def is_expired(self):
            return False

        def is_revoked(self):
            return False

    tokens = {}
    client = Client("backend-1", "backend-1-secret")

    class JWTBearerGrant(_JWTBearerGrant):
        def get_audiences(self):
            return [request.host_url.rstrip("/") + "/token"]

        def resolve_issuer_client(self, issuer):
            return client if issuer == "issuer-1" else None

        def resolve_client_key(self, client, headers, payload):
            return KEY

        def authenticate_user(self, subject):
            return subject if subject == "ada" else None

        def has_granted_permission(self, client, user):
            return True

    class IntrospectionEndpoint(_IntrospectionEndpoint):
        def query_token(self, token, hint):
            return tokens.get(token)

        def introspect_token(self, token):
            return {"active": True, "username": token.user, "client_id": "backend-1", "token_type": "Bearer"}

        def check_permission(self, token, client, request):
            return True

    app = Flask("authlib")
    app.config["OAUTH2_TOKEN_EXPIRES_IN"] = {JWTBearerGrant.GRANT_TYPE: 1200}

    def save(token, request):
        tokens[token["access_token"]] = Token(token, request.user)

    server = AuthorizationServer(app, query_client=lambda name: client if name == "backend-1" else None, save_token=save)
    server.register_grant(JWTBearerGrant)
    server.register_endpoint(IntrospectionEndpoint)

    @app.post("/token")
    def token():
        return server.create_token_response()

    @app.post("/introspect")
    def introspect():
        return server.create_endpoint_response("introspection")

    @app.get("/me")
    def me():
        found = tokens.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
        return jsonify(sub=found.user, name="Ada Lovelace") if found else (jsonify(error="invalid_token"), 401)

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    served = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    print(json.dumps({"base": f"http://127.0.0.1:{served.server_port}"}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    elif len(sys.argv) >= 4 and sys.argv[1] == "assertion":
        print(assertion(*sys.argv[2:]))
    else:
        raise SystemExit(__doc__)
