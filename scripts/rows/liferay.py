# SPDX-License-Identifier: Apache-2.0
"""Row D: Liferay's Login Screenlet (document 003)."""
import base64
import json
import time
import urllib.parse

from rows.person import Browser
from rows.scene import contains, equal, expect, lacks
from rows.spid import parameters, seconds
from rows.table import row

PROVIDER = ["--provider", "liferay"]
ADA = "ada@example.com"
NAMES = {"email": ADA, "screenName": "ada", "userId": "1001"}
SERVICES = {
    "email": "/user/get-user-by-email-address", "screenName": "/user/get-user-by-screen-name",
    "userId": "/user/get-user-by-id"}
PRIVATE = "/documents/10184/0/private.txt"
EVERYTHING = "liferay-json-web-services.everything"


class Portal:
    def __init__(self, scene, **settings):
        self.scene = scene
        self.simulator = scene.identity("liferay")
        self.tap = scene.tap(self.simulator.url)
        self.password = scene.file("password.txt", "correct-horse\n")
        self.wrong = scene.file("wrong.txt", "planted-wrong\n")
        self.secret = scene.file("screens-2.txt", "screens-2-secret\n")
        if settings:
            self.set(**settings)

    def set(self, **settings):
        self.simulator.control("settings", settings)

    def sign_in(self, *more, user=ADA, save=True, password=None, **judged):
        saving = ["--save-credentials"] if save else []
        return self.scene.rainctl(
            "login", user, *PROVIDER, "--base-url", self.tap.url, "--password-file", password or self.password, *saving,
            "--json", *more, **judged)

    def with_oauth(self, *more, **judged):
        return self.sign_in(
            "--mode", "oauth2UsernameAndPassword", "--client-id", "screens-2", "--client-secret-file", self.secret,
            "--scope", EVERYTHING, *more, **judged)

    def run(self, *arguments, **judged):
        return self.scene.rainctl(*arguments, *PROVIDER, **judged)

    def whoami(self, *more, **judged):
        return self.run("whoami", "--json", *more, **judged).json

    def status(self):
        return self.run("account", "status", "--json").json

    def invoked(self):
        """Returns the called services with their parameters, in order."""
        found = []
        for one in self.tap.sent("/invoke"):
            commands = one.json
            for command in commands if isinstance(commands, list) else [commands]:
                found += command.items()
        return found

    def forms(self):
        """Returns how often the portal's sign-in form was sent."""
        return len([one for one in self.tap.sent("/c/portal/login", "POST")])


def basic(name, word="correct-horse"):
    return "Basic " + base64.b64encode(f"{name}:{word}".encode()).decode()


@row("D1")
def modes(scene):
    portal = Portal(scene)
    portal.sign_in()
    equal({one.authorization for one in portal.tap.requests}, {basic(ADA)}, "the proof if no mode is named")
    portal.tap.forget()
    portal.sign_in("--mode", "cookie")
    equal(portal.forms(), 1, "how often the form was sent in cookie mode")
    expect(not any(one.authorization for one in portal.tap.requests), "cookie mode sends an Authorization header")
    portal.tap.forget()
    portal.with_oauth()
    form = portal.tap.sent("/o/oauth2/token")[0].form
    equal((form.get("grant_type"), form.get("username")), ("password", ADA), "oauth2UsernameAndPassword")
    equal(portal.tap.requests[-1].authorization.split(" ")[0], "Bearer", "the proof with a token")
    portal.tap.forget()
    who, _ = redirect(scene, portal)
    equal(who["user_id"], "1001", "the user of oauth2Redirect")
    equal(portal.tap.sent("/o/oauth2/token")[0].form.get("grant_type"), "authorization_code", "oauth2Redirect")
    portal.sign_in("--mode", "somehow", status=64, reason="unknown_mode")
    # A backend needs a token, which two of the modes do not give. This is reported before any message to the board.
    backend = portal.simulator.backend
    tap = scene.tap(backend["url"])
    file = scene.file("backend.json", json.dumps(backend["description"]).replace(backend["url"], tap.url))
    board = scene.board("--node-id", "node-of-ada", "--mapping", "user")
    provision = ["provision", *PROVIDER, "--backend", file, *board.options, "--json"]
    for mode in ("basic", "cookie"):
        portal.sign_in("--mode", mode)
        refused = scene.rainctl(*provision, status=78)
        contains(refused.failure["message"], "--mode oauth2", f"the message in {mode} mode")
        equal((board.journal(event="request"), tap.requests), ([], []), f"what board and backend were asked in {mode} mode")
    portal.with_oauth()
    equal(scene.rainctl(*provision).json["mapping"], "confirmed", "the mapping with a token")


