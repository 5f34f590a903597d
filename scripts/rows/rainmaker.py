# SPDX-License-Identifier: Apache-2.0
"""Row C: RainMaker's account sign-in (document 002)."""
import base64
import json
import re
import time

from rows.person import Browser
from rows.scene import contains, equal, expect, lacks, lines_of
from rows.table import row

USER = "me@example.com"


class RainMaker:
    """A user of one simulated cloud, and the requests between rainctl and the cloud."""

    def __init__(self, scene, *options):
        self.scene = scene
        self.simulator = scene.cloud(*options)
        self.tap = scene.tap(self.simulator.url)
        self.password = scene.file("password.txt", "Correct-h0rse\n")
        scene.rainctl(
            "profile", "add", "sim", "--base-url", self.tap.url, "--auth-url", self.tap.url, "--client-id",
            "1h7ujqjs8140n17v0ahb4n51m2")
        scene.rainctl("profile", "use", "sim")

    def sign_in(self, *more, user=USER, password=None, **judged):
        return self.scene.rainctl(
            "login", user, "--password-file", password or self.password, "--json", *more, **judged)

    def whoami(self, **judged):
        return self.scene.rainctl("whoami", "--json", **judged).json

    def token(self):
        return self.scene.rainctl("account", "token").output.strip()

    def mail(self, kind, to=USER):
        """Returns the code that was sent last."""
        found = [one for one in lines_of(self.simulator.mailbox.read_text()) if (one["kind"], one["to"]) == (kind, to)]
        expect(found, f"no {kind} was sent to {to}")
        return found[-1]["code"] + "\n"

    def signed_in_at(self):
        """Returns the requests of a password sign-in, at either of its two addresses."""
        return self.tap.sent("/v1/login2", "POST") + self.tap.sent("/v1/login", "POST")


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


@row("C1")
def other_accounts(scene):
    cloud = RainMaker(scene)
    for name, shown in (("github", "GitHub"), ("apple", "SignInWithApple"), ("google", "Google")):
        running = scene.start("login", "--idp", name, "--no-browser", "--redirect", "loopback", "--json")
        page = running.page()
        contains(page, f"identity_provider={shown}", "the page's address")
        browser = Browser()
        browser.come_back(browser.sign_in(page, user=f"{name}@example.com"))
        expect(not any("password" in form for form in browser.forms), "RainMaker asks for a password")
        equal(running.end().json["user_name"], f"{name}@example.com", "the user")
        equal(cloud.whoami()["user_name"], f"{name}@example.com", "the user whom the cloud names")


@row("C2")
def password(scene):
    cloud = RainMaker(scene)
    equal(cloud.sign_in().json["user_name"], USER, "the user")
    sent = cloud.signed_in_at()[0]
    contains(sent.headers.get("Content-Type", ""), "application/json", "Content-Type")
    equal(sent.json, {"user_name": USER, "password": "Correct-h0rse"}, "the request")
    wrong = scene.file("wrong.txt", "Wr0ng-horse")
    cloud.sign_in("--account", "x", password=wrong, status=77, reason="invalid_credentials")
    # The cloud does not reveal which accounts exist.
    cloud.sign_in(user="nobody@example.com", status=77, reason="invalid_credentials")


@row("C3")
def forgotten_password(scene):
    cloud = RainMaker(scene)
    fresh = scene.file("fresh.txt", "N3w-battery-staple")
    asked = scene.rainctl("account", "password", "reset", USER, "--json").json
    contains(json.dumps(asked), "password reset", "the next step")
    scene.rainctl(
        "account", "password", "reset", USER, "--new-password-file", fresh, "--code-stdin", "--json", typed="000000\n",
        status=77, reason="wrong_code")
    scene.rainctl(
        "account", "password", "reset", USER, "--new-password-file", fresh, "--code-stdin", "--json",
        typed=cloud.mail("password_reset"))
    cloud.sign_in(status=77, reason="invalid_credentials")
    equal(cloud.sign_in(password=fresh).json["user_name"], USER, "the user with the new password")


