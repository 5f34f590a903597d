// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// What a reply to `GetManagedObjects` of the Bluetooth service says about adapters.
struct AdapterTree {
    struct Adapter: Equatable {
        var path: String
        var address: String
        var isPowered: Bool
        /// The name it reports.
        var alias: String
        /// It can serve characteristics, and advertise.
        var playsBoards: Bool
    }

    private(set) var adapters: [Adapter] = []

    init(_ arguments: [DBusValue]) {
        for object in arguments.first?.entries ?? [] {
            guard let path = object.key.text, let adapter = object.value["org.bluez.Adapter1"],
                let address = adapter["Address"]?.text
            else { continue }
            adapters.append(
                Adapter(
                    path: path, address: address, isPowered: adapter["Powered"]?.boolean ?? false,
                    alias: adapter["Alias"]?.text ?? "",
                    playsBoards: object.value["org.bluez.GattManager1"] != nil
                        && object.value["org.bluez.LEAdvertisingManager1"] != nil))
        }
        adapters.sort { $0.path < $1.path }
    }

    func find(_ choice: AdapterChoice) -> Adapter? {
        switch choice {
        case .name(let name): adapters.first { $0.path.hasSuffix("/" + name) }
        case .address(let address): adapters.first { $0.address.uppercased() == address }
        }
    }
}
