// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// A node's properties on its own network (ESP-IDF's `esp_local_ctrl`), over a board whose session is open: ``Board/secure()`` goes before.
///
/// A RainMaker node has two, both JSON: `config`, which can only be read, and `params` (esp-rainmaker's `esp_rmaker_local_ctrl.c`). Every call throws
/// ``ProvisioningError``; `malformed` for answers that make no sense, `rejected` for values that the node does not take.
public struct LocalControl: Sendable {
    /// A property and its value.
    public struct Property: Sendable, Equatable {
        /// Its place at the node, from 0.
        public var index: UInt32
        /// Such as `params`.
        public var name: String
        /// Whether it can only be read.
        public var isReadOnly: Bool
        /// In the form that its application has chosen.
        public var value: [UInt8]
    }

    /// `max_properties` of RainMaker nodes is 10; others have some more.
    static let maximumProperties: UInt32 = 64

    private let board: any Board

    public init(_ board: any Board) { self.board = board }

    /// All properties, as they are now.
    public func properties() async throws(ProvisioningError) -> [Property] {
        guard case .responseGetPropertyCount(let counted)? = try await ask(.commandGetPropertyCount) else {
            throw malformed("the number of its properties")
        }
        guard counted.status == .success, (1...Self.maximumProperties).contains(counted.count) else {
            throw malformed("the number of its properties")
        }
        let indices = Array(0..<counted.count)
        let reply = try await ask(.commandGetPropertyValues(GetPropertyValuesCommand(indices)))
        guard case .responseGetPropertyValues(let values)? = reply, values.status == .success,
            values.properties.count == indices.count
        else { throw malformed("its properties") }
        return zip(indices, values.properties).map { index, property in
            Property(
                index: index, name: String(decoding: property.name, as: UTF8.self),
                isReadOnly: property.flags & Self.readOnlyFlag != 0, value: property.value)
        }
    }

    /// The property of that name. Throws `unsupported` where the node has none.
    public func property(_ name: String) async throws(ProvisioningError) -> Property {
        guard let found = try await properties().first(where: { $0.name == name }) else {
            throw ProvisioningError(
                .unsupported, message: "\(board.peer) has no \(name): it is no RainMaker node, or an older one.")
        }
        return found
    }

    /// Gives a property another value. The node has taken it when this returns; what it makes of it is read anew.
    public func set(_ property: Property, to value: [UInt8]) async throws(ProvisioningError) {
        let reply = try await ask(
            .commandSetPropertyValues(SetPropertyValuesCommand([PropertyValue(index: property.index, value: value)])))
        guard case .responseSetPropertyValues(let response)? = reply else {
            throw malformed("whether it took the values")
        }
        guard response.status == .success else {
            throw ProvisioningError(
                .rejected, message: "\(board.peer) does not take these values of \(property.name).",
                cause: "status \(response.status.rawValue)")
        }
    }

    /// Bit 0 of a property's flags, as RainMaker nodes and ESP-IDF's example have it.
    private static let readOnlyFlag: UInt32 = 1

    private func ask(
        _ payload: LocalControlMessage.Payload
    ) async throws(ProvisioningError) -> LocalControlMessage.Payload? {
        let bytes = try await board.send(LocalControlMessage(payload).encoded(), to: Self.endpoint)
        do throws(WireError) {
            return try LocalControlMessage(decoding: bytes).payload
        } catch {
            throw malformed("a message of local control")
        }
    }

    private static let endpoint = String(decoding: Endpoint.localControl.name, as: UTF8.self)

    private func malformed(_ what: String) -> ProvisioningError {
        ProvisioningError(.malformed, message: "\(board.peer) did not answer with \(what).")
    }
}
