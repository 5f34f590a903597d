// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainJSON

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
        // What the application does with them is told by itself.
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
