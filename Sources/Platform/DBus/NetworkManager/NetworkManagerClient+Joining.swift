// SPDX-License-Identifier: Apache-2.0

/// Joining a network for a while, and going back.
extension NetworkManagerClient {
    /// Joins a network, and returns once this machine has an address there.
    ///
    /// The profile is volatile and bound to this client (`persist`, `bind-activation` of `AddAndActivateConnection2`, NetworkManager 1.16):
    /// it is on no disk, and NetworkManager drops it and connects the device again by itself when this process is gone.
    ///
    /// - Parameter owner: the user whom alone the profile belongs to, where this user may not add any for all.
    /// - Throws: `passwordNeeded` and `tooOld` before anything is changed; `wrongPassword`, `notFound`, `noAddress`, `accessDenied`,
    ///   `failed`, `timeout`, `cancelled`. Whatever it throws, the device may have left its network: ``restore(_:on:insteadOf:within:)``.
    public func join(
        _ profile: TemporaryProfile, on device: WiFiDevice, owner: String?, within limit: Duration
    ) async throws(NetworkManagerError) {
        let end = ContinuousClock.now + limit
        let security = profile.network.security
        guard security != .other else {
            throw NetworkManagerError(
                .failed, message: "The Wi-Fi network \(profile.network.name) asks for more than a password.")
        }
        guard security == .open || profile.password != nil else {
            throw NetworkManagerError(
                .passwordNeeded, message: "The Wi-Fi network \(profile.network.name) has a password.")
        }
        feed.forgetFailure(of: device.path)
        var active: String?
        do throws(NetworkManagerError) {
            active = try await add(profile, on: device, owner: nil)
        } catch {
            // A profile of one's own takes less rights than one for all users.
            guard error.code == .accessDenied, let owner else { throw error }
            active = try await add(profile, on: device, owner: owner)
        }
        guard let active else { throw NetworkManagerError(.failed, message: "NetworkManager began nothing.") }
        try await activated(
            active, on: device, named: profile.network.name, isSecured: security != .open, until: end)
    }

    private func add(
        _ profile: TemporaryProfile, on device: WiFiDevice, owner: String?
    ) async throws(NetworkManagerError) -> String? {
        let options = DBusValue.properties([
            ("persist", .string("volatile")), ("bind-activation", .string("dbus-client")),
        ])
        // An open network must not be joined with a password that was meant for a closed one.
        var profile = profile
        if profile.network.security == .open { profile.password = nil }
        let answer = try await call(
            NetworkManagerName.path, NetworkManagerName.service, "AddAndActivateConnection2",
            [
                profile.settings(owner: owner), .objectPath(device.path), .objectPath(profile.network.path), options,
            ])
        return answer.count > 1 ? answer[1].text : nil
    }

    /// Brings a device back to what it was connected by. Returns once it is, or once it is by something else that a person or
    /// NetworkManager has chosen meanwhile.
    ///
    /// - Parameters:
    ///   - previous: the profile's `uuid`; nil where the device was not connected, or by something that cannot be had again.
    ///   - temporary: the `uuid` that was joined in its place.
    /// - Returns: what it is connected by now.
    /// - Throws: `notFound` where the profile is gone, and what joining throws.
    @discardableResult
    public func restore(
        _ previous: String?, on interface: String, insteadOf temporary: String, within limit: Duration
    ) async throws(NetworkManagerError) -> NetworkConnection? {
        let end = ContinuousClock.now + limit
        guard let device = try await devices().first(where: { $0.interface == interface }) else { return nil }
        let current = try await connection(device)
        if let current, current.uuid != temporary, current.state != .ending {
            if current.state == .activating {
                try await activated(current.path, on: device, named: current.id, isSecured: false, until: end)
            }
            return current
        }
        guard let previous else {
            if let current { try await deactivate(current) }
            return nil
        }
        feed.forgetFailure(of: device.path)
        let profile: [DBusValue]
        do throws(NetworkManagerError) {
            profile = try await call(
                NetworkManagerName.settingsPath, NetworkManagerName.settings, "GetConnectionByUuid", [.string(previous)]
            )
        } catch {
            guard error.code == .failed else { throw error }
            if let current { try await deactivate(current) }
            throw NetworkManagerError(.notFound, message: "Its connection does not exist any more.")
        }
        let answer = try await call(
            NetworkManagerName.path, NetworkManagerName.service, "ActivateConnection",
            [.objectPath(profile.first?.text ?? "/"), .objectPath(device.path), .objectPath("/")])
        guard let active = answer.first?.text else { return nil }
        try await activated(active, on: device, named: "of before", isSecured: false, until: end)
        return try await connection(device)
    }

    /// Ends a connection; one that is gone already is no error.
    public func deactivate(_ connection: NetworkConnection) async throws(NetworkManagerError) {
        do throws(NetworkManagerError) {
            try await call(
                NetworkManagerName.path, NetworkManagerName.service, "DeactivateConnection",
                [.objectPath(connection.path)])
        } catch {
            guard error.code == .failed else { throw error }
        }
    }

    /// Returns once a connection is up. Its object goes with it when it fails.
    private func activated(
        _ path: String, on device: WiFiDevice, named name: String, isSecured: Bool,
        until end: ContinuousClock.Instant
    ) async throws(NetworkManagerError) {
        while true {
            let known = feed.changes
            let properties = try await properties(path, NetworkManagerName.active)
            let connection = properties.flatMap { NetworkConnection(path: path, $0) }
            switch connection?.state {
            case .activated: return
            case .activating: break
            case .ending, nil:
                throw NetworkManagerError(
                    failure: feed.failure(of: device.path), of: name, isSecured: isSecured)
            }
            let left = end - ContinuousClock.now
            guard left > .zero else { throw .late }
            await feed.change(after: known, within: min(left, Self.interval))
            if Task.isCancelled { throw .cancelled }
        }
    }
}