def free_port():
    """Returns a free port to register at the portal, which compares ports."""
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def redirect(scene, portal, *more):
    uri = f"http://127.0.0.1:{free_port()}/callback"
    portal.set(redirect=uri)
    running = scene.start(
        "login", *PROVIDER, "--base-url", portal.tap.url, "--mode", "oauth2Redirect", "--client-id", "screens-1",
        "--redirect-uri", uri, "--scope", EVERYTHING + ".read", "--no-browser", "--redirect", "loopback", "--json", *more)
    page = running.page()
    browser = Browser()
    browser.come_back(browser.sign_in(page))
    return running.end().json, page


@row("D2")
def names(scene):
    portal = Portal(scene)
    for kind in NAMES:
        portal.set(auth_type=kind)
        for other, name in NAMES.items():
            own = {"XDG_STATE_HOME": scene.path(f"state-{kind}-{other}")}
            for setting in ([], ["--set", f"loginBy={other}"]):
                portal.tap.forget()
                wanted = {} if other == kind else {"status": 77, "reason": "invalid_credentials"}
                done = portal.sign_in(*setting, user=name, environment=own, **wanted)
                if other == kind:
                    equal(done.json["user_id"], "1001", f"the user by {other}")
                    equal(portal.invoked()[-1][0], SERVICES[other], f"the service by {other}")
                elif setting:
                    contains(done.failure["message"], "loginBy", f"the message by {other} at a portal with {kind}")
    # The remains of an earlier sign-in are named if they are the cause.
    portal.set(auth_type="screenName")
    portal.sign_in("--set", "loginBy=screenName", user="ada")
    portal.set(auth_type="email")
    refused = portal.sign_in(status=77).failure["message"]
    contains(refused, "loginBy", "the message of a sign-in with a remembered setting")
    portal.sign_in("--set", "loginBy=email")


@row("D3")
def with_every_request(scene):
    portal = Portal(scene)
    portal.sign_in()
    portal.whoami()
    portal.whoami()
    expect(len(portal.tap.requests) >= 4, "too few requests")
    equal({one.authorization for one in portal.tap.requests}, {basic(ADA)}, "the Authorization headers")
    expect(not any("correct-horse" in one.target + one.body for one in portal.tap.requests), "the password is in an address")
    token = portal.run("account", "token", "--json", status=78)
    lacks(token.text, "correct-horse", "what account token prints")


@row("D4")
def company(scene):
    portal = Portal(scene)
    for more in (["--set", "companyId=0", "--set", "contextCompanyId=10157"], ["--set", "companyId=10157"], []):
        own = {"XDG_STATE_HOME": scene.path(f"state-{len(more)}")}
        portal.tap.forget()
        equal(portal.sign_in(*more, environment=own).json["user_id"], "1001", f"the user with {more}")
        called = portal.invoked()
        service, arguments = called[-1]
        equal((service, str(arguments.get("companyId"))), (SERVICES["email"], "10157"), f"the last call with {more}")
        # Without a given company, it is that of the user's first site.
        equal(called[0][0] == "/group/get-user-sites-groups", not more, f"the user's sites are asked for with {more}")
    own = {"XDG_STATE_HOME": scene.path("state-other")}
    wrong = portal.sign_in("--set", "companyId=20000", environment=own, status=77, reason="wrong_context")
    contains(wrong.failure["message"], "companyId", "the message for another company")
    portal.sign_in("--mode", "cookie", "--set", "companyId=20000", environment=own, status=77, reason="wrong_context")
    # The portal's own number has changed since: the message names the stored setting.
    portal.sign_in("--set", "contextCompanyId=10157")
    portal.set(company=20116)
    refused = portal.sign_in(status=77).failure["message"]
    contains(refused, "contextCompanyId", "the message of a sign-in with a remembered setting")
    portal.sign_in("--set", "contextCompanyId=20116")


