// SPDX-License-Identifier: Apache-2.0
import CurlLoop
import Glibc
import RainCore
import RainHTTPCurl
import RainKit

/// `calls API USER PASSWORD COUNT PAIRS` signs in at a simulated cloud and sends COUNT authorised calls one after the other: by
/// `AccountSession`, by libcurl alone, in turn, PAIRS times. Prints one JSON document with the seconds of each.
@main
enum Calls {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let count = Int(arguments[4]), let pairs = Int(arguments[5]) else {
            fail("usage: calls API USER PASSWORD COUNT PAIRS\n")
            exit(64)
        }
        let deployment = try Deployment(name: "bench", base: arguments[1])
        let client = CurlHTTPClient()
        let store = InMemoryCredentialStore()
        let session = try AccountSession.rainMaker(deployment, http: client, store: store)
        _ = try await session.signIn(.password(user: arguments[2], password: Secret(arguments[3])))
        let url = deployment.base.text + "/v1/user2"
        guard let token = store.load(try CredentialKey("bench"))?.tokens.access.revealString() else { exit(70) }

        var ours: [Double] = []
        var curl: [Double] = []
        for pair in 0...pairs {
            let mine = try await sessionSeconds(session, url, count)
            let plain = curlSeconds(url, token, count)
            guard plain > 0 else { exit(70) }
            // The first pair warms both up.
            if pair > 0 {
                ours.append(mine)
                curl.append(plain)
            }
        }
        print("{\"session\":\(ours),\"libcurl\":\(curl)}")
    }

    static func sessionSeconds(_ session: AccountSession, _ url: String, _ count: Int) async throws -> Double {
        let began = ContinuousClock.now
        for _ in 0..<count {
            let response = try await session.send(HTTPRequest(method: .get, url: url))
            guard response.status == 200 else { exit(70) }
        }
        return (ContinuousClock.now - began) / .seconds(1)
    }

    static func curlSeconds(_ url: String, _ token: String, _ count: Int) -> Double {
        let header = strdup("Authorization: \(token)")
        defer { free(header) }
        var lines: [UnsafePointer<CChar>?] = [UnsafePointer(header)]
        return curl_loop(url, &lines, 1, Int32(count))
    }
}

private func fail(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
