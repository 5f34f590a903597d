// SPDX-License-Identifier: Apache-2.0
import Protocomm
import Testing

@testable import ESPProvisioning

@Suite("Improv's errors")
struct ImprovFailureTests {
    static let errors: [(ImprovFailure, String)] = [
        (.malformedCommand, "could not read the Wi-Fi settings"), (.unknownCommand, "does not know the command"),
        (.unableToConnect, "could not join the network"), (.notAuthorized, "press its button"),
        (.badHostname, "refused its host name"), (.unknown, "did not report why"),
    ]

    @Test("are explained in plain words, with advice", arguments: errors)
    func words(failure: ImprovFailure, words: String) throws {
        let error = try #require(failure.error)
        #expect(error.message.contains(words) && !error.message.contains("(\(failure))"), "\(error.message)")
        #expect(error.code == (failure == .unableToConnect ? .wifiAuthenticationFailed : .rejected))
    }

    @Test("the end of an error is not reported as one")
    func end() { #expect(ImprovFailure.none.error == nil) }
}
