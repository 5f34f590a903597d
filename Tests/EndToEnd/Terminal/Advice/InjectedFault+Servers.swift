// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

/// What can be wrong with a server's answers.
extension InjectedFault {
    static let ofServers: [InjectedFault] = [
        status(400, "refused the request"), status(403, "refused the request"), status(404, "refused"),
        status(405, "refused"),
        status(413, "refused"), status(500, "refused"), status(501, "refused"), status(502, "refused"),
        status(504, "refused"),
        InjectedFault("cloud", "a cloud that has moved", "has moved to https://elsewhere.example/", cloud: true) {
            lab in
            try await lab.fails([
                "path": "/v1/*", "action": "status", "status": 301, "location": "https://elsewhere.example/",
            ])
            return try await lab.rainctl("node", "list")
        },
        InjectedFault("cloud", "a change whose answer is cut off", "the change may have been made", cloud: true) {
            lab in
            try await lab.fails([
                "path": "/v1/user/node_group*", "action": "cut", "method": "POST", "processed": true,
            ])
            return try await lab.rainctl("group", "add", "Cellar")
        },
        InjectedFault("cloud", "an id of a board that is a number", "id is a number", cloud: true) { lab in
            try await lab.fails([
                "path": "/v1/user/nodes*", "action": "status", "status": 200,
                "body": ["nodes": ["a"], "node_details": [["id": 5]], "total": 1],
            ])
            return try await lab.rainctl("node", "list")
        },
        InjectedFault(
            "cloud", "a session that the cloud ended, at a command of two requests",
            "no longer accepts its refresh token",
            cloud: true
        ) { lab in
            try await lab.cloud?.control("revoke", ["user": .string(SimulatedCloud.user)])
            return try await lab.rainctl("group", "add", "Cellar")
        },
        command(
            "file", "a list instead of values", "is a list", cloud: true, files: ["values": "[1]"],
            ["node", "params", "set", "node-1", "--file", "{}/values"]),
        InjectedFault("cloud", "a call that the deployment does not have", "does not know this request", cloud: true) {
            lab in
            try await lab.fails([
                "path": "/v1/user/node_automation", "action": "status", "status": 404, "body": ["message": "Not Found"],
            ])
            return try await lab.rainctl("automation", "list")
        },
        InjectedFault("cloud", "a gateway that refuses every token", "401", cloud: true) { lab in
            try await lab.fails(["path": "/v1/*", "action": "status", "status": 401])
            return try await lab.rainctl("node", "list")
        },
        InjectedFault("cloud", "a list of nodes in another service's JSON", "node_details|RainMaker cloud", cloud: true)
        { lab in
            try await lab.fails(["path": "/v1/*", "action": "status", "status": 200, "body": ["hello": "world"]])
            return try await lab.rainctl("node", "list")
        },
        InjectedFault("cloud", "a member of the wrong type", "node_details is a number", cloud: true) { lab in
            try await lab.fails(["path": "/v1/*", "action": "status", "status": 200, "body": ["node_details": 5]])
            return try await lab.rainctl("node", "list")
        },
        InjectedFault("cloud", "a list instead of an object", "not from a RainMaker cloud", cloud: true) { lab in
            try await lab.fails(["path": "/v1/*", "action": "status", "status": 200, "body": [1, 2]])
            return try await lab.rainctl("node", "list")
        },
        InjectedFault("cloud", "JSON that is cut off", "ends inside", cloud: true) { lab in
            try await lab.fails(["path": "/v1/*", "action": "truncate"])
            return try await lab.rainctl("node", "list")
        },
        InjectedFault("cloud", "an answer that is too slow", "did not answer within", known: .silence(1), cloud: true) {
            lab in
            try await lab.fails(["path": "/v1/*", "action": "hang"])
            return try await lab.rainctl("node", "list", "--timeout", "1")
        },
        server("an empty answer", "empty", "200 OK", ""),
        server("an answer without a body", "204", "204 No Content", ""),
        server(
            "a web site", "the base URL may belong to a web site", "200 OK", "<html><title>Dashboard</title></html>"),
        server("plain text", "plain text instead of JSON", "200 OK", "It works!"),
        server("XML", "instead of JSON", "200 OK", "<?xml version='1.0'?><a/>"),
        server("JSON that is nested too deeply", "levels deep", "200 OK", String(repeating: "[", count: 1000)),
        server("an answer without tokens", "refreshtoken", "200 OK", #"{"status":"success"}"#),
        server(
            "a header that never ends", "bytes of headers", "200 OK",
            headers: ["X: " + String(repeating: "a", count: 400_000)], "{}"),
        server(
            "headers that never end", "bytes of headers", "200 OK",
            headers: (0..<400).map { "X-\($0): " + String(repeating: "a", count: 1000) },
            "{}"),
        server(
            "an answer that is too long", "more than", "200 OK", headers: ["Content-Length: 99999999999"],
            nil),
        server(
            "a server in front that asks for its own password (HTTP 401)", "(\"staging\") asks for its own name",
            "401 Unauthorized", headers: ["WWW-Authenticate: Basic realm=staging"], "<html>401</html>"),
        server(
            "a redirect to another page of the same host", "/login on the same host", "302 Found",
            headers: ["Location: /login?x=1"], ""),
        server(
            "a permanent redirect to the first page of the same host", "to / on the same host",
            "301 Moved Permanently", headers: ["Location: /"], "<html>Moved</html>"),
        server(
            "a redirect to another host", "https://sso.company.example/login (HTTP 307)", "307 Temporary Redirect",
            headers: ["Location: https://sso.company.example/login?x=1"], ""),
        server(
            "too many requests, with a time to try again", "received too many requests", "429 Too Many Requests",
            headers: ["Date: Fri, 15 Jan 2027 08:00:00 GMT", "Retry-After: Fri, 15 Jan 2027 08:00:30 GMT"], ""),
        server(
            "too many requests, with a web page", "received too many requests", "429 Too Many Requests",
            "<html><title>error 1015</title></html>"),
        server(
            "HTTP status 403 without a body", "gateway before it, refused the request (HTTP 403)", "403 Forbidden", ""),
        server("a server that requires another protocol", "requires another protocol", "426 Upgrade Required", ""),
        InjectedFault("cloud", "an answer that does not end", "was not complete within", known: .silence(1)) { lab in
            let server = try LoopbackServer { peer in
                guard peer.readRequest() != nil else { return }
                peer.write("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n{")
                peer.waitForClose()
            }
            try await lab.use("http://127.0.0.1:\(server.port)")
            return try await lab.rainctl(
                "login", "me@example.com", "--password-file", lab.folder.file("password"), "--timeout", "1")
        },
        served("a broken chunked encoding", "not proper HTTP") {
            $0.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n")
            $0.waitForClose()
        },
        served("a server that closes the connection", "closed the connection") { _ in },
        served("a server that closes in the middle of its answer", "middle of the answer|closed the connection|broke") {
            $0.write("HTTP/1.1 200 OK\r\nContent-Type: te")
        },
    ]

    private static func status(_ status: Int, _ words: String) -> InjectedFault {
        InjectedFault("cloud", "HTTP status \(status)", "\(status)|" + words, cloud: true) { lab in
            try await lab.fails(["path": "/v1/*", "action": "status", "status": .integer(Int64(status))])
            return try await lab.rainctl("node", "list")
        }
    }

    /// - Parameter body: without one no length is added to the headers.
    private static func server(
        _ name: String, _ words: String, _ status: String, headers: [String] = [], _ body: String?
    ) -> InjectedFault {
        served(name, words) { peer in
            guard let body else {
                peer.write("HTTP/1.1 \(status)\r\n\(headers.joined(separator: "\r\n"))\r\n\r\n")
                return
            }
            peer.respond(status, headers: headers, body)
        }
    }

    private static func served(
        _ name: String, _ words: String, _ answer: @escaping @Sendable (LoopbackPeer) -> Void
    ) -> InjectedFault {
        InjectedFault("cloud", name, words) { lab in
            let server = try LoopbackServer { peer in
                guard peer.readRequest() != nil else { return }
                answer(peer)
            }
            try await lab.use("http://127.0.0.1:\(server.port)")
            return try await lab.rainctl("login", "me@example.com", "--password-file", lab.folder.file("password"))
        }
    }
}