@row("C4")
def pages(scene):
    entry = [
        one for one in scene.rainctl("account", "providers", "--json").json["providers"] if one["name"] == "rainmaker"][0]
    for name in ("terms", "privacy", "help"):
        expect(entry["links"][name].startswith("https://rainmaker.espressif.com/"), f"{name} is {entry['links'][name]}")
        contains(scene.rainctl("account", "providers", "rainmaker").output, entry["links"][name], "what a person reads")
    version = scene.rainctl("--version").output
    expect(re.fullmatch(r"\d+\.\d+\.\d+\n", version), f"the version is {version!r}")
    help_text = scene.rainctl("login", "--help").output
    contains(" ".join(help_text.split()), "rainctl account providers", "the help of login")


@row("C5")
def members(scene):
    cloud = RainMaker(scene)
    cloud.sign_in()
    answer = cloud.signed_in_at()[0].result
    expect({"status", "idtoken", "accesstoken", "refreshtoken"} <= answer.keys(), f"the simulator answers {list(answer)}")
    lacks(json.dumps(list(answer)), "expires_in", "the simulator's answer")
    equal(cloud.token(), answer["accesstoken"], "the access token")
    status = scene.rainctl("account", "status", "--json").json
    end = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(claims(answer["accesstoken"])["exp"]))
    equal(status["expires_at"][:19], end, "the token's end")


@row("C6")
def raw_token(scene):
    cloud = RainMaker(scene)
    cloud.sign_in()
    cloud.tap.forget()
    cloud.whoami()
    token = cloud.token()
    equal([one.authorization for one in cloud.tap.requests], [token], "the Authorization header")
    equal(scene.rainctl("account", "header").output, f"Authorization: {token}\n", "the header for scripts")
    answer = scene.rainctl("account", "curl", "--", "-s", "/v1/user")
    equal(json.loads(answer.output)["user_name"], USER, "what curl gets")
    lacks(answer.text, token, "what curl prints")


@row("C7")
def other_tokens(scene):
    cloud = RainMaker(scene)
    # The profile is not available: the id token identifies the user.
    cloud.simulator.faults(*({"method": "GET", "path": path, "action": "status"} for path in ("/v1/user", "/v1/user2")))
    who = cloud.sign_in().json
    answer = cloud.signed_in_at()[0].result
    equal(who["user_name"], USER, "the user's name without a profile")
    named = claims(answer["idtoken"])
    expect(who["user_id"] in (named.get("custom:user_id"), named.get("user_id")), "the user's id without a profile")
    cloud.simulator.faults()
    cloud.tap.forget()
    old = cloud.token()
    scene.rainctl("account", "refresh")
    equal([one.json.get("refreshtoken") for one in cloud.signed_in_at()], [answer["refreshtoken"]], "the renewal")
    expect(cloud.token() != old, "the access token is the old one")
    cloud.simulator.control("expire", {"user": USER})
    equal(cloud.whoami()["user_name"], USER, "the user after a second renewal, by the same refresh token")


@row("C8")
def profile(scene):
    cloud = RainMaker(scene)
    cloud.sign_in()
    whole = {
        "user_id": "u-1", "user_name": USER, "super_admin": True, "picture_url": "https://pictures.example/1.png",
        "name": "Ada", "mfa": True, "phone_number": "+15550100"}
    plain = cloud.whoami()
    equal(plain["user_name"], USER, "the user's name")
    for path in ("/v1/user2", "/v1/user"):
        cloud.tap.change("GET", path, lambda answer: whole)
    found = cloud.whoami()
    # rainctl reports whether a second step is on, and which kind of administrator the user is.
    shown = {
        **whole, "second_step": whole["mfa"], "administrator": "super"}
    del shown["mfa"], shown["super_admin"]
    equal({name: found.get(name) for name in shown}, shown, "the profile")
    shown = scene.rainctl("whoami").output
    for value in (USER, "Ada", "+15550100"):
        contains(shown, value, "what a person reads")
    cloud.tap.unchanged()
    scene.rainctl("account", "update", "--name", "Grace")
    equal(cloud.whoami()["name"], "Grace", "a name that was changed")


