# SPDX-License-Identifier: Apache-2.0
"""Signing in and out, the session and its user."""
import json
import re
import urllib.error
import urllib.parse
import urllib.request

import pytest
import pytest_rainkit
import rainkit
from conftest import Scene, run
from pytest_rainkit import Cloud, Program


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def visit(page_url, fields):
    """Fills in the form of a page like a person. Returns the page that follows, and the address of a redirect."""
    body = urllib.parse.urlencode({**fields, "action": "allow"}).encode()
    try:
        with urllib.request.build_opener(_NoRedirect).open(page_url, body, timeout=60) as response:
            return response.read().decode(), None
    except urllib.error.HTTPError as answer:
        assert answer.code in (302, 303), answer.read()
        return "", answer.headers["Location"]


def test_password_session_profile_and_sign_out(scene, tmp_path):
    async def body():
        async with scene.client(tmp_path / "state", store=rainkit.Store.FILE) as client:
            with pytest.raises(rainkit.Error) as failure:
                await client.session()
            assert failure.value.code is rainkit.Code.AUTH and failure.value.reason == "not_signed_in"
            assert client.user_id is None
            session = await client.sign_in(*scene.credentials)
            assert session["user_name"] == scene.cloud.user and session["store"] == "file"
            assert client.user_id == session["user_id"]
            profile = await client.profile()
            assert profile["user_id"] == session["user_id"]
            token = client.access_token()
            assert token.count(".") == 2
            assert (await client.renew())["user_id"] == client.user_id and client.access_token() == token
            await client.renew(min_valid=1_000_000)
            renewed = client.access_token()
            assert renewed != token

        # Another client finds the session in the folder. It knows no token until it has loaded it.
        async with scene.client(tmp_path / "state") as client:
            with pytest.raises(rainkit.Error) as failure:
                client.access_token()
            assert failure.value.code is rainkit.Code.AUTH and "renew" in failure.value.remedy
            assert (await client.session())["user_name"] == scene.cloud.user
            assert client.access_token() == renewed
            assert (await client.sign_out())["revoked"] is True
            assert client.user_id is None
            with pytest.raises(rainkit.Error):
                await client.nodes()

    run(body())


def test_wrong_password(scene):
    async def body():
        async with scene.client() as client:
            with pytest.raises(rainkit.Error) as failure:
                await client.sign_in(scene.cloud.user, "planted-but-wrong")
            error = failure.value
            assert (error.code, error.name, error.reason) == (rainkit.Code.AUTH, "auth", "invalid_credentials")
            assert error.message and error.step == "" and "planted" not in repr(error) + str(error)

    run(body())


def test_one_time_code(rainkit_bin, tmp_path):
    mailbox, user = tmp_path / "mailbox.ndjson", f"{pytest_rainkit.USER}:{pytest_rainkit.PASSWORD}"
    program = Program([rainkit_bin("cloud-sim"), "--user", user, "--mailbox", mailbox], log=tmp_path / "cloud.log")
    scene = Scene(Cloud(program, tmp_path / "none"), None)
    scene.control("mfa", user=scene.cloud.user, on=True)

    async def body():
        async with scene.client() as client:
            asked = []
            operation = client.sign_in(*scene.credentials)
            async for event in operation:
                assert isinstance(event, rainkit.Question) and event.name == "one_time_code"
                asked.append(event.message)
                event.answer("000000" if len(asked) == 1 else json.loads(mailbox.read_text().splitlines()[-1])["code"])
            assert len(asked) == 2 and asked[0] != asked[1], "a wrong code is asked for again"
            assert operation.result["user_name"] == scene.cloud.user

            # Awaiting it leaves nobody to answer. An empty answer cancels.
            with pytest.raises(rainkit.Error) as failure:
                await client.sign_in(*scene.credentials)
            assert (failure.value.code, failure.value.reason) == (rainkit.Code.USAGE, "unanswered")
            with pytest.raises(rainkit.Error) as failure:
                async for event in client.sign_in(*scene.credentials):
                    event.answer("")
            assert failure.value.code is rainkit.Code.CANCELLED
            with pytest.raises(rainkit.Error) as failure:
                event.answer("too late")
            assert failure.value.code is rainkit.Code.USAGE

    try:
        run(body())
    finally:
        program.end()


@pytest.fixture
def identity(rainkit_bin, tmp_path):
    """The options of a client whose users are those of a simulated identity provider."""
    program = Program([rainkit_bin("cloud-sim"), "identity", "--provider", "oidc"], log=tmp_path / "identity.log")
    settings = {"client_id": "native-1", "parameters": {"issuer": program.ready["providers"]["oidc"]}}
    yield {"state": tmp_path / "state", "store": rainkit.Store.FILE, "provider": "oidc", "provider_settings": settings}
    program.end()


PERSON = {"username": "ada@example.com", "password": "correct-horse"}


def consent(page_url, fields):
    """Signs the person in and gives the consent. Returns the last page or redirect."""
    text, _ = visit(page_url, fields)
    return visit(page_url, {"handle": re.search(r'name="handle" value="([^"]*)"', text).group(1)})


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_browser(identity, is_elsewhere):
    def browse(page):
        assert page.url not in repr(page) and page.user_code is None
        address = consent(page.url, PERSON)[1]
        if is_elsewhere:
            page.answer(address)
        else:
            urllib.request.urlopen(address, timeout=60).close()

    async def body():
        async with rainkit.Client(**identity) as client:
            operation = client.sign_in_browser()
            async for page in operation:
                assert isinstance(page, rainkit.Page)
                browse(page)
            assert operation.result["provider"] == "oidc"

    run(body())


def test_device(identity):
    async def body():
        async with rainkit.Client(**identity) as client:
            operation = client.sign_in_device()
            async for page in operation:
                assert isinstance(page, rainkit.Page) and page.url.endswith("/device")
                assert page.user_code in page.complete_url and page.user_code not in repr(page)
                assert 'id="done"' in consent(page.url, {**PERSON, "user_code": page.user_code})[0]
            assert operation.result["provider"] == "oidc"

    run(body())
