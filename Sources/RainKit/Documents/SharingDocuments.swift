// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainMaker

// The documents of sharing: the users of boards and groups, and requests to share them.

/// The users of boards or groups.
package struct SharingListResult: Encodable, Sendable {
    package let shared: [Entry]
    @TextOnly package private(set) var names: ShownNames
    @TextOnly package private(set) var noun: String

    package struct Entry: Encodable, Sendable {
        package let id: String
        package let primaryUsers: [String]
        package let secondaryUsers: [String]
    }

    /// - Parameters:
    ///   - names: the names of the boards or groups, for a terminal.
    ///   - noun: `board` or `group`.
    package init(_ all: [Sharing], names: ShownNames = ShownNames(), noun: String = "board") {
        self.names = names
        self.noun = noun
        shared = all.map { Entry(id: $0.id, primaryUsers: $0.primaryUsers, secondaryUsers: $0.secondaryUsers) }
    }
}

/// Sharing requests that wait for an answer or were declined.
package struct SharingRequestsResult: Encodable, Sendable {
    package let requests: [Entry]
    @TextOnly package private(set) var areSent: Bool
    @TextOnly package private(set) var names: ShownNames
    @TextOnly package private(set) var noun: String

    package struct Entry: Encodable, Sendable {
        package let requestID: String
        package let status: String
        package let ids: [String]
        package let userName: String?
        package let ownerName: String?
        package let requestedAt: String?
        package let transfer: Bool?
        package let groupNames: [String]?
        package let metadata: JSONValue?
        @TextOnly package private(set) var deviceNames: [String]
    }

    /// - Parameters:
    ///   - names: the names of the boards or groups, for a terminal.
    ///   - noun: `board` or `group`.
    package init(
        _ all: [SharingRequest], areSent: Bool, names: ShownNames = ShownNames(), noun: String = "board"
    ) {
        self.names = names
        self.noun = noun
        self.areSent = areSent
        requests = all.map {
            Entry(
                requestID: $0.id, status: $0.status, ids: $0.subjects, userName: $0.userName, ownerName: $0.ownerName,
                requestedAt: $0.requestedAt.map { Timestamp.text($0) }, transfer: $0.isTransfer ? true : nil,
                groupNames: $0.groupNames.isEmpty ? nil : $0.groupNames, metadata: $0.metadata,
                deviceNames: $0.deviceNames)
        }
    }
}
