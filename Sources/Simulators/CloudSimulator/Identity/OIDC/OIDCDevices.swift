// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// Devices without a browser that wait until their user has signed in elsewhere (RFC 8628).
struct OIDCDevices: Sendable {
    static let lifetime: Int64 = 600
    static let interval: Int64 = 5

    enum Decision: Sendable, Equatable {
        case none
        case denied
        case allowed(person: Int64)
    }

    struct Device: Sendable {
        var client: String
        var scope: String
        /// Without the dash.
        var userCode: String
        var decision = Decision.none
        /// Seconds between two polls; more after each one that came too soon.
        var interval = OIDCDevices.interval
        var polledAt: Int64?
    }

    /// By device code.
    private var devices = ExpiringTable<Device>(maximum: 200)
    private var deviceCodes: [String: String] = [:]
    /// People who have signed in and are asked to allow a device, by the form's handle.
    var pending = ExpiringTable<Asked>(maximum: 200)

    struct Asked: Sendable {
        var code: String
        var person: Int64
    }

    mutating func add(_ client: String, _ scope: String, at now: Int64) -> (deviceCode: String, userCode: String) {
        let deviceCode = opaqueToken()
        var random = OpenSSLRandom()
        // No vowels, so that no word comes of it (6.1 there).
        let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
        let userCode = String(decoding: random.bytes(8).map { alphabet[Int($0) % alphabet.count] }, as: UTF8.self)
        devices.insert(
            Device(client: client, scope: scope, userCode: userCode), key: deviceCode,
            until: now + Self.lifetime * 1000,
            at: now)
        deviceCodes = deviceCodes.filter { devices.end(of: $0.value) != nil }
        deviceCodes[userCode] = deviceCode
        return (deviceCode, "\(userCode.prefix(4))-\(userCode.suffix(4))")
    }

    /// The device code and the device of what a person typed, whatever case and dashes it has.
    func waiting(_ typed: String, at now: Int64) -> (code: String, device: Device)? {
        guard typed.utf8.count <= 64 else { return nil }
        guard let code = deviceCodes[typed.uppercased().filter(\.isLetter)], let device = devices.value(code, at: now),
            device.decision == .none
        else { return nil }
        return (code, device)
    }

    mutating func decide(_ code: String, _ decision: Decision) { devices.update(code) { $0.decision = decision } }

    /// The person who has allowed it, and the scope.
    mutating func poll(
        _ code: String, _ client: String, at now: Int64
    ) throws(OAuthFailure) -> (person: Int64, scope: String) {
        let device: Device
        switch devices.find(code, at: now) {
        case .good(let found): device = found
        case .expired: throw OAuthFailure(.expiredToken, "The device code has expired")
        case .unknown: throw OAuthFailure(.invalidGrant, "The device code is not known")
        }
        guard device.client == client else { throw OAuthFailure(.invalidGrant, "The device code is another client's") }
        switch device.decision {
        case .denied:
            devices.remove(code)
            throw OAuthFailure(.accessDenied, "The user denied access")
        case .allowed(let person):
            devices.remove(code)
            return (person, device.scope)
        case .none:
            // Half a second for clocks and scheduling.
            let isEarly = device.polledAt.map { now - $0 < device.interval * 1000 - 500 } ?? false
            devices.update(code) {
                $0.polledAt = now
                if isEarly { $0.interval += 5 }
            }
            guard !isEarly else { throw OAuthFailure(.slowDown, "Polled too soon; five seconds more from now on") }
            throw OAuthFailure(.authorizationPending, "The user has not decided yet")
        }
    }
}
