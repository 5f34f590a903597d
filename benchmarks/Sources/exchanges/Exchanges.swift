// SPDX-License-Identifier: Apache-2.0
import Glibc
import ProtocommCore
import ProtocommTransports
import RainHTTPCurl

/// `exchanges HOST PORT COUNT` prints the milliseconds of each of COUNT exchanges on `proto-ver`, one a line: from the request until the
/// whole answer is there.
@main
enum Exchanges {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let port = Int(arguments[2]), let count = Int(arguments[3]) else { exit(64) }
        let transport = SoftAPTransport(http: CurlHTTPClient(), host: arguments[1], port: port)
        let ask = Array("---".utf8)
        // The first one warms libcurl up, and brings the cookie.
        _ = try await transport.exchange(ask, on: .version)
        for _ in 0..<count {
            let began = ContinuousClock.now
            let answer = try await transport.exchange(ask, on: .version)
            let taken = ContinuousClock.now - began
            guard answer.count > 20 else { exit(70) }
            print(taken / .milliseconds(1))
        }
        await transport.close()
    }
}
