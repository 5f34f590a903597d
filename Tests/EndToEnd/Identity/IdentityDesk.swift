// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import Glibc
import RainHTTP
import RainHTTPCurl
import RainKit
import RainJSON
import RainKitTesting
import Synchronization
import TestSupport
import RainCore

/// One provider's session against its simulator, a separate process, with two clocks that a test moves together.
struct IdentityDesk {
    let simulator: SimulatedIdentity
    let base: String
    let http = CountingHTTPClient(CurlHTTPClient())
    let clock: ManualWallClock
    let store = InMemoryCredentialStore()
    let key: CredentialKey
    private let began: Double
    private let advanced = Elapsed()

    init(_ id: String, in folder: TemporaryFolder) async throws {
        simulator = try await SimulatedIdentity.start(id, in: folder)
        base = try simulator.url(id)
        began = SystemWallClock().now.seconds
        clock = ManualWallClock(seconds: began)
        key = try CredentialKey("sim")
    }

    var tools: ProviderTools { tools(challenges: nil) }

    func tools(challenges: (any ChallengeResolver)?) -> ProviderTools {
        RainKitTools().providerTools(http: http, clock: clock, challenges: challenges)
    }

    func provider(
        _ id: String, _ settings: ProviderSettings, challenges: (any ChallengeResolver)? = nil
    ) throws -> ConfiguredProvider {
        var settings = settings
        settings.base = settings.base ?? base
        return try ProviderRegistry.builtIn.provider(id, settings: settings, tools: tools(challenges: challenges))
    }

    func session(_ provider: ConfiguredProvider, store: (any CredentialStore)? = nil) -> AccountSession {
        AccountSession(provider: provider, http: http, store: store ?? self.store, key: key, clock: clock)
    }

    // MARK: What only the simulator has

    /// Moves both clocks on. The simulator's goes on by itself, too, by what the test takes.
    func advance(seconds: Double) async throws {
        clock.advance(seconds: seconds)
        try await control("clock", ["offset": .integer(Int64(advanced.add(seconds)))])
    }

    /// Moves the simulator's clock only: ours is wrong from then on.
    func advanceServer(seconds: Double) async throws {
        try await control("clock", ["offset": .integer(Int64(advanced.add(seconds)))])
    }

    @discardableResult
    func control(_ what: String, _ body: JSONValue) async throws -> HTTPResponse {
        let response = try await http.send(
            HTTPRequest(
                method: .post, url: base + "/_sim/" + what, headers: [HTTPHeader("Content-Type", "application/json")],
                body: body.serialized()))
        guard response.status == 200 else {
            throw ProcessError("\(what): HTTP \(response.status) \(String(decoding: response.body, as: UTF8.self))")
        }
        return response
    }
}

/// Seconds that a test has let pass.
private final class Elapsed: Sendable {
    private let value = Mutex(0.0)
    func add(_ seconds: Double) -> Double {
        value.withLock { value in
            value += seconds
            return value
        }
    }
}

/// A real client that remembers which paths were asked for, and waits as long for an answer as a busy machine may need.
final class CountingHTTPClient: HTTPClient {
    private let http: any HTTPClient
    private let sent = Mutex<[HTTPRequest]>([])

    init(_ http: any HTTPClient) { self.http = http }

    var requests: [HTTPRequest] { sent.withLock { $0 } }

    func count(_ path: String, _ method: HTTPRequest.Method? = nil) -> Int {
        requests.count { $0.url.contains(path) && (method == nil || $0.method == method) }
    }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        sent.withLock { $0.append(request) }
        var patient = request
        patient.deadline = max(request.deadline, .waitLimit)
        return try await http.send(patient)
    }
}
