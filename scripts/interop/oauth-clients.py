#!/usr/bin/env python3
"""Drives one simulated identity system by requests-oauthlib and Authlib, which know nothing of RainKit.

usage: oauth-clients.py PROVIDER URL
Prints one line for each flow that went through; the first that does not is an exception.
"""
import html
import os
import re
import sys
from urllib.parse import parse_qsl, urlencode, urlsplit

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # loopback without TLS
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
os.environ["OAUTHLIB_RELAX_TOKEN_SCOPE"] = "1"
os.environ["NO_PROXY"] = "*"

import requests  # noqa: E402
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession  # noqa: E402
from oauthlib.oauth2 import (  # noqa: E402
    BackendApplicationClient, LegacyApplicationClient, MobileApplicationClient, OAuth2Error,
)
from requests_oauthlib import OAuth2Session  # noqa: E402

USER, PASSWORD = "ada@example.com", "correct-horse"
LOOPBACK = "http://127.0.0.1:49152/callback"


def form(page, action_url, **typed):
    """The fields of the page's form: what is hidden in it, and what a person types."""
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page))
    return {**{name: html.unescape(value) for name, value in hidden.items()}, **typed}


def browse(url, user=USER, password=PASSWORD, answer="allow", user_field="username"):
    """A browser without eyes: signs in, answers the question, and says where it was sent."""
    browser = requests.Session()
    reply = browser.get(url)
    assert reply.status_code == 200, reply.text
    if 'id="password"' in reply.text:
        reply = browser.post(
            reply.url, data=form(reply.text, url, **{user_field: user, "password": password, "action": "allow"}),
            allow_redirects=False)
    if reply.status_code == 200 and 'id="application"' in reply.text:
        reply = browser.post(reply.url, data=form(reply.text, url, action=answer), allow_redirects=False)
    assert reply.status_code == 302, f"{reply.status_code}: {reply.text}"
    return reply.headers["Location"]


def refused(code, call):
    """The error that the library raises, by OAuth's own word for it."""
    try:
        call()
    except OAuth2Error as error:
        assert error.error == code, f"{error.error} in place of {code}"
        return
    raise AssertionError(f"not refused with {code}")


def say(text):
    print(text, flush=True)


def spid(base):
    token_url = base + "/oauth/token"
    secret = {"client_secret": "app-1-secret", "include_client_id": True}
    web = OAuth2Session("app-1", redirect_uri=LOOPBACK)
    url, state = web.authorization_url(base + "/flow/login")
    token = web.fetch_token(token_url, authorization_response=browse(url), **secret)
    assert token["user_id"] == "1001" and token["expires_in"] == 3600
    assert web.get(base + "/api/2/me").json()["data"]["email"] == USER
    say("requests-oauthlib: code")

    old = token["refresh_token"]
    renewed = web.refresh_token(token_url, client_id="app-1", client_secret="app-1-secret")
    assert renewed["refresh_token"] != old
    assert web.get(base + "/api/2/user/1001").status_code == 200
    refused("invalid_grant", lambda: web.refresh_token(
        token_url, refresh_token=old, client_id="app-1", client_secret="app-1-secret"))
    say("requests-oauthlib: rotation and reuse")

    implicit = OAuth2Session(client=MobileApplicationClient("app-1"), redirect_uri=LOOPBACK)
    url, state = implicit.authorization_url(base + "/flow/login")
    token = implicit.token_from_fragment(browse(url))
    assert implicit.get(base + "/api/2/user/1001").json()["data"]["userId"] == "1001" and "refresh_token" not in token
    say("requests-oauthlib: implicit")

    own = OAuth2Session(client=BackendApplicationClient("backend-1"))
    token = own.fetch_token(token_url, client_id="backend-1", client_secret="backend-1-secret")
    assert token["user_id"] is False
    assert own.get(base + "/api/2/user/1003").status_code == 200
    say("requests-oauthlib: client credentials")

    native = OAuth2Session(client=LegacyApplicationClient("app-1"))
    token = native.fetch_token(token_url, username=USER, password=PASSWORD, **secret)
    assert token["user_id"] == "1001"
    for user, password, code in [(USER, "wrong", "invalid_user_credentials"), ("eve@example.com", PASSWORD, "unverified_user"),
                                 ("nobody@example.com", "x", "unknown_user")]:
        refused(code, lambda: OAuth2Session(client=LegacyApplicationClient("app-1")).fetch_token(
            token_url, username=user, password=password, **secret))
    say("requests-oauthlib: password and its refusals")

    pkce = AuthlibSession("app-1", "app-1-secret", redirect_uri=LOOPBACK, code_challenge_method="S256")
    verifier = "v" * 43
    url, state = pkce.create_authorization_url(base + "/flow/login", code_verifier=verifier)
    token = pkce.fetch_token(token_url, authorization_response=browse(url), code_verifier=verifier, state=state)
    assert token["user_id"] == "1001"
    told = pkce.introspect_token(base + "/oauth/introspect", token=token["access_token"]).json()
    assert told["active"] and told["sub"] == "1001"
    say("Authlib: code with PKCE, introspection")

    assert dict(parse_qsl(urlsplit(browse(url.replace("app-1", "other-1"), answer="deny")).query))["error"] == "access_denied"
    say("denied")


