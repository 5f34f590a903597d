// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("Rules for udev, judged by udevadm")
struct UdevadmTests {
    private static let path = Repository.path("packaging/udev/60-rainkit.rules")

    /// Debian 12's udevadm cannot: `verify` is there since systemd 254.
    private static let canVerify: Bool = {
        guard let text = try? readFile("/usr/share/bash-completion/completions/udevadm") else { return false }
        return text.contains("verify")
    }()

    @Test("are taken by udevadm verify", .enabled(if: canVerify))
    func verified() async throws {
        let finished = try await run("udevadm", ["verify", "--resolve-names=never", Self.path])
        #expect(finished.status == .exited(0), "\(finished.standardOutput)\(finished.standardError)")
    }
}