@row("D5")
def finding_the_user(scene):
    portal = Portal(scene)
    portal.sign_in()
    equal(portal.invoked()[-1], (SERVICES["email"], {"companyId": 10157, "emailAddress": ADA}), "the call by e-mail")
    for sign_in in (lambda: portal.sign_in("--mode", "cookie"), portal.with_oauth):
        portal.tap.forget()
        sign_in()
        equal({name for name, _ in portal.invoked()}, {"/user/get-current-user"}, "the calls without a name")
    # If the portal finds no user, nobody is signed in, whatever else the answer contains.
    portal.tap.change("POST", "/invoke", lambda answer: [{}])
    nobody = portal.sign_in("--mode", "basic", "--set", "companyId=10157", status=None)
    expect(nobody.status not in (0,), "a portal that finds nobody signs somebody in")


@row("D6")
def documents(scene):
    portal = Portal(scene)
    portal.sign_in("--mode", "cookie")
    portal.tap.forget()
    equal(portal.run("account", "fetch", PRIVATE).output, "for members\n", "the document")
    contains(portal.tap.requests[0].headers.get("Cookie", ""), "JSESSIONID=", "the cookie")
    equal(Browser().request(portal.simulator.url + PRIVATE).status in (200,), False, "the document for everybody")
    for sign_in in (lambda: portal.sign_in("--mode", "basic"), portal.with_oauth):
        sign_in()
        refused = portal.run("account", "fetch", PRIVATE, status=None)
        expect(refused.status != 0 and "for members" not in refused.output, "the document opens without a cookie")


@row("D7")
def oauth_settings(scene):
    portal = Portal(scene)
    _, page = redirect(scene, portal)
    asked, form = parameters(page), portal.tap.sent("/o/oauth2/token")[0].form
    equal(urllib.parse.urlsplit(page).path, "/o/oauth2/authorize", "the page")
    equal((asked["client_id"], asked["scope"]), ("screens-1", EVERYTHING + ".read"), "oauth2clientId and oauth2Scopes")
    equal(asked.get("code_challenge_method"), "S256", "code_challenge_method")
    equal(form.get("redirect_uri"), asked["redirect_uri"], "oauth2redirectUrl")
    expect(form.get("code_verifier") and not form.get("client_secret"), "the request for tokens has no verifier")
    portal.tap.forget()
    # Several scopes are separated by a space.
    both = f"{EVERYTHING}.read {EVERYTHING}"
    portal.with_oauth("--scope", both)
    sent = portal.tap.sent("/o/oauth2/token")[0]
    equal((sent.form.get("scope")), both, "oauth2Scopes")
    secret = sent.form.get("client_secret") or sent.authorization
    expect(secret in ("screens-2-secret", basic("screens-2", "screens-2-secret")), "oauth2clientSecret is not sent")
    portal.simulator.control("expire", {"user": ADA})
    equal(portal.whoami()["user_id"], "1001", "the user after a renewal")
    bare = portal.sign_in(
        "--mode", "oauth2UsernameAndPassword", "--client-id", "screens-2", status=64, reason="missing_parameter",
        environment={"XDG_STATE_HOME": scene.path("other")})
    contains(bare.failure["message"], "--client-secret-file", "the message without a secret")


