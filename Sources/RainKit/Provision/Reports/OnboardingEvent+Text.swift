// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning

extension OnboardingEvent: CustomStringConvertible {
    /// For logs and examples: the step and what became of it, such as `connect: finished`. Never holds a secret.
    public var description: String {
        switch state {
        case .started: "\(step.rawValue): started"
        case .finished: "\(step.rawValue): finished"
        case .deferred(let why): "\(step.rawValue): deferred (\(why))"
        case .failed(let error): "\(step.rawValue): failed (\(error.message))"
        case .progress(let progress): "\(step.rawValue): \(progress.word)"
        }
    }
}

extension OnboardingProgress {
    fileprivate var word: String {
        switch self {
        case .identified: "the board is identified"
        case .heard(let networks): "\(networks.count) networks in reach"
        case .claimInitiated(let node): "may be claimed as \(node)"
        case .certificateRequested: "a certificate is requested"
        case .claimed(let node): "claimed as \(node)"
        case .customData(let endpoint, let answer): "\(endpoint) answered with \(answer.count) bytes"
        case .wifi: "joining"
        case .connected(let network): "on \(network.ssid) as \(network.address)"
        case .resumed(let node): "the mapping of \(node) is finished"
        case .abandoned(let node, let why): "the mapping of \(node) is given up (\(why))"
        case .associationLeftOpen(let why): "the board may still be put into other accounts (\(why))"
        case .waitingForBoard: "waiting for the board"
        case .waitingForCloud: "waiting for the cloud"
        case .waitingForNode: "waiting for the cloud to see the node"
        }
    }
}

extension OnboardedNode: CustomStringConvertible {
    /// For logs and examples, such as `node n1, mapping confirmed, on Home as 192.168.1.17`.
    public var description: String {
        let place = network.map { ", on \($0.ssid) as \($0.address)" } ?? ""
        return "node \(nodeID.map { "\($0)" } ?? "unknown"), mapping \(mapping.rawValue)\(place)"
    }
}
