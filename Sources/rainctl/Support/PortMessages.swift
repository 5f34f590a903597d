// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Messages about a serial port on which no board has named itself.
enum PortMessages {
    static func line(_ change: PortChange) -> String {
        switch change {
        case .needsRestart(let path, let isSilent, let searches):
            let what = isSilent ? "Nothing has arrived from" : "The board has not printed its name at"
            let ways = searches.map { $0 == "softap" ? "for the board's own Wi-Fi network" : $0.wayToBoard }
            let search =
                ways.isEmpty ? "" : " Meanwhile, the search continues \(ways.joined(separator: " and ").onOneLine)."
            return "\(what) \(path.onOneLine): press RESET now, or unplug the board and plug it in again.\(search)"
        case .restarted(let path): return "The board at \(path.onOneLine) was restarted through DTR and RTS."
        case .found(let board): return "Found \(board.line)"
        case .returned(let path): return "The board is back at \(path.onOneLine)."
        }
    }
}
