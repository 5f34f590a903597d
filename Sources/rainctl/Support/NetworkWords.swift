// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What a person reads of this machine's own network, where it is left for a board's.
enum NetworkWords {
    static let fullScan =
        "most boards list 16 networks at most, and leave out others, strong ones too: name yours with --ssid if it is missing"

    static func tell(_ change: NetworkChange, _ output: Output) {
        switch change {
        case .notRestored(let name, let why):
            let place = name.map { "the network \($0.onOneLine)" } ?? "its own network"
            output.warn(
                "this machine is not back on \(place): \(why)",
                reason: "network_not_restored")
        case .looking(let name):
            output.say("looking for the Wi-Fi network \(name?.onOneLine ?? "PROV_…")")
        case .joining(let name, let previous):
            output.say(
                "joining the Wi-Fi network \(name.onOneLine)"
                    + (previous.map { ", and going back to \($0.onOneLine) afterwards" } ?? ""))
        case .returning(let name):
            output.say(name.map { "going back to \($0.onOneLine)" } ?? "leaving the board's network")
        case .restored(let name):
            output.say(name.map { "back on \($0.onOneLine)" } ?? "off the board's network")
        case .joinByHand(let name, let hasPassword, let why):
            let password = hasPassword ? " (its password is the one in the QR code, or that was given)" : ""
            output.say(
                "\(why) Join the Wi-Fi network \(name?.onOneLine ?? "PROV_… of the board") yourself\(password), and back "
                    + "your own afterwards; the board is waited for where somebody is at the terminal.")
        }
    }

    /// Brings back what a killed run left; next to nothing where there is none.
    static func restore(isQuiet: Bool) async {
        let environment = RainKitConfiguration(state: "/").environment
        guard let folders = try? Folders(environment) else { return }
        let output = Output(isJSON: false, isQuiet: isQuiet)
        var configuration = RainKitConfiguration(state: folders.state)
        configuration.networkChange = { tell($0, output) }
        if let change = await RainKitClient(configuration).restoreNetwork() { tell(change, output) }
    }
}
