// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What a person reads about each step.
enum StepText {
    /// While the step runs.
    static func running(_ step: OnboardingStep, on peer: String) -> String {
        switch step {
        case .account: "Checking the account"
        case .resume: "Looking for unfinished mappings"
        case .challenge: "Fetching a challenge from the cloud"
        case .identify: "Asking \(peer) what it is"
        case .secure: "Opening a secure session"
        case .claim: "Having the board claimed"
        case .reset: "Making the board forget its last Wi-Fi"
        case .scan: "Asking the board which networks it hears"
        case .associate: "Tying the board to your account"
        case .verify: "Having the cloud verify the board"
        case .customData: "Sending the board's application its data"
        case .join: "Handing over the Wi-Fi settings"
        case .connect: "Waiting for the board to join"
        case .confirm: "Waiting for the cloud to confirm"
        }
    }

    /// Once the step is done; nil for no line.
    static func finished(_ step: OnboardingStep, _ facts: OnboardingFacts, on peer: String) -> String? {
        switch step {
        case .account: "signed in"
        case .resume: nil
        case .challenge: "challenge fetched"
        // Without an identity, an earlier run had finished with the board already, which has its own line.
        case .identify: facts.identity.map { "found: \(describe($0, at: peer))" }
        case .secure: facts.identity?.security.map { "secured: Security \($0.version)" } ?? "no session needed"
        case .claim: facts.nodeID.map { "claimed: node \($0)" } ?? "claimed"
        case .reset: "earlier Wi-Fi forgotten"
        // Said as soon as it is known.
        case .scan: nil
        case .associate: facts.nodeID.map { "associated: node \($0)" } ?? "associated"
        case .verify: "verified by the cloud"
        case .customData: nil
        case .join: "Wi-Fi settings accepted"
        case .connect: facts.network.map { "connected: \(describe($0))" } ?? "connected, as far as the board can tell"
        case .confirm: "mapping: confirmed"
        }
    }

    static func heard(_ count: Int) -> String { "heard \(count) \(count == 1 ? "network" : "networks")" }

    /// Where a signal ended the run.
    static func cancelled(_ step: OnboardingStep) -> String {
        let doing = running(step, on: "the board")
        return "Cancelled while \(doing.prefix(1).lowercased())\(doing.dropFirst())."
    }

    /// During a step; nil for no line.
    static func progress(_ progress: OnboardingProgress) -> String? {
        switch progress {
        case .identified, .heard, .connected, .wifi(.connecting): nil
        case .claimInitiated, .certificateRequested, .claimed: nil
        case .customData(let endpoint, let answer):
            "\(endpoint) answered: \(SendResult(endpoint, answered: answer).text)"
        case .wifi(.occupied): "the board is still trying a network that it was given before; it gets this one next"
        case .wifi(.attemptFailed(let remaining)): "the board's attempt failed; it has \(remaining) left"
        case .wifi(.unreachable): "the board cannot be reached for the moment"
        case .resumed(let node): "finished the mapping of node \(node)"
        case .abandoned(let node, let why): "gave up the mapping of node \(node): \(why)"
        case .associationLeftOpen(let why): "the board goes on answering challenges on its network: \(why)"
        case .waitingForBoard: "the board is not there yet; join its network PROV_… if it has one"
        case .waitingForCloud: "the cloud cannot be reached for the moment"
        case .waitingForNode: "the board is silent; asking the cloud whether it is on its network"
        }
    }

    /// With the port, address or name that it was found at, which nobody may have given.
    private static func describe(_ identity: BoardIdentity, at peer: String) -> String {
        var parts = [peer.onOneLine]
        if !identity.version.isEmpty { parts.append(identity.version.onOneLine) }
        if let security = identity.security { parts.append("Security \(security.version)") }
        if let node = identity.nodeID { parts.append("node \(node)") }
        if identity.isOnNetwork { parts.append("on its network already: its Wi-Fi is left as it is") }
        return parts.joined(separator: ", ")
    }

    private static func describe(_ network: JoinedNetwork) -> String {
        network.address.isEmpty ? "\(network.ssid)" : "\(network.ssid) as \(network.address)"
    }
}

/// What the events of a run have said so far.
struct OnboardingFacts: Sendable {
    var identity: BoardIdentity?
    var network: JoinedNetwork?
    var nodeID: NodeID?

    mutating func take(_ event: OnboardingEvent) {
        if let node = event.nodeID { nodeID = node }
        guard case .progress(let progress) = event.state else { return }
        switch progress {
        case .identified(let identity): self.identity = identity
        case .connected(let network): self.network = network
        default: break
        }
    }
}
