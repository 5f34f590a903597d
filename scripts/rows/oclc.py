# SPDX-License-Identifier: Apache-2.0
"""Row E: OCLC's sample application (document 004)."""
import base64
import hashlib
import hmac
import re
import time
import urllib.parse

from rows.person import Browser
from rows.scene import contains, equal, expect, lacks
from rows.spid import handle, parameters, seconds
from rows.table import row

PROVIDER = ["--provider", "oclc"]
INSTITUTIONS = ["--set", "authenticatingInstitutionId=128807", "--set", "contextInstitutionId=128807"]
REDIRECT = "oclcApp://user_agent_flow"


class Library:
    def __init__(self, scene, **settings):
        self.scene = scene
        self.simulator = scene.identity("oclc")
        self.tap = scene.tap(self.simulator.url)
        self.secret = scene.file("wskey.txt", "wskey-1-secret\n")
        if settings:
            self.simulator.control("settings", settings)

    def login(self, *more, scope="WMS_NCIP", institutions=INSTITUTIONS):
        return [
            "login", *PROVIDER, "--base-url", self.tap.url + "/oauth2", "--client-id", "wskey-1", *institutions, "--set",
            f"services={self.tap.url}", "--scope", scope, "--json", *more]

    def confidential(self, *more, **given):
        return self.login("--client-secret-file", self.secret, *more, **given)

    def through_browser(self, login, way="loopback", deny=False, **judged):
        """Signs in at OCLC's page. Returns the outcome, the page's address, and the target of the redirect."""
        running = self.scene.start(*login, "--no-browser", "--redirect", way)
        page = running.page()
        browser = Browser()
        back = browser.sign_in(page, user="ada", deny=deny)
        if way == "loopback":
            browser.come_back(back)
        else:
            handle(self.scene, back, "oclcapp")
        return running.end(**judged), page, back

    def pasted(self, login, edit, **judged):
        """Signs in at OCLC's page, and pastes the target of the redirect with an edited fragment."""
        running = self.scene.start(*login, "--paste", "--redirect", "loopback")
        page = running.page()
        back, _, fragment = Browser().sign_in(page, user="ada").partition("#")
        return running.end(typed=f"{back}#{edit(fragment)}", **judged)

    def run(self, *arguments, **judged):
        return self.scene.rainctl(*arguments, *PROVIDER, **judged)

    def status(self):
        return self.run("account", "status", "--json").json

    def token(self):
        return self.run("account", "token").output.strip()

    def loans(self, **judged):
        return self.run("account", "fetch", self.tap.url + "/ncip", **judged)


def fragment_of(address):
    return dict(urllib.parse.parse_qsl(address.partition("#")[2]))


@row("E1")
def configuration(scene):
    library = Library(scene)
    _, page, _ = library.through_browser(library.login())
    asked = parameters(page)
    equal(
        (asked.get("authenticatingInstitutionId"), asked.get("contextInstitutionId")), ("128807", "128807"),
        "the institutions")
    expect(page.startswith(library.tap.url + "/oauth2/"), f"the page is {page}")
    own = {"XDG_STATE_HOME": scene.path("other")}
    bare = scene.rainctl(
        *library.login(institutions=INSTITUTIONS[:2]), "--no-browser", "--redirect", "loopback", environment=own, status=64,
        reason="missing_parameter")
    contains(bare.failure["message"], "contextInstitutionId", "the message without a context institution")
    # A key that has no access to another institution's data.
    foreign = ["--set", "authenticatingInstitutionId=128807", "--set", "contextInstitutionId=91475"]
    running = scene.start(
        *library.login(institutions=foreign), "--no-browser", "--redirect", "loopback", environment=own)
    browser = Browser()
    back = browser.request(running.page())
    for _ in range(5):
        if not back.location:
            break
        back = browser.request(urllib.parse.urljoin(back.url, back.location))
    refused = running.end(status=None)
    expect(refused.status in (77, 78), f"another institution's data ends with {refused.status}")


