// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainCore
import RainIO

/// A board that an earlier run has sent to a network, and that takes no other as long as it tries.
extension ProtocommBoard {
    /// Makes a board that refused its settings ready for them.
    ///
    /// Firmware grants a reset the moment an attempt has failed, and refuses it in the middle of one and on a network; its status alone
    /// would not do, as it is the same before the first attempt, during one, and in a retry without end. Silence is what it is in
    /// ``watch(report:)``: the access point follows the channel of the network that is being tried.
    ///
    /// - Returns: where the board is, if the earlier attempt brought it to the network that is asked for; nil once it takes settings.
    func makeReady(
        for network: WiFiNetwork, report: @Sendable (WiFiProgress) async -> Void
    ) async throws(ProvisioningError) -> JoinedNetwork? {
        var schedule = PollSchedule.boardStatus
        let began = time.elapsed()
        var silentSince: Duration?
        var hasReported = false
        while true {
            try await pause(schedule.next())
            let asked = time.elapsed()
            var found: Occupation?
            do {
                let left = patience - (asked - (silentSince ?? asked))
                found = try await occupation(within: left, isSilent: silentSince != nil)
            } catch {
                guard error.mayPassAfterJoining else { throw error }
                if error.isLeaving { throw .leftWhileOccupied(peer, error) }
                let since = silentSince ?? asked
                silentSince = since
                guard time.elapsed() - since < patience else { throw .leftWhileOccupied(peer, error) }
            }
            switch found {
            case .ready?: return nil
            case .there(let place)?:
                try place.verify(isOn: network)
                return place
            case .trying?: silentSince = nil
            case nil: break
            }
            // A board that is ending its service refuses the same, and is gone by then.
            guard !hasReported, silentSince == nil, time.elapsed() - began > timeBeforeEnd else { continue }
            await report(.occupied)
            hasReported = true
        }
    }

    /// How long firmware goes on serving once it has scheduled the end of its service (`cleanup_delay`).
    private var timeBeforeEnd: Duration { .milliseconds(1200) }

    private enum Occupation {
        case ready, trying
        case there(JoinedNetwork)
    }

    private func occupation(within limit: Duration, isSilent: Bool) async throws(ProvisioningError) -> Occupation {
        let result = await withDeadline(limit, sleep: time.sleep) { () async throws(ProvisioningError) in
            if isSilent { try await self.secureAgain() }
            return try await self.occupation()
        }
        guard let result else { throw .silent(peer, for: limit) }
        return try result.get()
    }

    private func occupation() async throws(ProvisioningError) -> Occupation {
        var refusal: ProvisioningError?
        do {
            if try await resetStatus() == .success { return .ready }
        } catch {
            guard error.code == .unsupported else { throw error }
            refusal = error
        }
        let status = try await wifiStatus()
        switch (status.state, status.detail) {
        case (.connected, .connected(let connection)?): return .there(JoinedNetwork(connection))
        case (.connected, _): return .there(JoinedNetwork(address: "", ssid: SSID([])))
        case (.connectionFailed, _):
            if let refusal { throw refusal }
            // Firmware that has reset itself refuses to be reset, before network_provisioning 1.2.1, and takes settings.
            return .ready
        default: return .trying
        }
    }
}

extension ProvisioningError {
    /// Neither of the two can be told from the other: the status is the same, and both refuse an Apply and a reset.
    fileprivate static func leftWhileOccupied(_ peer: String, _ error: ProvisioningError) -> ProvisioningError {
        var lost = ProvisioningError(
            .mayBeJoining,
            message:
                "The board at \(peer) ended its provisioning service and did not take these Wi-Fi settings: it has joined a network that it "
                + "was given before, or has refused five proofs of possession. Look for it in your account; if it is not there, "
                + "restart it and run this again.", cause: error.cause ?? error.message)
        lost.isLeaving = true
        return lost
    }
}
