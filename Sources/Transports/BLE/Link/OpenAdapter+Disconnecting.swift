// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Logging

/// The end of a connection, and of what BlueZ remembers of it.
extension OpenAdapter {
    /// Ends the connection, and waits until it has ended: BlueZ keeps it for two seconds.
    func disconnect(_ device: String) async {
        guard (try? await call(device, BlueZName.device, "Disconnect", within: Self.callLimit)) != nil else { return }
        _ = try? await watch.wait(for: device, within: Self.callLimit) { tree, _ -> Bool? in
            BoardLink.isConnected(device, tree) ? nil : true
        }
    }

    /// The same for a caller that may have been cancelled, which must not leave the board occupied.
    func release(_ device: String) async {
        await Task { await disconnect(device) }.value
    }

    /// Has BlueZ end the connection, and returns when the bus has the message: the two seconds are BlueZ's own.
    func letGo(_ device: String) async {
        await Task {
            await sendWithoutReply([DBusCall(BlueZName.service, device, BlueZName.device, "Disconnect")])
        }.value
    }

    /// The same at the end of a transport. What BlueZ keeps of a board that it had not known before is given up with it, or every board
    /// that was ever provisioned would stay in its tree and on its disk, with attributes that another firmware may not have.
    ///
    /// BlueZ does both in their order and by itself: it forgets a device once the link has ended (`remove_device` in src/adapter.c).
    /// One that still advertises is heard anew.
    ///
    /// - Parameter isOurs: whether there is a link, and it is the caller's; another's is left alone, and so is the board.
    func leave(_ device: String, isOurs: Bool) async {
        let isFree = isOurs || holds.isFree(device, isConnected: false)
        let mayForget = watch.read { tree in
            tree.isDispensable(device) && (isOurs || isFree && !BoardLink.isConnected(device, tree))
        }
        var calls = isOurs ? [DBusCall(BlueZName.service, device, BlueZName.device, "Disconnect")] : []
        if mayForget {
            logger.debug("having BlueZ forget the board", metadata: ["device": "\(device)"])
            calls.append(
                DBusCall(BlueZName.service, path, BlueZName.adapter, "RemoveDevice", [.objectPath(device)]))
        }
        await Task { [calls] in
            if !calls.isEmpty { await sendWithoutReply(calls) }
            await forbidPairing(device)
        }.value
    }

    /// Makes BlueZ forget what it remembers of a board, its attributes above all.
    func forget(_ device: String) async {
        logger.debug("forgetting what BlueZ remembers of the board", metadata: ["device": "\(device)"])
        _ = try? await call(path, BlueZName.adapter, "RemoveDevice", [.objectPath(device)], within: Self.callLimit)
        _ = try? await watch.wait(for: device, within: .seconds(2)) { tree, _ -> Bool? in
            tree[device, BlueZName.device] == nil ? true : nil
        }
    }
}
