// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainCrypto

private typealias ProbeDevice = DeviceCore<DeviceSecurity<ProbeSuite, ReproducibleRandom>, ProbeSigner>

/// The whole board with concrete types: a request, a step of time, and its life in the cloud.
public func probeDevice(
    _ request: [UInt8], configuration: DeviceConfiguration, radio: SimulatedRadio
) -> [DeviceEvent] {
    var device = ProbeDevice(
        configuration: configuration, radio: radio, security: .security0(Security0Device()), signer: ProbeSigner())
    _ = device.respond(to: request, on: .session, session: 1, now: 0)
    _ = device.respond(to: request, on: .config, session: 1, now: 1)
    _ = device.respond(to: request, on: .claim, session: 1, now: 1)
    _ = device.delayedAnswer(now: 2)
    device.advance(to: device.nextDue ?? 3)
    device.startUserMapping(userID: request, secretKey: request)
    _ = device.provision(WiFiCredentials(ssid: request, passphrase: request), now: 4)
    device.connectedToCloud()
    return device.takeEvents()
}

struct ProbeSigner: NodeCredential {
    func sign(_ message: [UInt8]) throws(SignatureFailure) -> [UInt8] { message }
    func certificateRequest(for nodeID: [UInt8]) throws(SignatureFailure) -> [UInt8] { nodeID }
    func accepts(certificate: [UInt8], for nodeID: [UInt8]) -> Bool { certificate.count == nodeID.count }
}
