# SPDX-License-Identifier: Apache-2.0
"""Rows A and B: SPiD on mobile devices (documents 000 and 001)."""
import base64
import json
import re
import shlex
import time
import urllib.parse

from rows.person import Browser
from rows.scene import Failed, contains, equal, expect, lacks
from rows.table import row

PROVIDER = ["--provider", "spid"]
CALLBACK = "http://127.0.0.1:4711/callback"
BACKEND = "http://127.0.0.1/backend"


class SPiD:
    """A user of the client app-1, and the requests between rainctl and SPiD."""

    def __init__(self, scene, name="spid"):
        self.scene, self.name = scene, name
        self.simulator = scene.identity("spid")
        self.tap = scene.tap(self.simulator.url)
        self.provider = ["--provider", name]
        self.password = scene.file("password.txt", "correct-horse\n")
        self.secret = scene.file("app-1.txt", "app-1-secret\n")
        self.sign = scene.file("sign.txt", "s1gn\n")

    def client(self, base=None):
        return [
            *self.provider, "--base-url", base or self.tap.url, "--client-id", "app-1", "--client-secret-file", self.secret]

    def sign_in(self, *more, **judged):
        return self.scene.rainctl(
            "login", "ada@example.com", *self.client(), "--password-file", self.password, "--json", *more, **judged)

    def run(self, *arguments, **judged):
        # Arguments after -- are curl's.
        end = arguments.index("--") if "--" in arguments else len(arguments)
        return self.scene.rainctl(*arguments[:end], *self.provider, *arguments[end:], **judged)

    def token(self):
        return self.run("account", "token").output.strip()

    def whoami(self, **judged):
        return self.run("whoami", "--json", **judged).json

    def status(self):
        return self.run("account", "status", "--json").json

    def code(self):
        return self.run("account", "exchange", "--for-client", "backend-1").output

    def redeem(self, code, client="backend-1", **judged):
        """Runs a command of the backend, on its own machine with its own home."""
        secret = self.scene.file(f"{client}.txt", f"{client}-secret\n")
        self.backend_home = {"XDG_STATE_HOME": self.scene.path("backend/state"), "HOME": self.scene.path("backend")}
        return self.scene.rainctl(
            "login", *self.provider, "--base-url", self.tap.url, "--client-id", client, "--client-secret-file", secret,
            "--code-stdin", "--redirect-uri", BACKEND, "--json", typed=code, environment=self.backend_home, **judged)

    def through_browser(self, *more, browser=None, deny=False, **judged):
        """Signs in at SPiD's page. Returns the outcome, the page's address, and the target of SPiD's redirect."""
        browser = browser or Browser()
        running = self.scene.start(
            "login", *self.client(), "--no-browser", "--redirect", "loopback", "--json", *more)
        page = running.page()
        back = browser.sign_in(page, deny=deny)
        browser.come_back(back)
        return running.end(**judged), page, back

    def asks(self, token, path="/api/2/user/1001"):
        """Returns SPiD's own status for a token."""
        return Browser().request(self.simulator.url + path, headers={"Authorization": f"Bearer {token}"}).status

    def third_party(self, token, *more, provider="facebook", app="app1", **judged):
        application = ["--app-id", app] if app else []
        return self.scene.rainctl(
            # The assertion names SPiD's own address.
            "login", *self.client(self.simulator.url), "--secret-file", f"signSecret={self.sign}", "--third-party", provider,
            "--third-party-token-file", self.scene.file("token.txt", token), *application, "--json", *more, **judged)


def parameters(address):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query, keep_blank_values=True))


def seconds(later, earlier):
    """Returns the difference between two times as rainctl prints them."""
    form = "%Y-%m-%dT%H:%M:%S"
    return time.mktime(time.strptime(later[:19], form)) - time.mktime(time.strptime(earlier[:19], form))


# Document 000


