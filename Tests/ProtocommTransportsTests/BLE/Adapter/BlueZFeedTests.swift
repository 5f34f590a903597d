// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Synchronization
import Testing

@testable import ProtocommTransports

@Suite("What BlueZ says by itself")
struct BlueZFeedTests {
    private static let device = "/org/bluez/hci0/dev_01"

    private static let bluezCame = DBusMessage(
        kind: .signal, sender: DBusNameOwner.bus, member: "NameOwnerChanged",
        arguments: [.string(BlueZName.service), .string(""), .string(":1.7")])

    private static let boardHeard = DBusMessage(
        kind: .signal, sender: ":1.7", path: device, interface: "org.freedesktop.DBus.Properties",
        member: "PropertiesChanged",
        arguments: [
            .string(BlueZName.device), .properties([("RSSI", .string("-40"))]), .strings([]),
        ])

    // A gateway hears boards for years: whatever one signal leaves behind adds up.
    @Test("costs the thousandth time what it cost the first")
    func constantDepth() {
        let feed = BlueZFeed(ObjectWatch())
        let depths = Mutex<[UInt]>([])
        feed.follow { _ in
            var here: UInt8 = 0
            let depth = withUnsafePointer(to: &here) { UInt(bitPattern: $0) }
            depths.withLock { $0.append(depth) }
        }
        let take = feed.handlers.signal
        take(Self.bluezCame)
        for _ in 0..<1000 { take(Self.boardHeard) }

        let seen = depths.withLock { $0 }
        #expect(seen.count == 1001)
        // Of the changes alone: the first call took another path to its follower.
        #expect(Set(seen.dropFirst()).count == 1)
    }
}
