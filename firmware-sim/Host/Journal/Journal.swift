// SPDX-License-Identifier: Apache-2.0
import RainCore
import DeviceCore
import Glibc
import ProtocommCore
import RainJSON

/// The record of events, one JSON object a line, which tests count and check. No secret is ever written.
///
/// Each line has `t` (milliseconds since the start) and `event`. `request`: `transport`, `endpoint`, `bytes` (as they arrived), `outcome`
/// (`reply`, `refused`, or `lost` with the board). `state`: `change` and its members. `publish`: `topic` and `bytes`, once the broker has
/// acknowledged it. `ready` and `end` are the first and the last.
///
/// `wire`, on a console with a given speed, when the board has sent all its output: the bytes `received` and `sent` by then, and how long
/// either direction was in use, `busy_ms`.
///
/// Over BLE there may be many boards; then `board` names the board of a line. `fault`: `what` the radio did to it.
final class Journal {
    private let descriptor: Int32?
    private let label: [JSONValue.Member]

    init(path: String?) throws {
        label = []
        guard let path else {
            descriptor = nil
            return
        }
        let opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard opened >= 0 else { throw StartError("\(path) cannot be written: \(systemErrorText(errno))") }
        descriptor = opened
    }

    private init(descriptor: Int32?, label: [JSONValue.Member]) {
        self.descriptor = descriptor
        self.label = label
    }

    /// Returns the same journal, in which each line names a board.
    func about(board name: String) -> Journal {
        Journal(descriptor: descriptor, label: [.init("board", .string(name))])
    }

    func request(transport: String, endpoint: Endpoint, length: Int, outcome: String) {
        write(
            "request",
            [
                .init("transport", .string(transport)), .init("endpoint", .string(endpoint.description)),
                .init("bytes", .integer(Int64(length))), .init("outcome", .string(outcome)),
            ])
    }

    func state(_ change: String, _ members: [JSONValue.Member] = []) {
        write("state", [.init("change", .string(change))] + members)
    }

    func publish(topic: String, length: Int) {
        write("publish", [.init("topic", .string(topic)), .init("bytes", .integer(Int64(length)))])
    }

    func write(_ event: String, _ members: [JSONValue.Member] = []) {
        guard let descriptor else { return }
        let head: [JSONValue.Member] = [
            .init("t", .integer(Int64(MonotonicClock.now))), .init("event", .string(event)),
        ]
        // One write for each line, so that a reader never sees half of a line.
        let line = JSONValue.object(head + label + members).serialized() + [0x0A]
        _ = line.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }
}

extension Journal {
    func record(_ event: DeviceEvent) {
        switch event {
        case .sessionOpened: state("session_opened")
        case .sessionEstablished: state("session_established")
        case .wrongProof(let count): state("wrong_proof", [.init("count", .integer(Int64(count)))])
        case .scanStarted: state("scan_started")
        case .scanFinished(let count): state("scan_finished", [.init("count", .integer(Int64(count)))])
        case .credentialsReceived(let ssid): state("credentials_received", [name(ssid)])
        case .attemptFailed(let reason, let remaining):
            state(
                "attempt_failed",
                [
                    .init("reason", .integer(Int64(reason.rawValue))),
                    .init("remaining", .integer(Int64(remaining))),
                ])
        case .joinFailed(let reason, let failure):
            state(
                "join_failed",
                [
                    .init("reason", .integer(Int64(reason.rawValue))),
                    .init("failure", .string(failure == .networkNotFound ? "not_found" : "auth")),
                ])
        case .disconnected(let reason): state("disconnected", [.init("reason", .integer(Int64(reason.rawValue)))])
        case .resetAfterFailure: state("reset_after_failure")
        case .joined(let ssid, _): state("joined", [name(ssid)])
        case .customDataReceived(let data): state("custom_data", [.init("bytes", .integer(Int64(data.count)))])
        // The application's reaction has an entry of its own.
        case .parametersReceived: break
        case .userMappingReceived: state("user_mapping_received")
        case .challengeSigned: state("challenge_signed")
        case .claimStarted: state("claim_started")
        case .certificateRequested: state("certificate_requested")
        case .claimed(let node): state("claimed", [.init("node_id", .string(String(decoding: node, as: UTF8.self)))])
        case .claimAborted: state("claim_aborted")
        case .claimRefused(let status): state("claim_refused", [.init("status", .integer(Int64(status.rawValue)))])
        case .claimOver: state("claim_over")
        case .rebooted: state("rebooted")
        case .onNetworkStarted: state("on_network_started")
        case .onNetworkProofRefused: state("on_network_proof_refused")
        case .onNetworkDisabled: state("on_network_disabled")
        case .onNetworkStopped: state("on_network_stopped")
        case .localControlStarted: state("local_control_started")
        case .serviceStopping: state("service_stopping")
        case .serviceStopped: state("service_stopped")
        }
    }

    private func name(_ ssid: [UInt8]) -> JSONValue.Member {
        .init("ssid", .string(String(decoding: ssid, as: UTF8.self)))
    }
}
