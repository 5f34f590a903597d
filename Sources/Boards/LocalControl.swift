// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore

/// A node's properties on its own network (ESP-IDF's `esp_local_ctrl`), for a board with an open session: call ``Board/secure()`` first.
///
/// A RainMaker node has two, both JSON: the read-only `config`, and `params` (esp-rainmaker's `esp_rmaker_local_ctrl.c`). Every call throws
/// `BoardError`: `malformed` for answers that make no sense, `rejected` for values that the node does not accept.
public struct LocalControl: Sendable {
    /// A property and its value.
    public struct Property: Sendable, Equatable {
        /// Its index at the node, from 0.
        public var index: UInt32
        /// Its name, such as `params`.
        public var name: String
        /// Whether it is read-only.
        public var isReadOnly: Bool
        /// Its value, in the application's own format.
        public var value: [UInt8]
    }

    /// `max_properties` of RainMaker nodes is 10; others have a few more.
    static let maximumProperties: UInt32 = 64

    private let board: any Board

    public init(_ board: any Board) { self.board = board }

    /// Returns all properties with their current values.
    public func properties() async throws(BoardError) -> [Property] {
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

    /// Returns the property with that name. Throws `unsupported` if the node has none.
    public func property(_ name: String) async throws(BoardError) -> Property {
        guard let found = try await properties().first(where: { $0.name == name }) else {
            throw BoardError(
                .unsupported,
                message:
                    "\(board.peer) has no property \(name). It may not be a RainMaker node, or its firmware may be too old."
            )
        }
        return found
    }

    /// Sets a property's value. The node has accepted it when this returns; read the property again for the resulting value.
    public func set(_ property: Property, to value: [UInt8]) async throws(BoardError) {
        let reply = try await ask(
            .commandSetPropertyValues(SetPropertyValuesCommand([PropertyValue(index: property.index, value: value)])))
        guard case .responseSetPropertyValues(let response)? = reply else {
            throw malformed("a confirmation of the values")
        }
        guard response.status == .success else {
            throw BoardError(
                .rejected, message: "\(board.peer) does not accept these values of \(property.name).",
                cause: "status \(response.status.rawValue)")
        }
    }

    /// Bit 0 of a property's flags, as in RainMaker nodes and ESP-IDF's example.
    private static let readOnlyFlag: UInt32 = 1

    private func ask(
        _ payload: LocalControlMessage.Payload
    ) async throws(BoardError) -> LocalControlMessage.Payload? {
        let bytes = try await board.send(LocalControlMessage(payload).encoded(), to: Self.endpoint)
        do throws(WireError) {
            return try LocalControlMessage(decoding: bytes).payload
        } catch {
            throw malformed("a local control message")
        }
    }

    private static let endpoint = String(decoding: Endpoint.localControl.name, as: UTF8.self)

    private func malformed(_ what: String) -> BoardError {
        BoardError(.malformed, message: "\(board.peer) did not answer with \(what).")
    }
}
