// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import TestSupport
import Testing

@testable import IdentityProviders
@testable import RainAccount
@testable import RainMaker

@Suite("A redirect with a custom scheme")
struct CustomSchemeTests {
    private let redirect = "com.example.rainkit:/callback"

    private func deliver(_ url: String, _ folder: String) -> Result<CallbackHandOver.Outcome, AccountError> {
        do throws(AccountError) {
            return .success(try CallbackHandOver.deliver(Secret(url), folder: folder))
        } catch {
            return .failure(error)
        }
    }

    @Test(
        "other users' processes are not listened to, and the handler hands nothing over to other users",
        .enabled(if: geteuid() == 0, "only root can become somebody else"))
    func foreigners() async throws {
        try await withTemporaryFolder { temporary in
            // Open to everybody, so that the kernel's word about the peer is all that protects.
            #expect(chmod(temporary.path, 0o777) == 0)
            let path = temporary.file("callback-com.example.rainkit.sock")
            let attempt = AuthorizationAttempt(
                {
                    var request = AuthorizationRequest(endpoint: "https://a.example", clientID: "c")
                    request.state = State("right-state")
                    return request
                }())
            let matcher = RedirectMatcher(attempt, at: RedirectTarget(redirectURI: try RedirectURI(redirect)))
            let socket = try CallbackSocket(path: path)
            defer { socket.close() }
            #expect(chmod(path, 0o777) == 0)
            let serving = Task { try await socket.serve(matcher) }
            let script = """
                import socket
                peer = socket.socket(socket.AF_UNIX)
                peer.connect("\(path)")
                try:
                    peer.sendall(b"\(redirect)?code=foreign&state=right-state\\n")
                    print("heard:", peer.recv(64))
                except OSError:
                    print("heard:", b"")
                """
            let foreign = try await run(
                "setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script])
            #expect(foreign.standardOutput == "heard: b''\n", "\(foreign.standardError)")
            #expect(matcher.answer == nil)
            #expect(try deliver(redirect + "?code=own&state=right-state", temporary.path).get() == .taken)
            try await serving.value
            #expect(matcher.answer?.outcome == .code(Secret("own")))

            let trap = """
                import os, socket
                server = socket.socket(socket.AF_UNIX)
                server.bind("\(temporary.file("callback-com.example.trap.sock"))")
                os.chmod("\(temporary.file("callback-com.example.trap.sock"))", 0o777)
                server.listen()
                print("ready", flush=True)
                peer, _ = server.accept()
                print("heard:", peer.recv(4096), flush=True)
                """
            try await withChildProcess(
                "setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", trap]
            ) { server in
                _ = try await server.readyLine()
                #expect(deliver("com.example.trap:/cb?code=planted", temporary.path).failure?.code == .cannotListen)
                #expect(try await server.line() == "heard: b''")
            }
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
