// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCrypto
import RainCryptoOpenSSL
import RainHTTPCurl
import RainIO
import Synchronization
import Testing

/// OpenSSL's own handler at the end of a process frees what other threads may still use.
@Suite("The end of a process that uses libcurl")
struct ProcessEndTests {
    /// The threads that use OpenSSL.
    private static let busy = Atomic(0)

    @Test("is not a crash while threads use OpenSSL", arguments: 1...3)
    func threads(run: Int) async {
        await #expect(processExitsWith: .success) {
            CurlHTTPClient.prepare()
            for _ in 0..<8 {
                _ = startThread {
                    _ = OpenSSLHashes.sha256([1, 2, 3])
                    ProcessEndTests.busy.add(1, ordering: .relaxed)
                    while true { _ = OpenSSLHashes.sha256([1, 2, 3]) }
                }
            }
            while ProcessEndTests.busy.load(ordering: .relaxed) < 8 { sched_yield() }
            exit(EXIT_SUCCESS)
        }
    }
}
