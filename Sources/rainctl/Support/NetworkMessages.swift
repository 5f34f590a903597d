// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Messages about this machine's own network, when it is left for a board's.
enum NetworkMessages {
    static let fullScan =
        "most boards list at most 16 networks, and may omit strong ones; if your network is missing, name it with --ssid"

    static let emptyScan =
        "The board found no Wi-Fi network. Check the board's antenna, and that a network is in range. Most boards find only networks on "
        + "2.4 GHz."

    /// - Parameter note: prints a line that is not a warning; the output's own by default.
    static func tell(_ change: NetworkChange, _ output: Output, _ note: ((String) -> Void)? = nil) {
        let note = note ?? output.say
        switch change {
        case .notRestored(let name, let why):
            let place = name.map { "the network \($0.onOneLine)" } ?? "its own network"
            output.warn(
                "this machine did not return to \(place): \(why)",
                reason: "network_not_restored")
        case .looking(let name):
            note("looking for the Wi-Fi network \(name?.onOneLine ?? "PROV_…")")
        case .joining(let name, let previous):
            note(
                "joining the Wi-Fi network \(name.onOneLine)"
                    + (previous.map { ", and returning to \($0.onOneLine) afterwards" } ?? ""))
        case .returning(let name):
            note(name.map { "returning to \($0.onOneLine)" } ?? "leaving the board's network")
        case .restored(let name):
            note(name.map { "back on \($0.onOneLine)" } ?? "left the board's network")
        case .joinByHand(let name, let hasPassword, let why, let isWaitedFor):
            let password = hasPassword ? " (with the password from the QR code or the options)" : ""
            let network = name?.onOneLine ?? "PROV_… of the board"
            guard isWaitedFor else {
                return note("\(why) Join the Wi-Fi network \(network) yourself\(password), and run this command again.")
            }
            note("\(why) So join the board's network by hand:")
            note("1. Join the Wi-Fi network \(network)\(password). The command waits until this machine has joined.")
        case .joinedByHand(let name):
            note(
                "2. This machine is on \(name?.onOneLine ?? "the board's network"). Stay on this network until the board has its settings."
            )
        case .returnByHand(let wasAsked): note("\(wasAsked ? "3. " : "")You can return to your own network now.")
        case .returnedByHand: note("left the board's network")
        }
    }

    /// Restores the network that a killed run left. Takes almost no time if there is nothing to restore.
    static func restore(isQuiet: Bool) async {
        guard let folders = try? Folders(processEnvironment()) else { return }
        let output = Output(isQuiet: isQuiet)
        var configuration = RainKitConfiguration(state: folders.state)
        configuration.networkChange = { tell($0, output) }
        if let change = await RainKitClient(configuration).restoreNetwork() { tell(change, output) }
    }
}
