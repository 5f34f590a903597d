// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import ProtocommTransports

extension BoardFilter {
    /// A name, or an address where it looks like one.
    static func named(_ text: String) -> BoardFilter {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let isAddress = parts.count == 6 && parts.allSatisfy { $0.utf8.count == 2 && UInt8($0, radix: 16) != nil }
        return isAddress ? .address(text) : .name(text)
    }
}

extension BoardSearch {
    var filter: BoardFilter {
        if let name { return .named(name) }
        if prefix != nil || !services.isEmpty { return .prefix(prefix ?? "", services: services) }
        return .anyBoard
    }
}

extension FoundBoard {
    init(_ board: DiscoveredBoard, adapter: String?) {
        self.init(
            .bluetooth(board.address, adapter: adapter), name: board.name, signal: board.rssi,
            services: board.serviceUUIDs, isConnected: board.isConnected)
    }
}

extension ProvisioningError {
    /// What BlueZ, or the link through it, said.
    init(_ error: BluetoothError) {
        let code: Code =
            switch error.code {
            case .linkLost, .timeout: .deviceLost
            case .cancelled: .cancelled
            case .refused, .notAllowed, .tooLong, .pairingFailed: .rejected
            default: .unavailable
            }
        self.init(code, message: error.message, reason: error.code.name)
    }
}