@row("D8")
def saved_credentials(scene):
    portal = Portal(scene)
    tried = portal.sign_in(save=False)
    lacks(scene.stored(), "correct-horse", "what is stored without --save-credentials")
    portal.run("whoami", "--json", status=77, reason="not_signed_in")
    portal.sign_in("--store", "file", save=False)
    lacks(scene.stored(), "correct-horse", "what --store file stores without --save-credentials")
    lacks(tried.text, "correct-horse", "what was printed")
    portal.sign_in()
    expect(scene.sessions(), "nothing is stored with --save-credentials")
    for session in scene.sessions():
        equal(session.stat().st_mode & 0o777, 0o600, "the mode of the session's file")
    # A sign-in that is not stored leaves the stored one unchanged.
    listed = scene.rainctl("account", "list", "--json").output
    for options in ([], ["--no-save"], ["--store", "memory"]):
        portal.sign_in(*options, save=False, environment={"RAINKIT_STORE": ""})
        equal(scene.rainctl("account", "list", "--json").output, listed, f"the accounts after a sign-in with {options}")
        equal(portal.whoami()["user_id"], "1001", f"the user after a sign-in with {options}")
    # Later sessions load it, and read the attributes without the portal.
    portal.tap.forget()
    found = portal.whoami("--offline")
    equal(portal.tap.requests, [], "what was sent for an offline question")
    equal(
        (found["attributes"]["screenName"], found["attributes"]["companyId"]), ("ada", 10157), "the stored attributes")


@row("D9")
def cookies(scene):
    portal = Portal(scene)
    portal.sign_in("--mode", "cookie")
    status = portal.status()
    equal(seconds(status["expires_at"], status["received_at"]), 900, "the cookie's life in seconds")
    portal.whoami()
    equal(portal.forms(), 1, "how often the form was sent for a new cookie")
    # The portal has dropped the session: it is renewed, once.
    portal.simulator.clock(901)
    equal(portal.whoami()["user_id"], "1001", "the user after a renewal")
    equal(portal.forms(), 2, "how often the form was sent")
    # Another lifetime by the portal's setting: the session is renewed before it is refused.
    portal.sign_in("--mode", "cookie", "--set", "cookieExpirationTime=1")
    portal.tap.forget()
    time.sleep(1.1)
    portal.whoami()
    equal(portal.forms(), 1, "how often the form was sent for an old cookie")
    equal(portal.tap.requests[0].path, "/c/portal/login", "the first request with an old cookie")
    # Switched off.
    portal.sign_in(
        "--mode", "cookie", "--set", "cookieExpirationTime=900", "--set", "shouldHandleCookieExpiration=false")
    equal(portal.status()["renewable"], False, "renewable without renewal")
    lacks(scene.stored(), "correct-horse", "what is stored without renewal")
    portal.tap.forget()
    portal.simulator.clock(1900)
    portal.run("whoami", "--json", status=77, reason="expired")
    equal(portal.forms(), 0, "how often the form was sent without renewal")


def told(outcome):
    return [one["state"] for one in outcome.events]


@row("D10")
def delegate(scene):
    portal = Portal(scene)
    failed = portal.sign_in("--events", "ndjson", password=portal.wrong, status=77)
    equal(told(failed), ["started", "sign_in_failed", "ended"], "the events of a wrong password")
    unsaved = portal.sign_in("--events", "ndjson", save=False)
    equal(told(unsaved), ["started", "signed_in", "done"], "the events of a sign-in that is not kept")
    saved = portal.sign_in("--events", "ndjson")
    equal(told(saved), ["started", "credentials_saved", "signed_in", "done"], "the events of one that is kept")
    loaded = portal.sign_in("--events", "ndjson")
    equal(
        told(loaded), ["started", "credentials_loaded", "credentials_saved", "signed_in", "done"],
        "the events with stored credentials")


@row("D11")
def challenges(scene):
    portal = Portal(scene, challenge={"user": "proxy", "password": "planted-gate"})
    gate = ["--gate-user", "proxy", "--gate-password-file", scene.file("gate.txt", "planted-gate\n")]
    equal(portal.sign_in("--mode", "cookie", *gate).json["user_id"], "1001", "the user behind a gate")
    equal(portal.whoami()["user_id"], "1001", "the user at the next request")
    portal.tap.forget()
    own = {"XDG_STATE_HOME": scene.path("other")}
    portal.sign_in(
        "--mode", "cookie", "--gate-user", "proxy", "--gate-password-file", portal.wrong, environment=own, status=77,
        reason="invalid_credentials")
    expect(1 < len(portal.tap.requests) < 6, f"a wrong password for the gate is tried {len(portal.tap.requests)} times")
    # In every mode the message names the server that asks, and the way to answer.
    for sign_in in (
        lambda: portal.sign_in("--mode", "cookie", environment=own, status=77),
        lambda: portal.sign_in("--mode", "basic", environment=own, status=None),
        lambda: portal.with_oauth(environment=own, status=None),
    ):
        refused = sign_in()
        expect(refused.status != 0, "the gate lets everybody in")
        contains(refused.failure["message"], "--gate-user", "the message without a name for the gate")
    # The gate needs the header that the user's password or the client's secret uses. The message reports that, and names a mode that works.
    for sign_in in (lambda *more, **rest: portal.sign_in("--mode", "basic", *more, **rest), portal.with_oauth):
        refused = sign_in(*gate, environment=own, status=None)
        expect(refused.status != 0, "two names fit into one header")
        contains(refused.failure["message"], "cookie", "the message with a name for the gate")
    for outcome in scene.outcomes:
        lacks(outcome.text, "planted", "what was printed")


