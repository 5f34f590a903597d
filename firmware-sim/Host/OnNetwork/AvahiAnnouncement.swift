// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import Glibc
import RainDBus
import RainJSON

/// Announces the board's on-network service through Avahi, as long as the service accepts challenges. Firmware does this with ESP-IDF's own
/// multicast DNS (`announce_mdns_service` in `esp_rmaker_on_network_chal_resp.c`). The host's name stays this machine's.
final class AvahiAnnouncement: EventSource {
    private static let service = "org.freedesktop.Avahi"
    private static let groupInterface = "org.freedesktop.Avahi.EntryGroup"
    private static let collisionError = "org.freedesktop.Avahi.CollisionError"
    /// `AVAHI_ENTRY_GROUP_COLLISION`: another host has the name.
    private static let collision = 3

    /// The announced service.
    enum Kind: Equatable {
        /// With the scheme of its sessions.
        case onNetwork(security: Int)
        case localControl
    }

    private let board: Board
    private let kind: Kind
    private let port: UInt16
    private let connection: DBusConnection
    private var name: String
    private var group: String?

    /// Connects to Avahi on the bus that `DBUS_SYSTEM_BUS_ADDRESS` names. Nothing is announced before the service runs.
    /// - Parameter name: the service's name, unless another service already has it.
    init(_ board: Board, _ kind: Kind, port: UInt16, name: String) throws {
        self.board = board
        self.kind = kind
        self.port = port
        self.name = name
        do throws(DBusError) {
            connection = try DBusConnection(.system)
            _ = try connection.callAndWait(
                .bus("AddMatch", [.string("type='signal',sender='\(Self.service)',interface='\(Self.groupInterface)'")])
            )
            _ = try connection.callAndWait(
                DBusCall(Self.service, "/", "org.freedesktop.Avahi.Server", "GetVersionString"))
        } catch {
            throw StartError(
                "--announce: no Avahi at \(DBusAddress.system): \(error); start dbus-daemon and avahi-daemon")
        }
        board.observe { [weak self] event in
            switch (event, kind) {
            case (.onNetworkStarted, .onNetwork), (.localControlStarted, .localControl): self?.announce()
            case (.onNetworkDisabled, .onNetwork), (.onNetworkStopped, .onNetwork): self?.withdraw()
            default: break
            }
        }
    }

    // MARK: The loop

    var interests: [Interest] {
        let descriptor = connection.descriptor
        return descriptor < 0 ? [] : [Interest(descriptor: descriptor, events: connection.events)]
    }

    var due: UInt64? { connection.due.map { MonotonicClock.milliseconds(atMicroseconds: $0) } }

    func ready(_ descriptor: Int32, events: Int16, now: UInt64) {}

    func wake(now: UInt64) {
        guard connection.descriptor >= 0 else { return }
        do throws(DBusError) {
            try connection.drain { receive($0) }
        } catch {
            board.log(.error, "avahi", "the connection to D-Bus is lost: \(error)")
            connection.close()
        }
    }

    func shutDown() { connection.close() }

    // MARK: Avahi

    private func announce() {
        do throws(DBusError) {
            let answer = try connection.callAndWait(
                DBusCall(Self.service, "/", "org.freedesktop.Avahi.Server", "EntryGroupNew"), other: receive)
            group = answer.first?.text
            try publish()
        } catch {
            board.log(.error, "avahi", "not announced: \(error)")
        }
    }

    private func publish() throws(DBusError) {
        while true {
            do throws(DBusError) {
                try call("AddService", arguments)
                try call("Commit")
                board.journal.state("announced", [.init("name", .string(name))])
                return
            } catch {
                // The name of another program's service on this machine.
                guard error.name == Self.collisionError else { throw error }
                try takeOtherName()
            }
        }
    }

    /// interface, protocol, flags, name, type, domain, host, port, TXT: any interface, both versions of IP, this machine's host name.
    private var arguments: [DBusValue] {
        [
            .int32(-1), .int32(-1), .uint32(0), .string(name),
            .string(kind == .localControl ? "_esp_local_ctrl._tcp" : "_esp_rmaker_chal_resp._tcp"), .string(""),
            .string(""), .uint16(port), .array(text.map { .bytes(Array($0.utf8)) }, of: "ay"),
        ]
    }

    private var text: [String] {
        guard case .onNetwork(let security) = kind else {
            let endpoints = ["version", "session", "control"].map { "\($0)_endpoint=/esp_local_ctrl/\($0)" }
            return endpoints + ["node_id=\(board.nodeID)"]
        }
        var text = ["node_id=\(board.nodeID)", "port=\(port)", "sec_version=\(security)"]
        if security == 1 { text.append("pop_required=\(!board.identity.proofOfPossession.isEmpty)") }
        return text
    }

    private func takeOtherName() throws(DBusError) {
        let answer = try connection.callAndWait(
            DBusCall(
                Self.service, "/", "org.freedesktop.Avahi.Server", "GetAlternativeServiceName", [.string(name)]),
            other: receive)
        name = answer.first?.text ?? name + " #2"
    }

    private func call(_ member: String, _ arguments: [DBusValue] = []) throws(DBusError) {
        guard let group else { return }
        _ = try connection.callAndWait(
            DBusCall(Self.service, group, Self.groupInterface, member, arguments), other: receive)
    }

    private func withdraw() {
        guard group != nil else { return }
        do throws(DBusError) { try call("Free") } catch { board.log(.error, "avahi", "not withdrawn: \(error)") }
        group = nil
        board.journal.state("withdrawn")
    }

    private func receive(_ message: DBusMessage) {
        guard message.kind == .signal, message.member == "StateChanged", let group, message.path == group,
            message.arguments.first?.integer == Self.collision
        else { return }
        do throws(DBusError) {
            try takeOtherName()
            try call("Reset")
            try publish()
        } catch { board.log(.error, "avahi", "the board could not be announced again: \(error)") }
    }
}

extension FirmwareSim {
    /// Whether the board can be given its network.
    var isProvisionable: Bool { listening.http != nil || listening.hasConsole || bluetooth.isServed }

    /// A board that cannot be provisioned, or whose log shows that it was, is on its network from the start.
    var isOnNetworkAlready: Bool {
        guard listening.onNetwork != nil || listening.localControl != nil else { return false }
        return !isProvisionable || listening.hasConsole && listening.bootLog == .provisioned
    }

    /// Serves challenge and response once the board is on its network, however it got there.
    /// - Returns: the address.
    func serveOnNetwork(_ address: BindAddress, _ board: Board, on loop: EventLoop) throws -> String {
        let server = try SoftAPServer(address, board: board, service: .onNetwork)
        loop.add(server)
        if listening.announce {
            loop.add(
                try AvahiAnnouncement(
                    board, .onNetwork(security: firmware.security), port: server.address.port,
                    name: listening.announceAs ?? board.nodeID))
        }
        board.observe { [weak board] event in
            if case .joined = event { board?.startOnNetworkService() }
        }
        return server.address.description
    }
}
