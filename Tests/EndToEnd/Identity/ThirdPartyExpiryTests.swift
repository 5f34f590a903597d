// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("When a third party's token ends")
struct ThirdPartyExpiryTests {
    @Test("the end of Facebook's token can be given, and SPiD refuses one that is over")
    func options() async throws {
        try await withTemporaryFolder { folder in
            let simulated = try await SimulatedIdentity.start("spid", in: folder)
            for (name, text) in [("client", "app-1-secret"), ("sign", "s1gn"), ("token", "fbtok")] {
                folder.writePrivately(Array(text.utf8), to: name)
            }
            let maker = try Maker(folder)
            let login = [
                "login", "--provider", "spid", "--base-url", try simulated.url("spid"), "--client-id", "app-1",
                "--client-secret-file", folder.file("client"), "--secret-file", "signSecret=\(folder.file("sign"))",
                "--third-party", "facebook", "--third-party-token-file", folder.file("token"), "--app-id", "app1",
                "--store", "file", "--json", "--third-party-expires",
            ]
            for good in ["600", "60m", "2090-01-01T00:00:00Z", "2090-01-01 00:00:00Z"] {
                let outcome = try await maker.rainctl(login + [good])
                #expect(
                    outcome.status == 0 && outcome.document?["user_id"] == "1001", "\(good): \(outcome.standardOutput)")
            }
            let over = try await maker.rainctl(login + ["2001-01-01T00:00:00Z"])
            #expect(over.status == 77, "\(over.standardOutput)")
            for bad in ["soon", "-1", "2090-13-01T00:00:00Z"] {
                #expect(try await maker.rainctl(login + [bad]).status == 64, "\(bad)")
            }
            #expect(try await maker.rainctl("login", "--provider", "spid", "--third-party-expires", "60").status == 64)
        }
    }
}