@row("A1")
def code_for_another_client(scene):
    spid = SPiD(scene)
    spid.run("account", "exchange", "--for-client", "backend-1", "--json", status=77, reason="not_signed_in")
    equal(spid.tap.requests, [], "what was sent without a token")
    spid.sign_in()
    printed = spid.run("account", "exchange", "--for-client", "backend-1").output
    expect(re.fullmatch(r"[0-9a-f]{40}\n", printed), f"the code is not alone on standard output: {printed!r}")
    paths = [one.path for one in spid.tap.requests]
    exchange = spid.tap.sent("/oauth/exchange")[0]
    expect(paths.index("/oauth/token") < paths.index(exchange.path), "the token does not come first")
    equal(exchange.form.get("clientId"), "backend-1", "the client that the code is for")
    equal(exchange.form.get("type"), "code", "the kind of code")
    proof = exchange.authorization.removeprefix("Bearer ") or exchange.form.get("oauth_token")
    equal(proof, spid.token(), "the token that the code was asked for with")
    equal(spid.redeem(printed).json["user_id"], "1001", "the user whom the code signs in")


@row("A2")
def life_of_a_code(scene):
    spid = SPiD(scene)
    spid.sign_in()
    once = spid.code()
    spid.redeem(once)
    spid.redeem(once, status=77, reason="used_code")
    # The machine's own time passes as well, but little happens between a code and its redemption.
    early = spid.code()
    spid.simulator.clock(15)
    spid.redeem(early)
    late = spid.code()
    spid.simulator.clock(15 + 31)
    spid.redeem(late, status=77, reason="code_expired")
    spid.run("account", "exchange", "--for-client", "other-1", "--json", status=78, reason="client_refused")


@row("A3")
def backend_redeems(scene):
    spid = SPiD(scene)
    spid.sign_in()
    own, code = spid.token(), spid.code()
    equal(spid.redeem(code).json["user_id"], "1001", "the backend's user")
    form = spid.tap.sent("/oauth/token")[-1].form
    wanted = {
        "grant_type": "authorization_code", "redirect_uri": BACKEND, "client_id": "backend-1",
        "client_secret": "backend-1-secret", "code": code.strip()}
    equal({name: form.get(name) for name in wanted}, wanted, "the request for the backend's token")
    theirs = spid.run("account", "token", environment=spid.backend_home).output.strip()
    expect(theirs and theirs != own, "the backend has no token of its own")
    equal(spid.asks(theirs), 200, "SPiD's answer to the backend's token")
    equal(spid.asks(own), 200, "SPiD's answer to the app's token")


@row("A4")
def code_for_a_browser(scene):
    spid = SPiD(scene)
    spid.sign_in()

    def address():
        found = spid.run("account", "web-session", "--redirect-uri", CALLBACK, "--json").json["url"]
        expect("/session/" in found, f"the address is {found}")
        return found

    early, late = address(), address()
    form = spid.tap.sent("/oauth/exchange")[0].form
    equal((form.get("type"), form.get("redirectUri")), ("session", CALLBACK), "the request for the code")
    spid.simulator.clock(45)
    opened = Browser().request(early)
    equal(opened.status, 302, "the page after 45 s")
    expect(opened.location.startswith(CALLBACK), f"the browser is sent to {opened.location}")
    contains(opened.headers.get("Set-Cookie", ""), "identity=", "the cookie")
    equal(Browser().request(early).status, 400, "the page when it is opened again")
    spid.simulator.clock(61)
    equal(Browser().request(late).status, 400, "the page after a minute")


def own_backend(scene, spid, **members):
    """The simulated backend behind a tap, and the file that describes it."""
    backend = spid.simulator.backend
    tap = scene.tap(backend["url"])
    text = json.dumps(backend["description"]).replace(backend["url"], tap.url)
    description = {name: value for name, value in (json.loads(text) | members).items() if value is not None}
    return tap, scene.file("backend.json", json.dumps(description))


@row("A5")
def no_shared_token(scene):
    spid = SPiD(scene)
    spid.sign_in()
    own = spid.token()
    tap, backend = own_backend(scene, spid)
    board = scene.board("--node-id", "node-of-ada", "--mapping", "user")
    provision = ["provision", *PROVIDER, "--backend", backend, *board.options, "--json"]
    done = scene.rainctl(*provision).json
    equal(done["mapping"], "confirmed", "the mapping")
    expect(tap.requests, "the backend was asked nothing")
    for one in tap.requests:
        lacks(f"{one.headers}{one.target}{one.body}", own, f"{one.method} {one.path} at the backend")
    equal(spid.asks(own), 200, "SPiD's answer to the app's token")
    # Without sign-in settings in the file, the token is not sent.
    tap, backend = own_backend(scene, spid, signIn=None, signOut=None, sendsProviderToken=None)
    board = scene.board("--node-id", "node-two", "--mapping", "user")
    refused = scene.rainctl("provision", *PROVIDER, "--backend", backend, *board.options, "--json", status=None)
    expect(refused.status in (64, 65, 78), f"a backend without a sign-in ends with {refused.status}")
    contains(refused.failure["message"], "signIn", "the message")
    equal(tap.requests, [], "what such a backend is sent")
    tap, backend = own_backend(scene, spid, signIn=None, signOut=None, sendsProviderToken=True)
    scene.rainctl("provision", *PROVIDER, "--backend", backend, *board.options, "--json")
    expect(any(own in one.authorization for one in tap.requests), "the explicit setting does not send the token")


