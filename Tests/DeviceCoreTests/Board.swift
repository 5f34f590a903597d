// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainCrypto
import RainCryptoOpenSSL
import TestSupport

/// A key that signs nothing anyone would believe, but the same each time.
struct HashSigner: NodeCredential {
    func sign(_ message: [UInt8]) throws(SignatureFailure) -> [UInt8] { OpenSSLHashes.sha256(message) }

    func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8] {
        Array("request\n\(String(repeating: "=", count: 250))\nfor ".utf8) + nodeID + [0x0A]
    }

    func accepts(certificate: [UInt8], for nodeID: [UInt8]) -> Bool {
        certificate == Array("certificate for ".utf8) + nodeID
    }
}

typealias Core = DeviceCore<DeviceSecurity<OpenSSLCrypto, ReproducibleRandom>, HashSigner>

/// A board in clear (Security 0), and the requests of a client as calls.
struct Board {
    var core: Core
    var now: UInt64 = 1000
    var session: UInt32 = 1

    init(
        _ configuration: DeviceConfiguration = DeviceConfiguration(nodeID: Array("node1".utf8), security: .security0),
        radio: SimulatedRadio = SimulatedRadio(accessPoints: neighbourhood), signer: HashSigner? = HashSigner()
    ) {
        core = Core(
            configuration: configuration, radio: radio, security: .security0(Security0Device()), signer: signer)
    }

    init(_ options: ProvisioningOptions, radio: SimulatedRadio = SimulatedRadio(accessPoints: neighbourhood)) {
        self.init(
            DeviceConfiguration(nodeID: Array("node1".utf8), security: .security0, provisioning: options), radio: radio)
    }

    mutating func send(_ request: [UInt8], _ endpoint: Endpoint) -> DeviceAnswer {
        core.respond(to: request, on: endpoint, session: session, now: now)
    }

    mutating func config(_ payload: NetworkConfigPayload.Payload) throws -> NetworkConfigPayload.Payload? {
        let answer = send(NetworkConfigPayload(payload).encoded(), .config)
        guard case .reply(let reply) = answer else { throw Refused() }
        return try NetworkConfigPayload(decoding: reply).payload
    }

    mutating func status() throws -> WiFiStatusResponse {
        guard case .responseGetWiFiStatus(let status)? = try config(.commandGetWiFiStatus) else { throw Refused() }
        return status
    }

    mutating func set(_ ssid: String, _ passphrase: String = "", bssid: [UInt8] = []) throws -> Status {
        let command = SetWiFiConfigCommand(ssid: Array(ssid.utf8), passphrase: Array(passphrase.utf8), bssid: bssid)
        guard case .responseSetWiFiConfig(let response)? = try config(.commandSetWiFiConfig(command)) else {
            throw Refused()
        }
        return response.status
    }

    mutating func apply() throws -> Status {
        guard case .responseApplyWiFiConfig(let response)? = try config(.commandApplyWiFiConfig) else {
            throw Refused()
        }
        return response.status
    }

    mutating func join(_ ssid: String, _ passphrase: String = "") throws -> Status {
        _ = try set(ssid, passphrase)
        return try apply()
    }

    mutating func control(_ payload: NetworkControlPayload.Payload) throws -> Status {
        guard case .reply(let reply) = send(NetworkControlPayload(payload).encoded(), .control) else { throw Refused() }
        return try NetworkControlPayload(decoding: reply).status
    }

    mutating func startScan(blocking: Bool = false, group: UInt32 = 0) -> DeviceAnswer {
        let command = ScanWiFiStartCommand(isBlocking: blocking, groupChannels: group, periodMilliseconds: 120)
        return send(NetworkScanPayload(.commandScanWiFiStart(command)).encoded(), .scan)
    }

    mutating func scanStatus() throws -> ScanStatusResponse {
        guard case .reply(let reply) = send(NetworkScanPayload(.commandScanWiFiStatus).encoded(), .scan),
            case .responseScanWiFiStatus(let status)? = try NetworkScanPayload(decoding: reply).payload
        else { throw Refused() }
        return status
    }

    mutating func scanResults(from start: UInt32, count: UInt32) throws -> [WiFiScanResult] {
        let command = ScanResultCommand(startIndex: start, count: count)
        guard case .reply(let reply) = send(NetworkScanPayload(.commandScanWiFiResult(command)).encoded(), .scan),
            case .responseScanWiFiResult(let results)? = try NetworkScanPayload(decoding: reply).payload
        else { throw Refused() }
        return results.entries
    }

    /// Lets time pass as a shell would: stopping wherever something is due.
    mutating func wait(_ milliseconds: UInt64) {
        let end = now + milliseconds
        while let due = core.nextDue, due <= end { core.advance(to: due) }
        now = end
        core.advance(to: now)
    }
}

struct Refused: Error {}

/// What the board of the published vectors heard: six networks, the strongest of them in each vector.
let neighbourhood: [SimulatedAccessPoint] = [
    SimulatedAccessPoint(
        ssid: Array("HomeNet".utf8), bssid: hex("021122334455"), channel: 6, rssi: -42, authentication: .wpa2PSK,
        passphrase: Array("correct horse".utf8)),
    SimulatedAccessPoint(
        ssid: Array("Cafe".utf8), bssid: hex("021122334456"), channel: 1, rssi: -50, authentication: .open),
    SimulatedAccessPoint(
        ssid: Array("Office".utf8), bssid: hex("021122004457"), channel: 11, rssi: -60, authentication: .wpa3PSK,
        passphrase: Array("only for work".utf8)),
    SimulatedAccessPoint(
        ssid: Array("Cellar".utf8), bssid: hex("021122334458"), channel: 13, rssi: -70,
        authentication: WiFiAuthentication(rawValue: 16), passphrase: Array("potatoes!".utf8)),
    SimulatedAccessPoint(
        ssid: Array("Hidden".utf8), bssid: hex("021122334459"), channel: 2, rssi: -75,
        passphrase: Array("whispers".utf8),
        isHidden: true),
    SimulatedAccessPoint(
        ssid: [0xFF, 0xFE, 0x41], bssid: hex("02112233445a"), channel: 3, rssi: -80,
        passphrase: Array("bytes only".utf8)),
]
