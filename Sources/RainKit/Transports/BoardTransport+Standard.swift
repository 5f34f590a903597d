// SPDX-License-Identifier: Apache-2.0
import RainIO

extension [any BoardTransport] {
    /// The ways to boards that need no registration: the serial cable, Bluetooth Low Energy, the board's own access point; and, where it is
    /// named, the network that a board has joined already.
    public static var standard: [any BoardTransport] { standard(in: SystemFiles()) }

    /// The same with the serial ports of another place than this system's own.
    public static func standard(in files: SystemFiles) -> [any BoardTransport] {
        [SerialBoards(in: files), BluetoothBoards(), SoftAPBoards(), OnNetworkBoards()]
    }
}
