// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Messages about this machine's own network, when it is left for a board's.
enum NetworkMessages {
    static let fullScan =
        "most boards list at most 16 networks, and omit others, even strong ones: name yours with --ssid if it is missing"

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
                    + (previous.map { ", and returning to \($0.onOneLine) afterwards" } ?? ""))
        case .returning(let name):
            output.say(name.map { "returning to \($0.onOneLine)" } ?? "leaving the board's network")
        case .restored(let name):
            output.say(name.map { "back on \($0.onOneLine)" } ?? "off the board's network")
        case .joinByHand(let name, let hasPassword, let why):
            let password = hasPassword ? " (with the password from the QR code or the options)" : ""
            output.say(
                "\(why) Join the Wi-Fi network \(name?.onOneLine ?? "PROV_… of the board") yourself\(password), and "
                    + "return to your own network afterwards; at a terminal, rainctl waits for the board.")
        }
    }

    /// Restores the network that a killed run left. Takes almost no time if there is nothing to restore.
    static func restore(isQuiet: Bool) async {
        let environment = RainKitConfiguration(state: "/").environment
        guard let folders = try? Folders(environment) else { return }
        let output = Output(isJSON: false, isQuiet: isQuiet)
        var configuration = RainKitConfiguration(state: folders.state)
        configuration.networkChange = { tell($0, output) }
        if let change = await RainKitClient(configuration).restoreNetwork() { tell(change, output) }
    }
}