@row("D12")
def offline(scene):
    portal = Portal(scene)
    portal.sign_in()
    kept = scene.stored()
    portal.simulator.faults({"path": "/*", "action": "reset"})
    for words in (["whoami", "--json"], ["account", "fetch", PRIVATE, "--json"]):
        refused = portal.run(*words, status=75, reason="network")
        contains(refused.failure["message"], "127.0.0.1", "the message without a connection")
    nobody = f"http://127.0.0.1:{free_port()}"
    other = scene.rainctl(
        "login", ADA, *PROVIDER, "--base-url", nobody, "--password-file", portal.password, "--json",
        environment={"XDG_STATE_HOME": scene.path("other")}, status=75, reason="network")
    lacks(other.failure["message"].lower(), "password", "the message of a sign-in without a connection")
    equal(scene.stored(), kept, "what is stored")
    equal(portal.whoami("--offline")["user_id"], "1001", "the user offline")
    portal.simulator.faults()
    equal(portal.whoami()["user_id"], "1001", "the user when the portal is back")


@row("D13")
def attributes(scene):
    portal = Portal(scene)
    wanted = {"userId": 1001, "companyId": 10157, "emailAddress": ADA, "screenName": "ada", "firstName": "Ada"}
    for sign_in in (portal.sign_in, lambda: portal.sign_in("--mode", "cookie"), portal.with_oauth):
        sign_in()
        found = portal.whoami()["attributes"]
        equal({name: found.get(name) for name in wanted}, wanted, "the attributes")


@row("D14")
def versions(scene):
    portal = Portal(scene)
    for version, number in (("6.1", "61"), ("6.2", "62"), ("7", "71"), ("7.4", "74")):
        portal.set(version=version)
        for mode in ("basic", "cookie"):
            # Before 6.2 with its plug-in no service returns the user of a cookie.
            if (version, mode) == ("6.1", "cookie"):
                continue
            for setting in (["--set", f"serverVersion={number}"], []):
                own = {"XDG_STATE_HOME": scene.path(f"state-{number}-{mode}-{len(setting)}")}
                done = portal.sign_in("--mode", mode, *setting, environment=own)
                equal(done.json["user_id"], "1001", f"the user at {version} by {mode}")
                equal(portal.whoami(environment=own)["attributes"]["userId"], 1001, f"userId at {version} by {mode}")
    for wrong in ("99", "seven"):
        refused = portal.sign_in("--set", f"serverVersion={wrong}", environment={"XDG_STATE_HOME": scene.path("x")}, status=78)
        contains(refused.failure["message"], "serverVersion", "the message for a version that does not exist")


@row("D15")
def attributes_in_events(scene):
    portal = Portal(scene)
    wanted = {"userId": 1001, "companyId": 10157, "emailAddress": ADA, "screenName": "ada"}
    for sign_in in (portal.sign_in, lambda *more: portal.sign_in("--mode", "cookie", *more), portal.with_oauth):
        sign_in()
        events = {one["state"]: one for one in sign_in("--events", "ndjson").events}
        for state in ("credentials_loaded", "credentials_saved", "signed_in"):
            found = events.get(state, {}).get("attributes") or {}
            equal({name: found.get(name) for name in wanted}, wanted, f"the attributes in {state}")
