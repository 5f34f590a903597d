#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests one simulated identity system with requests-oauthlib and Authlib, which are independent of RainKit.

usage: oauth-clients.py PROVIDER URL
Prints one line for each successful flow; the first failure raises an exception.
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
    """Returns the fields of the page's form: the hidden ones, and those that a person fills in."""
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page))
    return {**{name: html.unescape(value) for name, value in hidden.items()}, **typed}


def browse(url, user=USER, password=PASSWORD, answer="allow", user_field="username"):
    """A minimal browser: signs in, answers the consent page, and returns the address of the redirect."""
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
    """Returns the library's error, by its OAuth code."""
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

    # The programs that catalogers really use; only the two addresses are ours.
    from datetime import timedelta

    from bookops_worldcat import MetadataSession, WorldcatAccessToken
    from bookops_worldcat.errors import WorldcatAuthorizationError

    class Token(WorldcatAccessToken):
        def _token_url(self):
            return base + "/token"

    MetadataSession.BASE_URL = base + "/worldcat"
    token = Token("wskey-1", "wskey-1-secret", "WorldCatMetadataAPI")
    assert token.token_type == "bearer" and not token.is_expired()
    with MetadataSession(authorization=token) as session:
        assert session.bib_get(1039085).ok
        old, token.token_expires_at = token.token_str, token.token_expires_at - timedelta(days=1)
        assert session.bib_get(1039085).ok and token.token_str != old
    try:
        Token("wskey-1", "wrong", "WorldCatMetadataAPI")
    except WorldcatAuthorizationError:
        say("bookops-worldcat: token, renewal, refusal")


def oidc(base):
    import time

    from authlib.oidc.core import CodeIDToken
    from joserfc import jwt
    from joserfc.jwk import KeySet

    metadata = requests.get(base + "/.well-known/openid-configuration").json()
    keys = KeySet.import_key_set(requests.get(metadata["jwks_uri"]).json())

    def check(id_token, client, nonce=None):
        """Checks the signature with joserfc and the claims with Authlib, like Authlib's own integrations."""
        token = jwt.decode(id_token, keys, algorithms=metadata["id_token_signing_alg_values_supported"])
        claims = CodeIDToken(token.claims, token.header, options={
            "iss": {"values": [base], "essential": True}, "aud": {"values": [client]}},
            params={"nonce": nonce, "client_id": client} if nonce else {"client_id": client})
        claims.validate(now=int(time.time()), leeway=5)
        return claims

    native = AuthlibSession("native-1", redirect_uri=LOOPBACK, scope="openid email profile offline_access",
                            code_challenge_method="S256", token_endpoint_auth_method="none")
    url, state = native.create_authorization_url(metadata["authorization_endpoint"], code_verifier="v" * 43, nonce="n-0S6")
    back = browse(url)
    assert dict(parse_qsl(urlsplit(back).query))["iss"] == base
    token = native.fetch_token(metadata["token_endpoint"], authorization_response=back, code_verifier="v" * 43, state=state)
    claims = check(token["id_token"], "native-1", "n-0S6")
    assert claims["sub"] == native.get(metadata["userinfo_endpoint"]).json()["sub"] == "1001"
    say("Authlib: discovery, code with PKCE, id token, userinfo")

    renewed = native.refresh_token(metadata["token_endpoint"], refresh_token=token["refresh_token"])
    assert renewed["refresh_token"] != token["refresh_token"]
    assert check(renewed["id_token"], "native-1")["sub"] == "1001"
    native.revoke_token(metadata["revocation_endpoint"], token=renewed["refresh_token"])
    assert native.get(metadata["userinfo_endpoint"]).status_code == 401
    say("Authlib: rotation, revocation")

    web = OAuth2Session("web-1", redirect_uri=LOOPBACK, scope="openid email")
    url, state = web.authorization_url(metadata["authorization_endpoint"])
    token = web.fetch_token(metadata["token_endpoint"], authorization_response=browse(url), client_secret="web-1-secret")
    assert check(token["id_token"], "web-1")["email"] == USER
    say("requests-oauthlib: code with a secret")

    device = requests.post(metadata["device_authorization_endpoint"], data={"client_id": "native-1", "scope": "openid"}).json()
    poll = lambda: requests.post(metadata["token_endpoint"], data={
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": "native-1", "device_code": device["device_code"]})
    assert poll().json()["error"] == "authorization_pending" and poll().json()["error"] == "slow_down"
    page = requests.get(device["verification_uri_complete"])
    asked = requests.post(page.url, data=form(
        page.text, page.url, user_code=device["user_code"], username=USER, password=PASSWORD, action="allow"))
    done = requests.post(page.url, data=form(asked.text, page.url, action="allow"))
    assert 'id="done"' in done.text
    assert check(poll().json()["id_token"], "native-1")["sub"] == "1001"
    say("a device")

    for wrong in ["issuer", "audience", "nonce", "signature"]:
        requests.post(base + "/_sim/settings", json={"wrong": wrong})
        session = AuthlibSession("native-1", redirect_uri=LOOPBACK, scope="openid", code_challenge_method="S256",
                                 token_endpoint_auth_method="none")
        url, state = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier="v" * 43, nonce="n-0S6")
        token = session.fetch_token(metadata["token_endpoint"], authorization_response=browse(url), code_verifier="v" * 43)
        try:
            check(token["id_token"], "native-1", "n-0S6")
        except Exception as error:
            say(f"Authlib notices a wrong {wrong}: {type(error).__name__}")
        else:
            raise AssertionError(f"a wrong {wrong} is not noticed")


def neo(base):
    app = AuthlibSession("native-1", redirect_uri=LOOPBACK, scope="openid email", code_challenge_method="S256",
                         token_endpoint_auth_method="none")
    url, state = app.create_authorization_url(base + "/oauth2/authorize", code_verifier="v" * 43)
    token = app.fetch_token(base + "/oauth2/token", authorization_response=browse(url), code_verifier="v" * 43, state=state)
    assert app.get(base + "/v1/users/me").json()["email"] == USER
    renewed = app.refresh_token(base + "/oauth2/token", refresh_token=token["refresh_token"])
    assert renewed["refresh_token"] != token["refresh_token"] and app.get(base + "/v1/users/me").ok
    say("Authlib: code with PKCE, rotation")


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2].rstrip("/"))
