// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// Which of this machine's Bluetooth adapters plays the board.
enum AdapterChoice: Equatable, Sendable, CustomStringConvertible {
    /// `hci0`: the kernel's name, which may belong to another adapter after the next start of the machine.
    case name(String)
    /// Its address, in capitals.
    case address(String)

    var description: String {
        switch self {
        case .name(let text), .address(let text): text
        }
    }
}

extension AdapterChoice: ExpressibleByArgument {
    init?(argument: String) {
        if argument.hasPrefix("hci"), argument.utf8.count <= 8, let number = Int(argument.dropFirst(3)), number >= 0 {
            self = .name("hci\(number)")
            return
        }
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6,
            parts.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } })
        else { return nil }
        self = .address(argument.uppercased())
    }
}
