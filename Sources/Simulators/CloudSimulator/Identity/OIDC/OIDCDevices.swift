// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// Devices without a browser whose user signs in on another device (RFC 8628).
struct OIDCDevices: Sendable {
    fileprivate static let lifetime: Int64 = 600
    fileprivate static let interval: Int64 = 5

    fileprivate enum Decision: Sendable, Equatable {
        case none
        case denied
        case allowed(person: Int64)
    }

    fileprivate struct Device: Sendable {
        var client: String
        var scope: String
        /// Without the dash.
        var userCode: String
        var decision = Decision.none
        /// Seconds between two polls. It grows after each poll that came too soon.
        var interval = OIDCDevices.interval
        var polledAt: Int64?
    }

    /// The devices by device code.
    private var devices = ExpiringTable<Device>(maximum: 200)
    private var deviceCodes: [String: String] = [:]
    /// People who have signed in and are asked whether to allow a device, by the form's handle.
    fileprivate var pending = ExpiringTable<Asked>(maximum: 200)

    fileprivate struct Asked: Sendable {
        var code: String
        var person: Int64
    }

    fileprivate mutating func add(_ client: String, _ scope: String, at now: Int64) -> (
        deviceCode: String, userCode: String
    ) {
        let deviceCode = opaqueToken()
        var random = OpenSSLRandom()
        // No vowels, so that the code is not a word (section 6.1).
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

    /// Returns the device code and the device of a typed code, in any case and with any dashes.
    fileprivate func waiting(_ typed: String, at now: Int64) -> (code: String, device: Device)? {
        guard typed.utf8.count <= 64 else { return nil }
        guard let code = deviceCodes[typed.uppercased().filter(\.isLetter)], let device = devices.value(code, at: now),
            device.decision == .none
        else { return nil }
        return (code, device)
    }

    fileprivate mutating func decide(_ code: String, _ decision: Decision) {
        devices.update(code) { $0.decision = decision }
    }

    /// Returns the person who has allowed the device, and the scope.
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

/// The endpoint where a device gets its codes, and the page where its user enters one.
extension OIDCService {
    /// RFC 8628, 3.1 and 3.2.
    mutating func authorizeDevice(_ call: inout IdentityCall) throws(OAuthFailure) -> Response {
        let form = try OAuthParameters(form: call.request)
        let client = try oauth.authenticatedClient(&call, form)
        guard client.grants.contains(Self.deviceGrant) else {
            throw OAuthFailure(.unauthorizedClient, "The client may not use this grant type")
        }
        let scope = try oauth.scope(form["scope"], of: client)
        let (deviceCode, userCode) = devices.add(client.id, scope, at: call.now)
        call.note(.authorize, "shown") { $0.kind = "device" }
        return Response(
            status: 200,
            content: .json([
                "device_code": .string(deviceCode), "user_code": .string(userCode),
                "verification_uri": .string(call.base + "/device"),
                "verification_uri_complete": .string("\(call.base)/device?user_code=\(userCode)"),
                "expires_in": .integer(OIDCDevices.lifetime), "interval": .integer(OIDCDevices.interval),
            ]), headers: OAuthFailure.uncached)
    }

    private static let title = "Sign in a device"

    func showDevicePage(_ call: inout IdentityCall) -> Response {
        page(call, failure: nil)
    }

    private func page(_ call: IdentityCall, failure: String?) -> Response {
        let code = IdentityPage.escaped(call.request.query("user_code") ?? "")
        return IdentityPage.signIn(
            title: Self.title, query: call.request.query,
            extra: "<label>Code <input id=\"user_code\" name=\"user_code\" value=\"\(code)\" required></label>\n",
            failure: failure)
    }

    mutating func submitDevicePage(_ call: inout IdentityCall) -> Response {
        do throws(OAuthFailure) {
            let form = try OAuthParameters(form: call.request)
            if let handle = form["handle"] { return decide(handle, form["action"] == "allow", &call) }
            let typed = devices.waiting(form["user_code"] ?? "", at: call.now)
            if form["action"] == "deny" {
                if let typed { devices.decide(typed.code, .denied) }
                call.note(.authorize, "cancelled") { $0.kind = "device" }
                return IdentityPage.message(status: 200, title: Self.title, "The device was turned away", id: "done")
            }
            let person = try signIn(form["username"] ?? "", form["password"] ?? "")
            call.person = person.email
            guard let typed, let client = oauth.client(typed.device.client) else {
                throw OAuthFailure(.invalidRequest, "No device waits with this code")
            }
            call.client = client.id
            let handle = opaqueToken()
            devices.ask(handle, typed.code, person.id, at: call.now)
            return IdentityPage.consent(
                title: Self.title, person: person.email, application: client.name,
                wants: typed.device.scope.split(separator: " ").map(String.init), query: call.request.query,
                handle: handle)
        } catch {
            call.note(.login, "refused") { $0.reason = error.description }
            return page(call, failure: error.description)
        }
    }

    private mutating func decide(_ handle: String, _ isAllowed: Bool, _ call: inout IdentityCall) -> Response {
        guard let asked = devices.asked(handle, at: call.now) else {
            return IdentityPage.message(status: 400, title: Self.title, "This page is too old; begin again")
        }
        call.person = people[asked.person]?.email
        devices.decide(asked.code, isAllowed ? .allowed(person: asked.person) : .denied)
        call.note(.authorize, isAllowed ? "granted" : "denied") { $0.kind = "device" }
        let words = isAllowed ? "The device is signed in; you can close this page" : "The device was turned away"
        return IdentityPage.message(status: 200, title: Self.title, words, id: "done")
    }
}

extension OIDCDevices {
    /// Stores that a person is asked to allow a device, until the answer.
    fileprivate mutating func ask(_ handle: String, _ code: String, _ person: Int64, at now: Int64) {
        pending.insert(Asked(code: code, person: person), key: handle, until: now + Self.lifetime * 1000, at: now)
    }

    fileprivate mutating func asked(_ handle: String, at now: Int64) -> Asked? { pending.take(handle, at: now) }
}
