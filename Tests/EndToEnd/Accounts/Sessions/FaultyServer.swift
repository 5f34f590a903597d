// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainKit
import TestSupport
import Testing

/// A server that does one thing wrong, for as long as a test holds it.
struct FaultyServer {
    enum Certificate: Sendable { case good, unknownAuthority, expired, otherHost }
    enum Behaviour: Sendable {
        case refuse, hang, reset, cut, noName
        case answer(HTTPResponse)
        case tls(Certificate)
        /// Is addressed by https, and does this with each connection.
        case raw(@Sendable (LoopbackPeer) -> Void)
        /// Is the proxy on the way to a cloud; nil for one that is not there.
        case proxy((@Sendable (LoopbackPeer) -> Void)?)
        /// Is the SOCKS proxy on the way to a cloud.
        case socks(@Sendable (LoopbackPeer) -> Void)
    }

    /// The deployment's base URL.
    let base: String
    var authorities: String?
    var proxy: String?
    let server: LoopbackServer?
    private let process: ChildProcess?

    static func start(_ behaviour: Behaviour, in folder: TemporaryFolder) async throws -> FaultyServer {
        switch behaviour {
        case .refuse: return FaultyServer(base: "http://127.0.0.1:\(try LoopbackServer.refusedPort())")
        // RFC 6761, 6.4: never a name of anything.
        case .noName: return FaultyServer(base: "https://rainkit.invalid")
        case .tls(let certificate): return try await start(certificate, in: folder)
        case .raw(let serve):
            let server = try LoopbackServer(serve)
            return FaultyServer(base: "https://127.0.0.1:\(server.port)", server: server)
        case .proxy(let serve):
            let server = try serve.map { try LoopbackServer($0) }
            let port = try server?.port ?? LoopbackServer.refusedPort()
            var faulty = FaultyServer(base: "https://cloud.example", server: server)
            faulty.proxy = "http://127.0.0.1:\(port)"
            return faulty
        case .socks(let serve):
            let server = try LoopbackServer(serve)
            var faulty = FaultyServer(base: "https://cloud.example", server: server)
            faulty.proxy = "socks5h://127.0.0.1:\(server.port)"
            return faulty
        case .hang: return FaultyServer(try LoopbackServer { $0.waitForClose() })
        case .reset: return FaultyServer(try half { $0.reset() })
        case .cut: return FaultyServer(try half { $0.close() })
        case .answer(let response): return FaultyServer(try LoopbackServer { try? answer($0) { _ in response } })
        }
    }

    /// What a command needs to meet it.
    var environment: [String: String] {
        var environment: [String: String] = [:]
        if let authorities { environment["RAINKIT_CA_FILE"] = authorities }
        if let proxy { environment["https_proxy"] = proxy }
        return environment
    }

    /// One whose every answer is made from the request.
    static func start(answering: @escaping @Sendable (LoopbackRequest) -> HTTPResponse) throws -> FaultyServer {
        FaultyServer(try LoopbackServer { try? answer($0, answering) })
    }

    private init(_ server: LoopbackServer) {
        self.init(base: "http://127.0.0.1:\(server.port)", server: server)
    }

    private init(
        base: String, authorities: String? = nil, server: LoopbackServer? = nil, process: ChildProcess? = nil
    ) {
        self.base = base
        self.authorities = authorities
        self.server = server
        self.process = process
    }

    private static func answer(_ peer: LoopbackPeer, _ response: (LoopbackRequest) -> HTTPResponse) throws {
        while let request = peer.readRequest() {
            let response = response(request)
            peer.respond(
                "\(response.status) Status", headers: response.headers.map { "\($0.name): \($0.value)" },
                String(decoding: response.body, as: UTF8.self))
        }
    }

    /// Answers with half of a body, and then calls this closure.
    private static func half(_ end: @escaping @Sendable (LoopbackPeer) -> Void) throws -> LoopbackServer {
        try LoopbackServer { peer in
            guard peer.readRequest() != nil else { return }
            peer.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{\"status\":")
            end(peer)
        }
    }

    // MARK: TLS by Python

    private static func start(_ kind: Certificate, in folder: TemporaryFolder) async throws -> FaultyServer {
        try await ServerCertificate(
            names: kind == .otherHost ? "DNS:other.example" : "IP:127.0.0.1", days: kind == .expired ? -1 : 2
        ).issue(in: folder)
        let process = try await ChildProcess.start(
            "python3", ["-c", Self.secureServer, folder.file("server.pem"), folder.file("server.key")])
        let port = try await process.readyLine()
        return FaultyServer(
            base: "https://127.0.0.1:\(port)", authorities: kind == .unknownAuthority ? nil : folder.file("ca.pem"),
            process: process)
    }

    /// Answers everything with a page.
    private static let secureServer = """
        import http.server, ssl, sys
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                page = b"<html><body>Welcome</body></html>"
                self.send_response(200)
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)
        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_port, flush=True)
        server.serve_forever()
        """
}