@row("E2")
def request(scene):
    library = Library(scene)
    for mode in ([], ["--mode", "token"]):
        running = scene.start(*library.login(*mode), "--no-browser", "--redirect", "scheme")
        page = running.page()
        running.stop()
        expect(page.startswith(library.tap.url + "/oauth2/authorizeCode?"), f"the page is {page}")
        asked = parameters(page)
        expect(len(asked.pop("state", "")) >= 20, "no state")
        equal(asked, {
            "client_id": "wskey-1", "authenticatingInstitutionId": "128807", "contextInstitutionId": "128807",
            "redirect_uri": REDIRECT, "response_type": "token", "scope": "WMS_NCIP"}, "the request")
        contains(page, "redirect_uri=oclcApp%3A%2F%2Fuser_agent_flow", "the page's address")
    running = scene.start(*library.login(scope="WMS_NCIP refresh_token"), "--no-browser", "--redirect", "scheme")
    contains(running.page(), "scope=WMS_NCIP%20refresh_token", "the page's address with two scopes")
    running.stop()


@row("E3")
def own_scheme(scene):
    library = Library(scene)
    outcome, page, back = library.through_browser(library.login(), way="scheme")
    equal(parameters(page).get("redirect_uri"), REDIRECT, "redirect_uri")
    expect(back.lower().startswith(REDIRECT.lower() + "#access_token="), f"the browser is sent to {back}")
    equal(outcome.json["user_id"], "p-ada", "the user")
    lacks(outcome.text, fragment_of(back)["access_token"], "what was printed")


@row("E4")
def denied(scene):
    library = Library(scene)
    for in_fragment in (False, True):
        library.simulator.control("settings", {"errors_in_fragment": in_fragment})
        _, _, back = library.through_browser(library.login(), deny=True, status=77, reason="access_denied")
        contains(back.split("#")[1 if in_fragment else 0], "error=access_denied", "where the browser is sent")
    library.run("whoami", "--json", status=77, reason="not_signed_in")


@row("E5")
def answer(scene):
    library = Library(scene)
    _, _, back = library.through_browser(library.login())
    given = fragment_of(back)
    expect(
        {"access_token", "context_institution_id", "expires_at", "expires_in", "principalID", "principalIDNS",
         "token_type"} <= given.keys(), f"the simulator answers {sorted(given)}")
    equal(library.token(), given["access_token"], "the token")
    status = library.status()
    equal((status["user_id"], seconds(status["expires_at"], status["received_at"])), ("p-ada", 1199), "the user and the life")
    who = library.run("whoami", "--json").json
    equal(who["user_id"], "p-ada", "principalID")
    contains(str(who), "urn:oclc:platform:128807", "the user with principalIDNS")
    contains(library.loans().output, "p-ada", "what the service answers")
    library.simulator.clock(1200)
    library.loans(status=77)


@row("E6")
def end_as_a_date(scene):
    library = Library(scene)
    wanted = time.gmtime(time.time() + 3000)
    date = time.strftime("%Y-%m-%d%%20%H:%M:%SZ", wanted)

    def edit(fragment):
        parts = [part for part in fragment.split("&") if not part.startswith("expires_")]
        return "&".join([*parts, f"expires_at={date}"])

    library.pasted(library.login(), edit)
    equal(library.status()["expires_at"][:19], time.strftime("%Y-%m-%dT%H:%M:%S", wanted), "the token's end")
    contains(library.loans().output, "p-ada", "what the service answers")
    # expires_in has precedence over it.
    library.pasted(library.login(), lambda fragment: re.sub(r"expires_at=[^&]*", f"expires_at={date}", fragment))
    status = library.status()
    equal(seconds(status["expires_at"], status["received_at"]), 1199, "the life by expires_in")


