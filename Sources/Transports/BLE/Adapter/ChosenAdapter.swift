// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// The adapter that is used, and what makes it that one: its name where it was chosen by that, its address otherwise, since names
/// change when a dongle is plugged in again while somebody holds the old one.
struct ChosenAdapter: Sendable {
    /// `/org/bluez/hci0`
    let path: String
    private let address: String?
    /// What was asked for; nil for any.
    private let wanted: String?

    init(path: String, wanted: String?, in tree: ObjectTree) {
        self.path = path
        self.wanted = wanted
        address = tree[path, BlueZName.adapter]?["Address"]?.text
    }

    /// Why it receives nothing at the moment; nil where it can receive.
    func trouble(in tree: ObjectTree) -> BluetoothError? {
        guard tree.isServed else { return .noBlueZ("it has left the bus") }
        guard isThere(in: tree), let adapter = tree[path, BlueZName.adapter] else { return AdapterChoice.gone(path) }
        guard adapter["Powered"]?.boolean == false else { return nil }
        return adapter["PowerState"]?.text == "off-blocked" ? AdapterChoice.blocked : AdapterChoice.off(path)
    }

    /// Whether it has come back under another name.
    func hasMoved(in tree: ObjectTree) -> Bool {
        guard !isByName, let address, tree.isServed, !isThere(in: tree) else { return false }
        return tree.paths(with: BlueZName.adapter, below: BlueZName.root).contains {
            tree[$0, BlueZName.adapter]?["Address"]?.text == address
        }
    }

    /// Whether it is gone, and another adapter that is ready may take its place.
    func isReplaceable(in tree: ObjectTree) -> Bool {
        guard wanted == nil, tree.isServed, !isThere(in: tree) else { return false }
        return (try? AdapterChoice.path(in: tree, wanted: nil, isBlocked: { false })) != nil
    }

    private var isByName: Bool { wanted == AdapterChoice.name(path) }

    private func isThere(in tree: ObjectTree) -> Bool {
        guard let adapter = tree[path, BlueZName.adapter] else { return false }
        // Another with its name does where any does, and where the name was what was asked for.
        return wanted == nil || isByName || adapter["Address"]?.text == address
    }
}
