// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainMaker

/// Whether there is an update for a board.
package struct UpdateOfferResult: Encodable, Sendable {
    package let nodeID: String
    package let available: Bool
    package let jobID: String?
    package let version: String?
    package let currentVersion: String?
    package let size: Int?
    package let md5: String?
    package let description: String?
    /// Such as `18:00 to 19:15`.
    package let downloadWindow: String?
    package let validFrom: String?
    package let validUntil: String?
    package let metadata: JSONValue?
    /// What a board shows that asks for approval itself.
    package let boardInfo: JSONValue?
    /// The board's name.
    @TextOnly package private(set) var name: String

    package init(_ offer: UpdateOffer, for node: Node) {
        let (job, window) = (offer.job, offer.job?.window)
        name = node.shownName
        nodeID = node.id.rawValue
        available = job != nil
        jobID = job?.id
        version = job?.version
        currentVersion = node.firmwareVersion
        size = job?.size
        md5 = job?.md5
        description = offer.description
        downloadWindow = window?.timesOfDay
        validFrom = window?.validFrom.map { Timestamp.text($0) }
        validUntil = window?.validUntil.map { Timestamp.text($0) }
        metadata = job?.metadata
        boardInfo = BoardApproval(of: node)?.shown(by: node)
    }
}

/// An update of the dashboard that was started, or its state.
package struct UpdateJobResult: Encodable, Sendable {
    package let nodeID: String
    package let jobID: String
    /// `sent`, or the state that the cloud has.
    package let state: String
    package let info: String?
    package let time: String?
    package let version: String?
    /// The board's name.
    @TextOnly package private(set) var name: String

    /// - Parameter report: nil if the cloud has no state of it yet.
    package init(_ job: UpdateJob, at node: Node, _ report: UpdateJobReport?) {
        name = node.shownName
        nodeID = node.id.rawValue
        jobID = job.id
        state = report?.state ?? "sent"
        info = report?.info
        time = report?.time.map { Timestamp.text($0) }
        version = job.version
    }
}