@row("A6")
def two_flows(scene):
    spid = SPiD(scene)
    spid.through_browser()
    equal(spid.status()["renewable"], True, "renewable after an authorization code")
    spid.simulator.control("expire", {"user": "ada@example.com"})
    equal(spid.whoami()["user_id"], "1001", "the user after a renewal")
    granted = [one.result for one in spid.tap.sent("/oauth/token")]
    expect(all(one.get("access_token") and one.get("refresh_token") for one in granted), "a token is missing")
    _, page, back = spid.through_browser("--mode", "implicit")
    equal(parameters(page).get("response_type"), "token", "response_type")
    contains(back, "#access_token=", "where the browser is sent")
    equal(spid.status()["renewable"], False, "renewable after an implicit grant")
    spid.simulator.control("expire", {"user": "ada@example.com"})
    spid.run("whoami", "--json", status=77, reason="expired")


@row("A7")
def five_grants(scene):
    spid = SPiD(scene)
    spid.sign_in()
    spid.run("account", "refresh")
    spid.through_browser()
    scene.rainctl("login", *spid.client(), "--mode", "client-credentials", "--json")
    equal(
        [one.form.get("grant_type") for one in spid.tap.sent("/oauth/token")],
        ["password", "refresh_token", "authorization_code", "client_credentials"], "the grants")
    form = spid.tap.sent("/oauth/token")[0].form
    equal((form.get("username"), form.get("password")), ("ada@example.com", "correct-horse"), "name and password")
    spid.third_party("fbtok")
    equal(
        [one["kind"] for one in spid.simulator.journal(event="token", outcome="granted")][-1:],
        ["urn:ietf:params:oauth:grant-type:jwt-bearer"], "the fifth grant")