@row("C9")
def user_id_in_provisioning(scene):
    for mapping in ("user", "ch-resp"):
        node = f"node-{mapping}"
        with scene.part() as part:
            cloud = RainMaker(part, "--node", node)
            cloud.sign_in()
            who = cloud.whoami()["user_id"]
            expect(who and who != USER, f"the user's id is {who!r}")
            files, ready = cloud.simulator.ready["nodes"][node], cloud.simulator.ready
            board = part.board(
                "--mapping", mapping, "--node-id", node, "--mqtt", ready["mqtt"], "--ca", ready["ca"], "--cert", files["cert"],
                "--key", files["key"])
            done = part.rainctl("provision", *board.options, "--json").json
            equal((done["mapping"], done["node_id"]), ("confirmed", node), "the mapping")
            mapped = cloud.simulator.journal(event="mapping", node=node)
            equal({one["user_id"] for one in mapped}, {who}, "the user to whom the node is mapped")
            nodes = part.rainctl("node", "list", "--json").json["nodes"]
            equal([one["node_id"] for one in nodes], [node], "the user's nodes")


@row("C10")
def super_admin(scene):
    cloud = RainMaker(scene, "--user", "root@example.com:Correct-h0rse", "--super-admin", "root@example.com")
    seen = []
    for user, kind in ((USER, None), ("root@example.com", "super")):
        cloud.sign_in(user=user)
        cloud.tap.forget()
        equal(cloud.whoami().get("administrator"), kind, f"what {user} administers")
        nodes = scene.rainctl("node", "list", "--json")
        update = scene.rainctl("account", "update", "--name", "Somebody", "--json")
        seen.append(([(one.method, one.target) for one in cloud.tap.requests], nodes.json.get("nodes"), update.status))
    equal(seen[1], seen[0], "what a super admin's commands do")
    contains(scene.rainctl("whoami").output, "admin", "what a person reads of a super admin")


@row("C11")
def checked_before_a_call(scene):
    cloud = RainMaker(scene)
    pop, wifi = scene.file("pop.txt", "abcd1234"), scene.file("wifi.txt", "correct horse")
    board = scene.board()
    for words in (
        ["whoami"], ["node", "list"], ["account", "token"], ["account", "update", "--name", "x"],
        ["provision", "--transport", "softap", "--device-host", board.options[3], "--pop-file", pop, "--ssid", "Home",
         "--passphrase-file", wifi],
    ):
        scene.rainctl(*words, "--json", status=77, reason="not_signed_in")
    equal(cloud.tap.requests, [], "what the cloud was asked without a session")
    equal(board.journal(event="request"), [], "what the board was asked without a session")
    cloud.sign_in()
    cloud.simulator.control("revoke", {"user": USER})
    scene.rainctl("whoami", "--json", status=77, reason="expired")
    cloud.tap.forget()
    scene.rainctl("whoami", "--json", status=77, reason="not_signed_in")
    equal(cloud.tap.requests, [], "what the cloud was asked after the session had ended")


@row("C12")
def first_addresses(scene):
    """A deployment with only the calls of document 002."""
    cloud = RainMaker(scene)
    cloud.tap.only(("POST", "/v1/login"), ("GET", "/v1/user"))
    who = cloud.sign_in().json
    equal(who["user_name"], USER, "the user")
    equal(cloud.whoami()["user_id"], who["user_id"], "the user's id")
    served = [(one.method, one.path) for one in cloud.tap.requests if one.status == 200]
    equal(served, [("POST", "/v1/login"), ("GET", "/v1/user"), ("GET", "/v1/user")], "what was served")
    wrong = scene.file("wrong.txt", "Wr0ng-horse")
    cloud.sign_in(password=wrong, status=77, reason="invalid_credentials")
    scene.rainctl("account", "refresh")
    equal(scene.rainctl("logout", "--json").status, 0, "the exit code of logout")
    scene.rainctl("whoami", "--json", status=77, reason="not_signed_in")
