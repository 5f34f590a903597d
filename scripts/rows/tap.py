# SPDX-License-Identifier: Apache-2.0
"""A server that forwards all requests, records them, and may change an answer."""
import http.client
import http.server
import json
import threading
import urllib.parse


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        self.path, _, query = target.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.status, self.answer = None, ""

    @property
    def authorization(self):
        return self.headers.get("Authorization", "")

    @property
    def form(self):
        return dict(urllib.parse.parse_qsl(self.body, keep_blank_values=True))

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def result(self):
        return json.loads(self.answer)

    def __repr__(self):
        return f"{self.method} {self.path} {self.status}"


class Tap:
    def __init__(self, upstream):
        self.upstream = upstream
        self.requests = []
        self._changes = []
        self._only = None
        tap = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do(self):
                tap._pass_on(self)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, request, client_address):
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def change(self, method, path, change):
        """Lets `change` edit the JSON document of each answer."""
        self._changes.append((method, path, change))

    def unchanged(self):
        self._changes = []

    def only(self, *served):
        """Answers all requests except these (method, path) with 404, like a server without them."""
        self._only = served

    def sent(self, path, method=None):
        """Returns the requests whose path has this end."""
        return [one for one in self.requests if one.path.endswith(path) and method in (None, one.method)]

    def forget(self):
        self.requests = []

    def _pass_on(self, handler):
        length = int(handler.headers.get("Content-Length") or 0)
        body = handler.rfile.read(length)
        request = Request(handler.command, handler.path, handler.headers, body.decode(errors="replace"))
        self.requests.append(request)
        if self._only is not None and (request.method, request.path) not in self._only:
            status, headers, answer = 404, [("Content-Type", "application/json")], b'{"message":"Not Found"}'
        else:
            host = self.upstream.split("//")[1]
            connection = http.client.HTTPConnection(host, timeout=300)
            sent = {name: value for name, value in handler.headers.items() if name.lower() not in ("connection", "host")}
            connection.request(handler.command, handler.path, body, sent)
            response = connection.getresponse()
            answer = response.read()
            status = response.status
            hidden = ("content-length", "transfer-encoding", "connection")
            headers = [
                (name, value.replace(self.upstream, self.url)) for name, value in response.getheaders()
                if name.lower() not in hidden]
            connection.close()
        answer = answer.replace(self.upstream.encode(), self.url.encode())
        for method, path, change in self._changes:
            if method == request.method and request.path.endswith(path) and status == 200:
                document = json.loads(answer)
                answer = json.dumps(change(document) or document).encode()
        request.status, request.answer = status, answer.decode(errors="replace")
        handler.send_response_only(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(answer)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(answer)
