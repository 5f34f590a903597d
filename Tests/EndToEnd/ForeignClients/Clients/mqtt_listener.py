# SPDX-License-Identifier: Apache-2.0

"""Listens to topics of a simulated cloud as a program of AWS IoT does: by paho-mqtt over WebSocket, with a URL that botocore has signed.

mqtt_listener.py URL ACCESS_KEY SECRET_KEY SESSION_TOKEN REGION TOPIC: prints what happens, a line each, and ends after one message.
"""

import sys
from urllib.parse import quote, urlsplit

import paho.mqtt.client as mqtt
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

url, access_key, secret_key, token, region, topic = sys.argv[1:]
request = AWSRequest("GET", url.replace("ws", "http", 1))
SigV4QueryAuth(Credentials(access_key, secret_key), "iotdevicegateway", region, expires=300).add_auth(request)
# AWS IoT wants the token behind the signature.
target = urlsplit(f"{request.url}&X-Amz-Security-Token={quote(token, safe='')}")


def say(*words):
    print(*words, flush=True)


def connected(client, _userdata, _flags, reason, _properties):
    say("connected", reason)
    client.subscribe(topic, qos=0)


def message(client, _userdata, received):
    say("message", received.topic, received.payload.decode())
    client.disconnect()


client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id="foreign", transport="websockets", reconnect_on_failure=False)
client.ws_set_options(path=f"{target.path}?{target.query}", headers={"Host": target.netloc})
client.on_connect = connected
client.on_subscribe = lambda *_: say("subscribed")
client.on_disconnect = lambda *_: say("disconnected")
client.on_message = message
try:
    client.connect(target.hostname, target.port, keepalive=5)
except mqtt.WebsocketConnectionError as error:
    sys.exit(f"refused: {error}")
client.loop_forever()