@row("E7")
def refresh_token(scene):
    library = Library(scene)
    _, _, back = library.through_browser(library.login())
    lacks(back, "refresh_token", "where the browser is sent without the scope")
    lacks(str(library.status()), "refresh_expires", "the status without a refresh token")
    _, _, back = library.through_browser(library.login(scope="WMS_NCIP refresh_token"))
    given = fragment_of(back)
    expect(given["refresh_token"].startswith("rt_"), "no refresh token")
    equal(given["refresh_token_expires_in"], "604799", "refresh_token_expires_in")
    status = library.status()
    equal(
        seconds(status.get("refresh_expires_at") or status["received_at"], status["received_at"]), 604799,
        "the refresh token's life in account status")
    equal(seconds(status["expires_at"], status["received_at"]), 1199, "the access token's life")
    text = library.run("account", "status").output
    contains(text, "refresh token: valid for 6 days", "what a person reads")


def signature(request, key="wskey-1", secret="wskey-1-secret"):
    """Computes the signature that OCLC's page on HMAC requires."""
    found = dict(re.findall(r'(\w+)="([^"]*)"', request.authorization))
    query = urllib.parse.parse_qsl(request.target.partition("?")[2], keep_blank_values=True)
    lines = [key, found["timestamp"], found["nonce"], "", request.method, "www.oclc.org", "443", "/wskey"]
    quoted = sorted(
        f"{urllib.parse.quote(name, safe='~')}={urllib.parse.quote(value, safe='~')}" for name, value in query)
    text = "".join(line + "\n" for line in lines + quoted)
    return base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()).decode(), found


@row("E8")
def signed_renewal(scene):
    library = Library(scene)
    scope = "WMS_NCIP refresh_token"
    library.through_browser(library.login(scope=scope))
    equal(library.status()["renewable"], False, "renewable for an app")
    library.tap.forget()
    refused = library.run("account", "refresh", "--json", status=78, reason="not_renewable")
    contains(refused.failure["message"], "rainctl login", "the message for an app")
    equal(library.tap.requests, [], "what was sent for an app")
    library.through_browser(library.confidential("--mode", "code", scope=scope))
    equal(library.status()["renewable"], True, "renewable for a server")
    library.tap.forget()
    library.run("account", "refresh")
    sent = library.tap.sent("/accessToken")[0]
    equal((sent.query.get("grant_type"), sent.body), ("refresh_token", ""), "the renewal")
    wanted, found = signature(sent)
    equal(found.get("signature"), wanted, "the signature")
    lacks(sent.target + str(sent.headers), "wskey-1-secret", "the request")


@row("E9")
def renewing(scene):
    library = Library(scene)
    library.through_browser(library.confidential("--mode", "code", scope="WMS_NCIP refresh_token"))
    first = library.token()
    library.run("account", "refresh")
    second = library.token()
    expect(second.startswith("tk_") and second != first, "the token is the old one")
    # The refresh token stays, and a refused token is renewed automatically.
    library.simulator.control("expire", {"user": "ada@example.com"})
    contains(library.loans().output, "p-ada", "what the service answers")
    expect(library.token() not in (first, second), "the token was not renewed")
    equal(
        len({one.query.get("refresh_token") for one in library.tap.sent("/accessToken") if "refresh_token" in one.query}), 1,
        "the number of refresh tokens")
    # No text that OCLC quotes in an error is shown.
    wrong = scene.file("wrong.txt", "planted-secret")
    refused = scene.rainctl(
        *library.login("--client-secret-file", wrong, "--mode", "client-credentials"), status=78, reason="client_refused")
    lacks(refused.text, "signature=", "the error")
    lacks(refused.text, "planted", "the error")


@row("E10")
def keys(scene):
    link = "https://www.worldcat.org/config/"
    contains(scene.rainctl("account", "providers", "oclc").output, link, "what a person reads")
    listed = scene.rainctl("account", "providers", "--json").json["providers"]
    equal([one["links"].get("help") for one in listed if one["name"] == "oclc"], [link], "the link")
