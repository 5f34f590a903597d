// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport

/// A board's HTTP server with its quirks. Status line, headers and body are sent separately, and a cookie identifies the session. A
/// failing handler closes without an answer; otherwise only errors close the connection.
final class QuirkyBoard: Sendable {
    enum Cookies { case on, off }
    typealias Reply = @Sendable ([UInt8]) -> TransportReply
    enum TransportReply: Sendable {
        case answer([UInt8])
        case refuse, reset, silence
        case raw(String)
    }

    private struct State {
        var session: String?
        var created = 0
    }

    private final class Conversation: Sendable {
        let state = Mutex(State())
    }

    let server: LoopbackServer

    init(cookies: Cookies = .on, reply: @escaping Reply) throws {
        let conversation = Conversation()
        server = try LoopbackServer { peer in
            while let request = peer.readRequest() {
                // A cookie that is not the session's opens a new session.
                let cookie: String? = conversation.state.withLock { state in
                    guard cookies == .on, request.header("Cookie") != state.session || state.session == nil else {
                        return nil
                    }
                    state.created += 1
                    state.session = "session=\(1000 + state.created)"
                    return state.session
                }
                let isVersion = request.requestLine == "POST /proto-ver HTTP/1.1"
                guard isVersion || request.requestLine == "POST /prov-config HTTP/1.1" else {
                    peer.write("HTTP/1.1 404 Not Found\r\n")
                    peer.write(
                        "Content-Type: text/html\r\nContent-Length: 34\r\n\r\nNothing matches the given URI\r\n\r\n\r\n"
                    )
                    return
                }
                switch isVersion ? .answer(Array("{}".utf8)) : reply(request.body) {
                case .answer(let body):
                    peer.write("HTTP/1.1 200 OK\r\n")
                    peer.write("Content-Type: text/html\r\n")
                    peer.write("Content-Length: \(body.count)\r\n")
                    if let cookie { peer.write("Set-Cookie: \(cookie)\r\n") }
                    peer.write("\r\n")
                    peer.write(body)
                case .refuse: return
                case .reset:
                    peer.reset()
                    return
                case .silence:
                    peer.waitForClose()
                    return
                case .raw(let text):
                    peer.write(text)
                    return
                }
            }
        }
    }
}
