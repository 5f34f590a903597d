// SPDX-License-Identifier: Apache-2.0

/// Where a client finds the board's console.
enum ConsolePort {
    /// A symbolic link of that path, always the same.
    case link(String)
    case usb(USBDevice)

    /// The link's path for now.
    func plug() throws -> String {
        switch self {
        case .link(let path): path
        case .usb(let device): try device.plug()
        }
    }

    func unplug() {
        if case .usb(let device) = self { device.unplug() }
    }

    /// At the end.
    func remove() {
        if case .usb(let device) = self { device.remove() }
    }
}

extension FirmwareSim {
    func consolePort(of board: Board) throws -> ConsolePort {
        guard let kind = listening.usb, let root = listening.systemRoot else { return .link(listening.console ?? "") }
        let digits = Array(board.identity.macAddress)
        let pairs = stride(from: 0, to: digits.count, by: 2).map { String(digits[$0..<min($0 + 2, digits.count)]) }
        return .usb(try USBDevice(kind, root: root, serialNumber: pairs.joined(separator: ":")))
    }
}
