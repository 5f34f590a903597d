#!/usr/bin/env python3
"""Opens a sign-in page in headless Chromium, signs in as a person would, and prints the address it ends at.

usage: browser.py URL ANSWER USER PASSWORD [FIELD=TEXT…]
Speaks WebDriver to chromedriver by the standard library alone. The page must load nothing from elsewhere: every request that
Chromium makes to another host fails, and what fails is printed.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

url, answer, user, password, *more = sys.argv[1:]
home = tempfile.mkdtemp()
driver = subprocess.Popen(
    ["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True, env={**os.environ, "HOME": home})
for line in driver.stdout:
    if "started successfully on port " in line:
        root = "http://127.0.0.1:" + line.split()[-1].rstrip(".")
        break


def call(path, body=None, method="POST"):
    data = None if method in ("GET", "DELETE") else json.dumps(body or {}).encode()
    request = urllib.request.Request(root + path, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as reply:
        return json.load(reply)["value"]


session = None
try:
    session = "/session/" + call("/session", {"capabilities": {"alwaysMatch": {
        "pageLoadStrategy": "normal", "goog:loggingPrefs": {"browser": "ALL"}, "goog:chromeOptions": {"binary": "/usr/bin/chromium", "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
            "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--user-data-dir={home}/data"]}}}})["sessionId"]

    def find(selector):
        found = call(session + "/elements", {"using": "css selector", "value": selector})
        return next(iter(found[0].values())) if found else None

    def click(selector):
        """Clicks, and waits until the page is another."""
        old = find("html")
        call(f"{session}/element/{find(selector)}/click")
        end = time.monotonic() + 15
        while find("html") == old and time.monotonic() < end:
            time.sleep(0.02)

    call(session + "/url", {"url": url})
    if find("#password"):
        call(f"{session}/element/{find('#username')}/value", {"text": user})
        call(f"{session}/element/{find('#password')}/value", {"text": password})
        for field in more:
            name, _, text = field.partition("=")
            call(f"{session}/element/{find(name)}/value", {"text": text})
        click("#allow")
    if find("#application"):
        click("#" + answer)
    print(call(session + "/url", method="GET"))
    print(json.dumps([entry["message"] for entry in call(session + "/se/log", {"type": "browser"})
                      if "favicon" not in entry["message"]]), file=sys.stderr)
finally:
    if session:
        call(session, method="DELETE")
    driver.terminate()
    driver.wait()
