// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// Chooses an adapter from those that BlueZ has.
enum AdapterChoice {
    /// - Parameters:
    ///   - wanted: `hci1`, or an adapter's address; nil chooses the first that is switched on.
    ///   - isBlocked: whether rfkill blocks the machine's Bluetooth.
    /// - Returns: the adapter's path.
    static func path(
        in tree: ObjectTree, wanted: String?, isBlocked: () -> Bool
    ) throws(BluetoothError) -> String {
        let all = tree.paths(with: BlueZName.adapter, below: BlueZName.root)
        guard !all.isEmpty else {
            throw BluetoothError(
                .noAdapter,
                message: "This machine has no Bluetooth adapter. Plug one in, and check it with `bluetoothctl list`."
            )
        }
        let candidates = all.filter { path in wanted.map { isNamed($0, path, tree) } ?? true }
        guard let first = candidates.first else {
            let names = all.map(name).joined(separator: ", ")
            throw BluetoothError(
                .noAdapter, message: "There is no Bluetooth adapter \(wanted ?? ""): this machine has \(names).")
        }
        if let ready = candidates.first(where: { isReady($0, tree) }) { return ready }
        let isOff = isOn(first, tree) == false
        guard isOff else {
            throw BluetoothError(
                .noAdapter,
                message: "The Bluetooth adapter \(name(first)) cannot connect to boards: it lacks Bluetooth Low Energy."
            )
        }
        if tree[first, BlueZName.adapter]?["PowerState"]?.text == "off-blocked" || isBlocked() {
            throw blocked
        }
        throw off(first)
    }

    /// Returns the addresses of all adapters that are switched on, or the names of those whose address another one has, too. The order is
    /// that of their names.
    ///
    /// - Parameter wanted: names and addresses; if empty, all.
    /// - Returns: at least one adapter, or the reason why none can be used.
    static func keys(in tree: ObjectTree, wanted: [String]) -> Result<[String], BluetoothError> {
        let all = tree.paths(with: BlueZName.adapter, below: BlueZName.root)
        let chosen = all.filter { path in
            isReady(path, tree) && (wanted.isEmpty || wanted.contains { isNamed($0, path, tree) })
        }
        guard chosen.isEmpty else {
            let addresses = all.map { tree[$0, BlueZName.adapter]?["Address"]?.text ?? "" }
            return .success(
                chosen.map { path in
                    let address = tree[path, BlueZName.adapter]?["Address"]?.text ?? ""
                    return addresses.count { $0 == address } == 1 ? address : name(path)
                })
        }
        guard tree.isServed else { return .failure(.stoppedBlueZ("has stopped while it was in use")) }
        do throws(BluetoothError) {
            let path = try path(in: tree, wanted: wanted.first, isBlocked: { RadioSwitch.isBlocked() })
            return .success([name(path)])
        } catch {
            return .failure(error)
        }
    }

    static let blocked = BluetoothError(
        .blocked,
        message:
            "Bluetooth is blocked on this machine. Unblock it with `rfkill unblock bluetooth`, with the hardware switch, or by "
            + "turning off airplane mode.")

    static func gone(_ path: String) -> BluetoothError {
        BluetoothError(.noAdapter, message: "The Bluetooth adapter \(name(path)) is gone. Plug it in again.")
    }

    static func off(_ path: String) -> BluetoothError {
        BluetoothError(
            .poweredOff,
            message: "The Bluetooth adapter \(name(path)) is off. Switch it on with "
                + "`bluetoothctl power on`. If that fails, run `rfkill unblock bluetooth` first.")
    }

    static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

    /// Whether this is an adapter's path: `/org/bluez/hci0`, and nothing below.
    static func isAdapter(_ path: String) -> Bool {
        path.hasPrefix(BlueZName.root + "/") && path.utf8.count { $0 == UInt8(ascii: "/") } == 3
    }

    private static func isNamed(_ wanted: String, _ path: String, _ tree: ObjectTree) -> Bool {
        let address = tree[path, BlueZName.adapter]?["Address"]?.text ?? ""
        return name(path) == wanted || address.asciiLowercased == wanted.asciiLowercased
    }

    private static func isOn(_ path: String, _ tree: ObjectTree) -> Bool? {
        tree[path, BlueZName.adapter]?["Powered"]?.boolean
    }

    private static func isReady(_ path: String, _ tree: ObjectTree) -> Bool {
        guard isOn(path, tree) == true else { return false }
        // Old versions, which supported only this role, have no such property.
        return tree[path, BlueZName.adapter]?["Roles"]?.texts?.contains("central") ?? true
    }
}

extension String {
    /// The text in lower case; names and addresses of the radio are compared in ASCII, without Unicode's tables.
    var asciiLowercased: String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
    }
}

/// The adapter in use, and how it is recognised: by its name if it was chosen by that, otherwise by its address. Names change if a dongle
/// is plugged in again while another program still holds the old one.
struct ChosenAdapter: Sendable {
    /// The path, such as `/org/bluez/hci0`.
    let path: String
    private let address: String?
    /// The requested adapter; nil for any.
    private let wanted: String?

    init(path: String, wanted: String?, in tree: ObjectTree) {
        self.path = path
        self.wanted = wanted
        address = tree[path, BlueZName.adapter]?["Address"]?.text
    }

    /// Returns why it receives nothing at the moment; nil if it can receive.
    func trouble(in tree: ObjectTree) -> BluetoothError? {
        guard tree.isServed else { return .stoppedBlueZ("has stopped while it was in use") }
        guard isThere(in: tree), let adapter = tree[path, BlueZName.adapter] else { return AdapterChoice.gone(path) }
        guard adapter["Powered"]?.boolean == false else { return nil }
        return adapter["PowerState"]?.text == "off-blocked" ? AdapterChoice.blocked : AdapterChoice.off(path)
    }

    /// Whether it has returned under another name.
    func hasMoved(in tree: ObjectTree) -> Bool {
        guard !isByName, let address, tree.isServed, !isThere(in: tree) else { return false }
        return tree.paths(with: BlueZName.adapter, below: BlueZName.root).contains {
            tree[$0, BlueZName.adapter]?["Address"]?.text == address
        }
    }

    /// Whether it is gone, and another adapter that is ready may replace it.
    func isReplaceable(in tree: ObjectTree) -> Bool {
        guard wanted == nil, tree.isServed, !isThere(in: tree) else { return false }
        return (try? AdapterChoice.path(in: tree, wanted: nil, isBlocked: { false })) != nil
    }

    private var isByName: Bool { wanted == AdapterChoice.name(path) }

    private func isThere(in tree: ObjectTree) -> Bool {
        guard let adapter = tree[path, BlueZName.adapter] else { return false }
        // Any adapter will do, or one with the requested name, or one with the same address.
        return wanted == nil || isByName || adapter["Address"]?.text == address
    }
}
