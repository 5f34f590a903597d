// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import RainMaker
import Testing

@Suite("Signing in on another device, step by step")
struct DeviceSignInTests {
    private static let members =
        #""grants":{"deviceCode":{}},"endpoints":{"token":"{base}/token","device":"{base}/device"}"#

    private func bench(_ hooks: any ProviderExtension = NoExtension()) throws -> ProviderBench {
        try ProviderBench(Self.members, extension: hooks)
    }

    private static let codes =
        #"{"device_code":"d-1","user_code":"ABCD","verification_uri":"https://x/d","expires_in":60,"interval":5}"#

    /// Plays the answers and moves the clock by the client's waits. Returns how long the client waited each time.
    private func run(
        _ answers: [(status: Int, body: String)], _ hooks: any ProviderExtension = NoExtension()
    ) async throws -> (outcome: Result<SignInCredentials, AccountError>, waits: [Duration]) {
        let bench = try bench(hooks)
        bench.http.expect(.post, "/device", Self.codes)
        for answer in answers { bench.http.expect(.post, "/token", status: answer.status, answer.body) }
        let clock = ManualClock()
        let authorization = try await bench.provider.beginDeviceSignIn()
        let provider = bench.provider
        let task = Task { () -> Result<SignInCredentials, AccountError> in
            do throws(AccountError) {
                return .success(try await provider.awaitDeviceSignIn(authorization, by: clock))
            } catch {
                return .failure(error)
            }
        }
        var waits: [Duration] = []
        for _ in answers {
            await clock.waitForSleepers()
            let wait = try #require(clock.nextDeadline).offset - clock.now.offset
            waits.append(wait)
            clock.advance(by: wait)
        }
        let outcome = await task.value
        try bench.http.finish()
        return (outcome, waits)
    }

    private func error(_ name: String) -> (Int, String) { (400, #"{"error":"\#(name)"}"#) }

    @Test("after pending and slow_down the client asks again at the server's pace")
    func patience() async throws {
        let (outcome, waits) = try await run([
            error("authorization_pending"), error("slow_down"), error("authorization_pending"),
            (200, #"{"access_token":"a"}"#),
        ])
        guard case .tokens(let response, _, _) = try outcome.get() else {
            Issue.record("no tokens")
            return
        }
        #expect(response.accessToken == Secret("a"))
        #expect(waits == [.seconds(5), .seconds(5), .seconds(10), .seconds(10)])
    }

    @Test(
        "each end of the wait has its own cause",
        arguments: [
            ("access_denied", "access_denied"), ("expired_token", "code_expired"), ("invalid_client", "client_refused"),
        ])
    func ends(error name: String, reason: String) async throws {
        let (outcome, _) = try await run([error(name)])
        guard case .failure(let error) = outcome else {
            Issue.record("signed in")
            return
        }
        #expect(error.code.description == reason)
    }

    /// Has SPiD's names, in which this one is about a session.
    private struct OtherNames: ProviderExtension {
        func failure(of response: HTTPResponse, _ json: JSONValue?, _ provider: ConfiguredProvider) -> AccountError? {
            guard json?["error"]?.string == "expired_token" else { return nil }
            var error = AccountError(.expired, message: "the session has ended", status: response.status)
            error.serverCause = "expired_token"
            return error
        }
    }

    @Test("an expired code of a device is not taken for an ended session, whatever the provider calls it")
    func expired() async throws {
        let (outcome, _) = try await run([error("expired_token")], OtherNames())
        guard case .failure(let error) = outcome else {
            Issue.record("signed in")
            return
        }
        #expect(error.code == .codeExpired && !error.message.contains("session"), "\(error)")
    }

    @Test("a fault of the server makes the questions less frequent and ends nothing")
    func faults() async throws {
        let (outcome, waits) = try await run([(503, "busy"), (200, #"{"access_token":"a"}"#)])
        #expect((try? outcome.get()) != nil)
        #expect(waits == [.seconds(5), .seconds(10)])
    }

    @Test("after the codes have expired the client stops asking")
    func late() async throws {
        let (outcome, waits) = try await run(Array(repeating: error("authorization_pending"), count: 11))
        guard case .failure(let error) = outcome else {
            Issue.record("signed in")
            return
        }
        #expect(error.code == .codeExpired)
        #expect(waits.count == 11)
    }
}
