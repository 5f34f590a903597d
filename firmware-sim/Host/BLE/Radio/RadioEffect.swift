// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// A method call to the radio, as it came over the bus.
struct RadioCall: Sendable, Equatable {
    /// By which the bus finds the call again when it is answered.
    var id: UInt64
    /// The caller's name on the bus.
    var sender: String
    var path: String
    /// D-Bus lets a caller leave it out.
    var interface: String?
    var member: String
    var arguments: [DBusValue] = []

    var signature: String { arguments.map(\.signature).joined() }
}

/// What is to be done after the radio has changed, in this order.
enum RadioEffect: Sendable, Equatable {
    case reply(RadioCall, [DBusValue] = [])
    case error(RadioCall, BlueZError)
    case signal(path: String, interface: String, member: String, [DBusValue])
    /// A link to that board is up: its GATT server opens a session.
    case linkUp(board: Int)
    case linkDown(board: Int, reason: String)
    /// To be answered with ``SimulatedBlueZ/wrote(_:outcome:now:)``.
    case write(board: Int, characteristic: Int, value: [UInt8])
    /// To be answered with ``SimulatedBlueZ/didRead(_:result:now:)``.
    case read(board: Int, characteristic: Int, offset: Int)
    /// An agent is asked whether a device may be paired, to be answered with ``SimulatedBlueZ/agentAnswered(_:attempt:agrees:now:)``.
    case ask(agent: String, path: String, device: String, board: Int, attempt: UInt64)
    /// The board starts anew, without what it had in memory only. Its link has ended.
    case restart(board: Int)
    /// Something for the journal that no client sees as such.
    case fault(board: Int, String)
}
