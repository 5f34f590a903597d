# SPDX-License-Identifier: Apache-2.0
"""A person with a browser: fills in the plain forms of the simulated sign-in pages, and keeps cookies."""
import html.parser
import http.client
import http.cookies
import urllib.parse

from rows.failure import Failed


class Page(html.parser.HTMLParser):
    """The form of a page, and its links by id."""

    def __init__(self, text):
        super().__init__()
        self.text, self.action, self.fields, self.user, self.password, self.links = text, None, {}, None, None, {}
        self.has_form = self.is_failure = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.is_failure = self.is_failure or found.get("id") == "failure"
        if tag == "form":
            self.has_form, self.action = True, found.get("action")
        elif tag == "input":
            if found.get("type") == "hidden":
                self.fields[found["name"]] = found.get("value", "")
            elif found.get("id") == "username":
                self.user = found["name"]
            elif found.get("type") == "password":
                self.password = found["name"]
        elif tag == "a" and found.get("href"):
            self.links[found.get("id") or found["href"]] = found["href"]


class Answer:
    def __init__(self, url, status, headers, text):
        self.url, self.status, self.headers, self.text = url, status, headers, text

    @property
    def location(self):
        return self.headers.get("Location")


class Browser:
    def __init__(self):
        self.cookies = {}
        self.forms = []
        self.visited = []

    def request(self, url, form=None, headers=None):
        """Sends one request; redirects are not followed."""
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=300)
        jar = self.cookies.setdefault(parts.netloc, {})
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in jar.items())} if jar else {}
        body = None
        if form is not None:
            body = form if isinstance(form, str) else urllib.parse.urlencode(form)
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST" if body is not None else "GET", target, body, sent | (headers or {}))
        response = connection.getresponse()
        text = response.read().decode(errors="replace")
        for name, value in response.getheaders():
            if name.lower() == "set-cookie":
                for cookie in http.cookies.SimpleCookie(value).values():
                    if cookie["max-age"] == "0":
                        jar.pop(cookie.key, None)
                    else:
                        jar[cookie.key] = cookie.value
        connection.close()
        self.visited.append(url)
        return Answer(url, response.status, response.headers, text)

    def sign_in(self, url, user="ada@example.com", password="correct-horse", deny=False, remember=False, register=False):
        """Follows pages and redirects until a redirect to an application, and returns its address."""
        wanted = ["register"] if register else []
        own = urllib.parse.urlsplit(url).netloc
        answer = self.request(url)
        for _ in range(12):
            if target := answer.location:
                target = urllib.parse.urljoin(answer.url, target)
                if urllib.parse.urlsplit(target).netloc != own:
                    return target
                answer = self.request(target)
                continue
            page = Page(answer.text)
            # A person without an account follows the page's link; the link that confirms the address comes by mail.
            if link := next((page.links[name] for name in (*wanted, "confirm") if name in page.links), None):
                wanted = []
                answer = self.request(urllib.parse.urljoin(answer.url, link))
                continue
            if page.is_failure or not page.has_form:
                raise Failed(f"the page is HTTP {answer.status}: {answer.text[:300]}")
            # A person denies on the consent page, after signing in.
            form = page.fields | {"action": "deny" if deny and not page.password else "allow"}
            if page.user:
                form[page.user] = user
            if page.password:
                form[page.password] = password
                if remember:
                    form["remember"] = "1"
            self.forms.append(form)
            answer = self.request(urllib.parse.urljoin(answer.url, page.action or ""), form)
        raise Failed(f"the pages lead in a circle at {answer.url}")

    def come_back(self, address):
        """Opens the address at the application, which listens on this machine. A page's script passes on a fragment."""
        address, _, fragment = address.partition("#")
        answer = self.request(address)
        if fragment:
            parts = urllib.parse.urlsplit(address)
            answer = self.request(
                f"{parts.scheme}://{parts.netloc}{parts.path}", fragment,
                {"Origin": f"{parts.scheme}://{parts.netloc}"})
        return answer
