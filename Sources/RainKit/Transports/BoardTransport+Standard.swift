// SPDX-License-Identifier: Apache-2.0
extension [any BoardTransport] {
    /// The ways to boards that need no registration: the serial cable, Bluetooth Low Energy, the board's own access point.
    public static var standard: [any BoardTransport] { [SerialBoards(), BluetoothBoards(), SoftAPBoards()] }
}