@row("A8")
def third_party(scene):
    spid = SPiD(scene)
    equal(spid.third_party("fbtok").json["user_id"], "1001", "the user of Facebook's token")
    google = spid.third_party("gptok", provider="googleplus", app="no.example.app")
    equal(google.json["user_id"], "1001", "the user of Google's token")
    # The request can be read here; SPiD refuses it at this address, which is not its own.
    scene.rainctl(
        "login", *spid.client(), "--secret-file", f"signSecret={spid.sign}", "--third-party", "facebook",
        "--third-party-token-file", scene.file("token.txt", "fbtok"), "--app-id", "app1", "--third-party-expires",
        "2090-01-01T00:00:00Z", "--json", status=None)
    form = spid.tap.sent("/oauth/token")[-1].form
    equal(form.get("grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer", "grant_type")
    header, claims, _ = form["assertion"].split(".")
    equal(json.loads(base64.b64decode(header + "==")).get("alg"), "HS256", "the algorithm")
    claims = json.loads(base64.b64decode(claims + "=="))
    wanted = {"iss": "app1", "sub": "authorization", "token_type": "facebook", "token_value": "fbtok"}
    equal({name: claims.get(name) for name in wanted}, wanted, "the assertion")
    contains(str(claims.get("exp")), "2090-01-01 00:00:00", "the assertion's end")
    over = spid.third_party("fbtok", "--third-party-expires", "2001-01-01T00:00:00Z", status=77).failure["message"]
    lacks(over, "the code", "the message of an expired assertion")
    contains(over, "expired", "the message of an expired assertion")
    contains(over, "assertion", "the message of an expired assertion")
    bare = spid.third_party("fbtok", app=None, status=64).failure["message"]
    contains(bare, "--app-id", "the message without --app-id")
    unsigned = scene.rainctl(
        "login", *PROVIDER, "--base-url", spid.simulator.url, "--client-id", "app-1", "--client-secret-file", spid.secret,
        "--third-party", "facebook", "--third-party-token-file", scene.path("token.txt"), "--app-id", "app1", "--json",
        "--account", "other", environment={"XDG_STATE_HOME": scene.path("other")}, status=64, reason="missing_parameter")
    contains(unsigned.failure["message"], "signSecret", "the message without the sign secret")


@row("A9")
def unknown_user(scene):
    spid = SPiD(scene)
    unknown = spid.third_party("fb-new", status=77, reason="unknown_user").failure["message"]
    page = f"{spid.simulator.url}/flow/signup?client_id=app-1"
    contains(unknown, page, "the message for an unknown user")
    other = spid.third_party("no-such-token", status=77)
    expect(other.failure["reason"] != "unknown_user", "a token that is not valid counts as an unknown user")
    lacks(other.failure["message"], "/signup", "the message for a token that is not valid")
    equal(Browser().request(page).status, 200, "the page to register at")
    # After the first sign-in the person finds the link among SPiD's pages.
    scene.rainctl(
        "login", "ada@example.com", *spid.client(spid.simulator.url), "--password-file", spid.password, "--json")
    for outcome in (scene.rainctl("account", "providers", "spid"), scene.rainctl("account", "providers", "--json")):
        contains(outcome.output, page, "the list of providers")


@row("A10")
def secret_in_the_body(scene):
    spid = SPiD(scene)
    _, _, back = spid.through_browser()
    code = parameters(back).get("code")
    expect(code, f"the browser was sent to {back}")
    sent = spid.tap.sent("/oauth/token")[0]
    equal(sent.form.get("code"), code, "the code")
    equal(sent.form.get("client_secret"), "app-1-secret", "client_secret")
    equal(sent.authorization, "", "the Authorization header")


@row("A11")
def token_response(scene):
    spid = SPiD(scene)
    spid.sign_in()
    granted = spid.tap.sent("/oauth/token")[0].result
    equal((granted["expires_in"], granted["user_id"]), (3600, "1001"), "the simulator's answer")
    equal(spid.token(), granted["access_token"], "the token")
    status = spid.status()
    equal(status["user_id"], "1001", "user_id")
    equal(seconds(status["expires_at"], status["received_at"]), 3600, "the token's life in seconds")
    # Document 000 prints a number.
    spid.tap.change("POST", "/oauth/token", lambda answer: answer | {"user_id": 1001})
    equal(spid.sign_in().json["user_id"], "1001", "a user id that is a number")


@row("A12")
def user_by_number(scene):
    spid = SPiD(scene)
    spid.sign_in()
    spid.tap.forget()
    who = spid.whoami()
    equal((who["user_id"], who["email"], who["name"]), ("1001", "ada@example.com", "Ada Example"), "the user")
    equal([one.path for one in spid.tap.requests], ["/api/2/user/1001"], "what was asked")
    refused = json.loads(spid.run("account", "curl", "--", "-s", "/api/2/me").output)
    expect(refused.get("error"), "me is answered without a session in a browser")
    spid.through_browser()
    me = json.loads(spid.run("account", "curl", "--", "-s", "/api/2/me").output)
    equal(me["data"]["userId"], "1001", "me after a sign-in in a browser")


@row("A13")
def logging_out(scene):
    spid = SPiD(scene)
    spid.sign_in()
    token = spid.token()
    spid.tap.forget()
    equal(spid.run("logout", "--json").json["revoked"], True, "revoked")
    expect(spid.tap.sent("/logout"), "SPiD was not asked to log the user out")
    equal(spid.asks(token), 401, "SPiD's answer to the token")
    spid.run("whoami", "--json", status=77, reason="not_signed_in")
    # SPiD does not answer: the session is removed here, and the remaining session at SPiD is reported.
    spid.sign_in()
    spid.simulator.faults({"path": "/api/2/logout", "action": "status", "status": 503}, {"path": "/*", "action": "reset"})
    left = spid.run("logout", "--json")
    equal(left.json["revoked"], False, "revoked by a SPiD that does not answer")
    equal([one["reason"] for one in left.json.get("warnings", [])], ["not_revoked"], "the warnings")
    spid.run("whoami", "--json", status=77, reason="not_signed_in")


@row("A14")
def browser_from_native(scene):
    spid = SPiD(scene)
    spid.sign_in()
    address = spid.run("account", "web-session", "--redirect-uri", CALLBACK, "--json").json["url"]
    browser = Browser()
    expect(browser.request(address).location.startswith(CALLBACK), "the browser is not sent on")
    # Another sign-in in that browser does not ask for a password.
    outcome, _, _ = spid.through_browser("--client-id", "app-1", browser=browser)
    equal(outcome.json["user_id"], "1001", "the browser's user")
    expect(not any("password" in form for form in browser.forms), "the browser was asked for a password")
    # Only the person's browser gets the address.
    opened = spid.run(
        "account", "web-session", "--redirect-uri", CALLBACK, "--open", environment=scene.opener())
    contains(scene.opened(), "/session/", "what the browser opens")
    lacks(opened.text, "/session/", "what is printed beside it")


@row("A15")
def listeners(scene):
    spid = SPiD(scene)
    wrong = scene.file("wrong.txt", "wrong")
    failed = scene.rainctl(
        "login", "ada@example.com", *spid.client(), "--password-file", wrong, "--events", "ndjson", status=77)
    equal([one["state"] for one in failed.events], ["started", "sign_in_failed", "ended"], "the events")
    equal([one["code"] for one in failed.events[1:]], ["auth", "auth"], "the errors' codes")
    equal(failed.events[-1]["reason"], "invalid_credentials", "the reason")
    expect(failed.events[1].get("detail"), "the listener is not told what happened")
    for user, reason in (("nobody@example.com", "unknown_user"), ("eve@example.com", "unverified_user")):
        told = scene.rainctl(
            "login", user, *spid.client(), "--password-file", spid.password, "--events", "ndjson", status=77).events
        equal(told[-1]["reason"], reason, f"the reason for {user}")


@row("A16")
def session_at_the_backend(scene):
    spid = SPiD(scene)
    spid.sign_in()
    tap, backend = own_backend(scene, spid)

    def provision(node, **judged):
        board = scene.board("--node-id", node, "--mapping", "user")
        return board, scene.rainctl("provision", *PROVIDER, "--backend", backend, *board.options, "--json", **judged)

    provision("node-one")
    first, last = tap.requests[0], tap.requests[-1]
    exchanged = spid.tap.sent("/oauth/exchange")
    equal([one.form.get("clientId") for one in exchanged], ["backend-1"], "the clients that codes were asked for")
    code = exchanged[0].result["data"]["code"]
    expect(code in first.body and not first.authorization, "the backend is not given the code first")
    granted = spid.simulator.journal(event="token", outcome="granted", client="backend-1")
    equal([one["user"] for one in granted], ["ada@example.com"], "the users whom the backend signs in at SPiD")
    tokens = {one.authorization.removeprefix("Bearer ") for one in tap.requests[1:]}
    equal(len(tokens), 1, "the number of tokens at the backend")
    own = tokens.pop()
    expect(own and own != spid.token() and own in first.answer, "the backend has not given the token")
    equal(Browser().request(tap.url + "/nodes", headers={"Authorization": f"Bearer {own}"}).status, 401,
          "the backend's answer to its token after the run")
    equal((last.method, last.status), ("DELETE", 200), "the sign-out")

    def states():
        return [one["state"] for one in spid.simulator.journal(event="backend_session")]

    equal(states(), ["registered", "signed_in", "signed_out"], "what the backend did")
    provision("node-two")
    equal(states()[3:], ["signed_in", "signed_out"], "what the backend does with a user whom it knows")
    # A backend that refuses the code: no request is sent to the board.
    text = (scene.folder / "backend.json").read_text()
    scene.file("backend.json", text.replace('"backend-1"', '"other-1"'))
    board, _ = provision("node-three", status=78, reason="client_refused")
    equal(board.journal(event="request"), [], "what the board was asked")


# Document 001


@row("B1")
def single_sign_on(scene):
    spid = SPiD(scene)
    browser = Browser()
    browser.sign_in(
        f"{spid.tap.url}/login?client_id=signed-1&response_type=code&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback",
        remember=True)
    asked = len([form for form in browser.forms if "password" in form])
    equal(asked, 1, "how often the password was asked for by another app")
    for forgotten in ("identity", None):
        # The second time there is no session either: SPiD remembers the person.
        if forgotten is None:
            for jar in browser.cookies.values():
                jar.pop("identity", None)
        outcome, _, _ = spid.through_browser(browser=browser)
        equal(outcome.json["user_id"], "1001", "the user")
        equal(len([form for form in browser.forms if "password" in form]), 1, "how often the password was asked for")


@row("B2")
def no_page_of_our_own(scene):
    spid = SPiD(scene)
    running = scene.start(
        "login", *spid.client(), "--browser", "--redirect", "loopback", "--json", environment=scene.opener())
    page = scene.opened(running)
    expect(page.startswith(spid.tap.url + "/login?"), f"the person's own browser opens {page}")
    listener = parameters(page)["redirect_uri"]
    own = Browser().request(listener).text
    lacks(own.lower(), "<form", "the page of the listener")
    lacks(own.lower(), "<input", "the page of the listener")
    browser = Browser()
    browser.come_back(browser.sign_in(page))
    running.end()
    # The password went from the browser to SPiD; no request of rainctl contains it.
    by_rainctl = [one for one in spid.tap.requests if one.path != "/login"]
    expect(by_rainctl, "rainctl sent nothing")
    expect(not any("correct-horse" in one.body + one.target for one in by_rainctl), "rainctl has sent the password")


def handle(scene, address, scheme):
    """Starts the registered handler for an address of that scheme, like the desktop."""
    for entry in (scene.folder / "data/applications").glob("*.desktop"):
        text = entry.read_text()
        if f"MimeType=x-scheme-handler/{scheme};" in text:
            command = shlex.split(re.search(r"^Exec=(.*)$", text, re.MULTILINE).group(1))
            arguments = [address if word == "%u" else word for word in command[1:] if word]
            return scene.rainctl(*arguments)
    raise Failed(f"no handler is registered for {scheme}")


@row("B3")
def own_scheme(scene):
    spid = SPiD(scene)
    for more, redirect in (([], "spidmobile-app-1://login"), (["--redirect-uri", "spidmobile-app-1://logout"], None)):
        redirect = redirect or more[1]
        running = scene.start("login", *spid.client(), "--no-browser", "--redirect", "scheme", "--json", *more)
        page = running.page()
        equal(parameters(page).get("redirect_uri"), redirect, "redirect_uri")
        back = Browser().sign_in(page)
        expect(back.startswith(redirect + "?code="), f"the browser is sent to {back}")
        handle(scene, back, "spidmobile-app-1")
        equal(running.end().json["user_id"], "1001", "the user")
        equal(spid.tap.sent("/oauth/token")[-1].form.get("redirect_uri"), redirect, "redirect_uri of the token request")


@row("B4")
def sign_in_page(scene):
    spid = SPiD(scene)
    hosts = {
        "stage": "https://identity-pre.schibsted.com/login?", "production": "https://login.schibsted.com/login?"}
    for environment, start in hosts.items():
        running = scene.start(
            "login", *PROVIDER, "--environment", environment, "--client-id", "123", "--client-secret-file", spid.secret,
            "--no-browser", "--redirect", "loopback")
        page = running.page()
        running.stop()
        expect(page.startswith(start), f"the page of {environment} is {page}")
        asked = parameters(page)
        equal((asked.get("client_id"), asked.get("response_type")), ("123", "code"), "client_id and response_type")
        expect(asked.get("redirect_uri", "").startswith("http://127.0.0.1:"), "redirect_uri is missing")
    running = scene.start(
        "login", *PROVIDER, "--environment", "stage", "--client-id", "123", "--client-secret-file", spid.secret,
        "--no-browser", "--redirect", "scheme")
    equal(parameters(running.page()).get("redirect_uri"), "spidmobile-123://login", "redirect_uri with a scheme")
    running.stop()


@row("B5")
def token_request(scene):
    spid = SPiD(scene)
    states = []
    for _ in range(2):
        _, page, back = spid.through_browser("--scope", "ddf")
        asked, form = parameters(page), spid.tap.sent("/oauth/token")[-1].form
        wanted = {
            "client_id": "app-1", "client_secret": "app-1-secret", "redirect_uri": asked["redirect_uri"],
            "grant_type": "authorization_code", "code": parameters(back)["code"]}
        equal({name: form.get(name) for name in wanted}, wanted, "the request for tokens")
        equal(asked.get("scope"), "ddf", "the scope that was asked for")
        equal(parameters(back).get("state"), asked["state"], "the state that comes back")
        states.append(asked["state"])
    expect(states[0] != states[1] and all(len(state) >= 20 for state in states), "the state is not random")
    # An answer with another state is not accepted.
    running = scene.start("login", *spid.client(), "--no-browser", "--redirect", "loopback", "--json")
    page = running.page()
    foreign = parameters(page)["redirect_uri"] + "?code=stolen&state=another"
    equal(Browser().request(foreign).status, 400, "the answer to another state")
    browser = Browser()
    browser.come_back(browser.sign_in(page))
    running.end()
    expect(not any(one.form.get("code") == "stolen" for one in spid.tap.sent("/oauth/token")), "a stolen code was redeemed")


@row("B6")
def members_of_the_response(scene):
    spid = SPiD(scene)
    spid.simulator.clock(3000)
    spid.sign_in()
    granted = spid.tap.sent("/oauth/token")[0].result
    expect(isinstance(granted["user_id"], str), "the simulator's user_id is not text")
    who = spid.whoami()
    equal((who["user_id"], who["is_admin"]), ("1001", False), "user_id and is_admin")
    # server_time is 3000 s ahead. The token still has its lifetime of 3600 s, and is not renewed early or late.
    status = spid.status()
    expect(3000 < status["expires_in"] <= 3600, f"expires_in is {status['expires_in']}")
    equal(len(spid.tap.sent("/oauth/token")), 1, "the requests for tokens")
    spid.tap.change("POST", "/oauth/token", lambda answer: answer | {"is_admin": True})
    spid.sign_in()
    equal(spid.whoami()["is_admin"], True, "is_admin of an administrator")
    contains(spid.run("whoami").output.lower(), "admin", "what a person reads")


@row("B7")
def renewal(scene):
    spid = SPiD(scene)
    spid.tap.change("POST", "/oauth/token", lambda answer: answer | {"expires_in": 1})
    spid.sign_in()
    first = spid.tap.sent("/oauth/token")[-1].result
    spid.tap.unchanged()
    spid.tap.forget()
    time.sleep(1.1)
    equal(spid.whoami()["user_id"], "1001", "the user")
    # The old token is not tried.
    equal(
        [(one.path, one.status) for one in spid.tap.requests], [("/oauth/token", 200), ("/api/2/user/1001", 200)],
        "a renewal at the end")
    form = spid.tap.requests[0].form
    equal(
        (form.get("grant_type"), form.get("refresh_token")), ("refresh_token", first["refresh_token"]), "the renewal")
    renewed = spid.tap.requests[0].result
    equal(spid.token(), renewed["access_token"], "the token after the renewal")
    spid.simulator.control("expire", {"user": "ada@example.com"})
    spid.tap.forget()
    equal(spid.whoami()["user_id"], "1001", "the user")
    equal(
        [(one.path, one.status) for one in spid.tap.requests],
        [("/api/2/user/1001", 401), ("/oauth/token", 200), ("/api/2/user/1001", 200)], "a renewal after a refusal")
    equal(spid.tap.requests[1].form.get("refresh_token"), renewed["refresh_token"], "the second refresh token")


@row("B8")
def where_the_token_goes(scene):
    usual = SPiD(scene)
    usual.sign_in()
    usual.tap.forget()
    usual.whoami()
    equal(usual.tap.requests[0].authorization, f"Bearer {usual.token()}", "the Authorization header")
    scene.file("config/rainkit/providers/spid-query.json", json.dumps({
        "schemaVersion": 1, "extends": "spid", "id": "spid-query",
        "placement": {"kind": "query", "name": "oauth_token"}}))
    spid = SPiD(scene, "spid-query")
    spid.sign_in()
    spid.tap.forget()
    spid.whoami()
    token = spid.token()
    equal(spid.tap.requests[0].query.get("oauth_token"), token, "oauth_token")
    equal(spid.tap.requests[0].authorization, "", "the Authorization header beside it")
    answer = spid.run("account", "curl", "--", "-s", "/api/2/user/1001")
    equal(json.loads(answer.output)["data"]["userId"], "1001", "what curl gets")
    lacks(answer.text, token, "what curl prints")
    equal(spid.tap.requests[-1].query.get("oauth_token"), token, "oauth_token of curl")
    name, _, value = spid.run("account", "header").output.strip().partition(": ")
    equal(Browser().request(spid.simulator.url + "/api/2/user/1001", headers={name: value}).status, 200,
          "SPiD's answer to the printed header")


@row("B9")
def ends(scene):
    spid = SPiD(scene)
    browser = Browser()
    spid.through_browser(browser=browser)
    token = spid.token()
    refresh = spid.tap.sent("/oauth/token")[-1].result["refresh_token"]
    equal(spid.asks(token), 200, "SPiD's answer before")
    back = "spidmobile-app-1://logout"
    page = spid.run("account", "web-session", "--end", "--redirect-uri", back, "--json").json["url"]
    plain = spid.run("account", "web-session", "--end", "--json").json["url"]
    lacks(page + plain, token, "the page's address")
    spid.run("logout", "--json")
    equal(spid.asks(token), 401, "SPiD's answer to the access token after logging out")
    renewed = browser.request(spid.simulator.url + "/oauth/token", {
        "grant_type": "refresh_token", "refresh_token": refresh, "client_id": "app-1", "client_secret": "app-1-secret"})
    expect(renewed.status >= 400, "the refresh token is still good")
    equal((urllib.parse.urlsplit(page).path, parameters(page).get("redirect_uri")), ("/logout", back), "the page")
    expect(any("identity" in jar for jar in browser.cookies.values()), "the browser has no session to end")
    left = browser.request(page)
    equal((left.status, left.location), (302, back), "where the browser goes")
    expect(not any("identity" in jar or "remember" in jar for jar in browser.cookies.values()), "the browser is still signed in")
    contains(browser.request(plain).location, "/login", "where the browser goes without a redirect_uri")


@row("B10")
def client_secret(scene):
    spid = SPiD(scene)
    for mode in (0o644, 0o640, 0o602):
        (scene.folder / "app-1.txt").chmod(mode)
        refused = spid.sign_in(status=65)
        contains(refused.failure["message"], "chmod 600", f"the message for mode {mode:o}")
    equal(spid.tap.requests, [], "what was sent with a secret that others can read")
    (scene.folder / "app-1.txt").chmod(0o600)
    log = scene.path("log.txt")
    spid.sign_in("-vv", "--log-file", log)
    spid.run("account", "refresh", "-vv", "--log-file", log)
    spid.run("account", "exchange", "--for-client", "backend-1", "-vv", "--log-file", log)
    spid.run("account", "status", "--json")
    scene.rainctl("account", "providers", "spid")
    for outcome in scene.outcomes:
        lacks(outcome.text, "app-1-secret", "what was printed")
    lacks((scene.folder / "log.txt").read_text(), "app-1-secret", "the log")
    lacks(scene.stored(), "app-1-secret", "what is stored")
    equal(spid.tap.sent("/oauth/token")[-1].form.get("client_secret"), "app-1-secret", "the secret that is sent")
    bare = scene.rainctl(
        "login", "ada@example.com", *PROVIDER, "--base-url", spid.tap.url, "--client-id", "app-1", "--password-file",
        spid.password, "--json", environment={"XDG_STATE_HOME": scene.path("other")}, status=64, reason="missing_parameter")
    contains(bare.failure["message"], "--client-secret-file", "the message without a secret")
    given = scene.rainctl(
        "login", "ada@example.com", *PROVIDER, "--base-url", spid.tap.url, "--client-id", "app-1", "--password-file",
        spid.password, "--json",
        environment={"XDG_STATE_HOME": scene.path("third"), "RAINKIT_CLIENT_SECRET": "app-1-secret"})
    equal(given.json["user_id"], "1001", "the user with a secret from the environment")


@row("B11")
def registering(scene):
    spid = SPiD(scene)
    browser = Browser()
    running = scene.start("login", *spid.client(), "--no-browser", "--redirect", "loopback", "--json")
    back = browser.sign_in(running.page(), user="new@example.com", password="planted-password", register=True)
    browser.come_back(back)
    done = running.end().json
    expect(done["user_name"] == "new@example.com" and done["user_id"] not in ("1001", "1002", "1003"), f"the user is {done}")
    equal(spid.whoami()["user_id"], done["user_id"], "the user's id")
    events = [one["outcome"] for one in spid.simulator.journal(event="account")]
    equal(events, ["registered", "verified"], "what SPiD did")
    # The account works only after the address is confirmed; then the password is valid.
    new = scene.file("new.txt", "planted-password")
    login = ["login", "new@example.com", *spid.client(), "--password-file", new, "--json"]
    equal(scene.rainctl(*login).json["user_id"], done["user_id"], "the user by password")
    scene.rainctl(
        "login", "eve@example.com", *spid.client(), "--password-file", spid.password, "--json", status=77,
        reason="unverified_user")
