# SPDX-License-Identifier: Apache-2.0
"""Amazon Cognito as moto_server plays it, on loopback, with one user pool and two users: ada, and eve who has not confirmed.

    moto_cognito.py serve               prints one JSON line and serves until standard input ends
"""

import json
import logging
import sys
import urllib.request


def serve():
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    base = f"http://127.0.0.1:{port}"

    def call(name, **body):
        request = urllib.request.Request(base + "/", json.dumps(body).encode(), {
            "Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": f"AWSCognitoIdentityProviderService.{name}",
            "Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/cognito-idp/aws4_request"})
        return json.loads(urllib.request.urlopen(request, timeout=60).read() or b"{}")

    pool = call("CreateUserPool", PoolName="pool")["UserPool"]["Id"]
    client = call(
        "CreateUserPoolClient", UserPoolId=pool, ClientName="native", GenerateSecret=False,
        ExplicitAuthFlows=["ALLOW_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"])["UserPoolClient"]["ClientId"]
    attributes = [{"Name": "email", "Value": "ada@example.com"}, {"Name": "name", "Value": "Ada Lovelace"}]
    call("AdminCreateUser", UserPoolId=pool, Username="ada", UserAttributes=attributes, MessageAction="SUPPRESS")
    call("AdminSetUserPassword", UserPoolId=pool, Username="ada", Password="Correct-horse1", Permanent=True)
    call("SignUp", ClientId=client, Username="eve", Password="Correct-horse1")
    print(json.dumps({"base": base, "clientID": client}), flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        raise SystemExit(__doc__)