def liferay(base):
    token_url = base + "/o/oauth2/token"
    services = lambda session: session.post(base + "/api/jsonws/invoke", json=[{"/user/get-current-user": {}}])
    native = OAuth2Session("screens-1", redirect_uri=LOOPBACK, pkce="S256")
    url, state = native.authorization_url(base + "/o/oauth2/authorize")
    token = native.fetch_token(token_url, authorization_response=browse(url), include_client_id=True)
    assert token["expires_in"] == 600 and services(native).json()[0]["userId"] == "1001"
    say("requests-oauthlib: code with PKCE")

    renewed = native.refresh_token(token_url, client_id="screens-1")
    assert services(native).json()[0]["screenName"] == "ada"
    assert renewed["refresh_token"] != token["refresh_token"]
    say("requests-oauthlib: renewal")

    person = OAuth2Session(client=LegacyApplicationClient("screens-2"))
    person.fetch_token(token_url, username=USER, password=PASSWORD, client_id="screens-2", client_secret="screens-2-secret",
                       scope="liferay-json-web-services.everything.read")
    assert services(person).json()[0]["emailAddress"] == USER
    refused("invalid_grant", lambda: OAuth2Session(client=LegacyApplicationClient("screens-2")).fetch_token(
        token_url, username=USER, password="wrong", client_id="screens-2", client_secret="screens-2-secret"))
    say("requests-oauthlib: password")

    own = OAuth2Session(client=BackendApplicationClient("screens-2"))
    own.fetch_token(token_url, client_id="screens-2", client_secret="screens-2-secret")
    assert services(own).json()["exception"] == "Authenticated access required"
    say("requests-oauthlib: client credentials")

    confidential = AuthlibSession("screens-2", "screens-2-secret", redirect_uri=LOOPBACK)
    url, state = confidential.create_authorization_url(base + "/o/oauth2/authorize")
    token = confidential.fetch_token(token_url, authorization_response=browse(url), state=state)
    assert confidential.introspect_token(base + "/o/oauth2/introspect", token=token["access_token"]).json()["active"]
    confidential.revoke_token(base + "/o/oauth2/revoke", token=token["refresh_token"])
    assert services(confidential).status_code == 401
    say("Authlib: code with a secret, introspection, revocation")

    assert dict(parse_qsl(urlsplit(browse(url, answer="deny")).query))["error"] == "access_denied"
    say("denied")


def oclc(base):
    from urllib.parse import urlparse

    native = OAuth2Session(client=MobileApplicationClient("wskey-1"), redirect_uri="oclcApp://user_agent_flow",
                           scope=["WMS_NCIP", "refresh_token"])
    url, state = native.authorization_url(
        base + "/oauth2/authorizeCode", authenticatingInstitutionId="128807", contextInstitutionId="128807")
    token = native.token_from_fragment(browse(url, user="ada"))
    assert token["expires_in"] in (1199, "1199") and token["principalIDNS"] == "urn:oclc:platform:128807"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", token["expires_at"] if isinstance(
        token["expires_at"], str) else "2014-01-05 11:57:26Z")
    assert requests.get(base + "/ncip", headers={"Authorization": "Bearer " + token["access_token"]}).ok
    say("requests-oauthlib: user agent flow")

    asked = requests.get(url.replace("authenticatingInstitutionId=128807&", "")).text
    at = html.unescape(re.search(r'id="institution-91475" href="([^"]*)"', asked).group(1))
    back = browse(base + "/oauth2/authorizeCode" + at, user="bob", password="battery-staple")
    assert "principalID=p-bob" in urlparse(back).fragment
    say("where are you from")

    denied = dict(parse_qsl(urlsplit(browse(url, user="ada", answer="deny")).query))
    assert denied["error"] == "access_denied" and denied["http_code"] == "403" and denied["state"] == state
    say("denied")

    web = OAuth2Session("wskey-1", redirect_uri=LOOPBACK, scope="WMS_NCIP refresh_token context:128807", pkce="S256")
    url, state = web.authorization_url(base + "/auth/128807")
    token = web.fetch_token(base + "/token", authorization_response=browse(url, user="ada"), client_secret="wskey-1-secret")
    assert token["principalID"] == "p-ada" and token["access_token"].startswith("tk_")
    renewed = web.refresh_token(base + "/token", auth=("wskey-1", "wskey-1-secret"))
    assert renewed["access_token"] != token["access_token"] and renewed["refresh_token"] == token["refresh_token"]
    assert web.get(base + "/ncip").json()["principalID"] == "p-ada"
    say("requests-oauthlib: the current service, and renewal")

    own = AuthlibSession("wskey-1", "wskey-1-secret", scope="WorldCatMetadataAPI context:128807")
    own.fetch_token(base + "/token", grant_type="client_credentials")
    assert own.get(base + "/bib/data/1039085").ok
    say("Authlib: client credentials")


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2].rstrip("/"))
