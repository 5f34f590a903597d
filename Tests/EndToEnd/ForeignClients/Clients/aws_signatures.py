# SPDX-License-Identifier: Apache-2.0

"""Signs requests with botocore, AWS's own client.

aws_signatures.py sign FILE: reads a JSON list of requests, and prints the list of their signatures.
aws_signatures.py neo API ACCOUNTS BROKER USER PASSWORD: uses a simulated RainMaker Neo, and prints a JSON object with what happened.
"""

import json
import sys
import urllib.error
import urllib.request
from urllib.parse import quote, urlsplit

import paho.mqtt.client as mqtt
from botocore.auth import SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

REGION = "us-east-1"


def signature(given):
    """The signature at a given time. `add_auth` would use the present."""
    is_query = given["form"] == "query"
    credentials = Credentials(given["access_key"], given["secret_key"], None if is_query else given["token"])
    request = AWSRequest(given["method"], given["url"], data=given["body"].encode())
    request.context["timestamp"] = given["time"]
    if is_query:
        signer = SigV4QueryAuth(credentials, given["service"], given["region"], expires=given["expires"])
    else:
        signer = SigV4Auth(credentials, given["service"], given["region"])
    signer._modify_request_before_signing(request)
    canonical = signer.canonical_request(request)
    return signer.signature(signer.string_to_sign(request, canonical), request)


def plain(method, url, body, headers=()):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers=dict(headers))
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")


def signed(credentials, method, url, body=None, params=None):
    """Sends a request as Neo's own command line does: signed by botocore, with its parameters."""
    data = None if body is None else json.dumps(body)
    request = AWSRequest(method, url, data=data, params=params, headers={"Content-Type": "application/json"})
    SigV4Auth(credentials, "execute-api", REGION).add_auth(request)
    prepared = request.prepare()
    return plain(method, prepared.url, body, prepared.headers.items())


def listen(role, broker, client_id, token_is_signed):
    """Asks for the shadow of a node that has none, and returns what happened."""
    token = role["session_token"]
    credentials = Credentials(role["access_key"], role["secret_key"], token if token_is_signed else None)
    request = AWSRequest("GET", broker.replace("ws", "http", 1) + "/mqtt")
    SigV4QueryAuth(credentials, "iotdevicegateway", REGION, expires=300).add_auth(request)
    url = request.url if token_is_signed else f"{request.url}&X-Amz-Security-Token={quote(token, safe='')}"
    target = urlsplit(url)
    events = []
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=client_id, transport="websockets", reconnect_on_failure=False)
    client.ws_set_options(path=f"{target.path}?{target.query}", headers={"Host": target.netloc})
    topic = f"$aws/things/n1/shadow/name/params-{role['group']}/get"
    client.on_connect = lambda *_: client.subscribe(f"{topic}/rejected", qos=0)
    client.on_subscribe = lambda *_: client.publish(topic, "{}", qos=1)

    def message(_client, _userdata, received):
        events.append(json.loads(received.payload)["code"])
        client.disconnect()

    client.on_message = message
    client.on_disconnect = lambda *_: events.append("disconnected")
    client.connect(target.hostname, target.port, keepalive=5)
    client.loop_forever()
    return events


def neo(api, accounts, broker, user, password):
    result = {}
    _, tokens = plain("POST", f"{accounts}/v1/user/auth/token", {"username": user, "password": password})
    bearer = [("Authorization", f"Bearer {tokens['access_token']}")]
    _, other = plain("POST", f"{accounts}/v1/user/auth/token", {"username": user, "password": password})
    result["mixed"] = plain("POST", f"{api}/v1/user/credentials", {"id_token": other["id_token"]}, bearer)[0]
    status, given = plain("POST", f"{api}/v1/user/credentials", {"id_token": tokens["id_token"]}, bearer)
    credentials = Credentials(given["access_key_id"], given["secret_access_key"], given["session_token"])
    status, group = signed(credentials, "POST", f"{api}/v1/groups", {"group_name": "Ünï + space"})
    result["created"] = status
    path = f"{api}/v1/groups/{group['group_id']}"
    result["renamed"] = signed(credentials, "PATCH", path, {"group_name": "Küche"})[0]
    result["names"] = [each["group_name"] for each in signed(credentials, "GET", f"{api}/v1/groups")[1]["groups"]]
    # Signed, but without such a node: 404 and not 403.
    params = {"key": "Light.Power + ü/é", "data_type": "", "a": "1", "a-b": "~*'()", "A": "="}
    result["query"] = signed(credentials, "GET", f"{path}/nodes/a%20b/timeseries/raw", params=params)[0]
    result["stale"] = plain("GET", f"{api}/v1/groups", None)[0]
    forged = Credentials(given["access_key_id"], "guessed", given["session_token"])
    result["forged"] = signed(forged, "GET", f"{api}/v1/groups")[0]
    role = signed(credentials, "POST", f"{api}/v1/assumed-roles", {})[1] | {"group": group["group_id"]}
    result["signed_token"] = listen(role, broker, f"user:{user}:1", True)
    result["appended_token"] = listen(role, broker, f"user:{user}:2", False)
    # The bare form, and another user's.
    result["bare"] = listen(role, broker, f"user:{user}", False)
    result["foreign"] = listen(role, broker, "user:bob@example.com:1", False)
    return result


if sys.argv[1] == "sign":
    with open(sys.argv[2], encoding="utf-8") as file:
        print(json.dumps([signature(each) for each in json.load(file)]))
else:
    print(json.dumps(neo(*sys.argv[2:]), ensure_ascii=False))
