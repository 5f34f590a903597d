// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What is known of a board from its log since it last started. Proofs and passwords in it are of types that cannot be printed.
public struct DeviceSummary: Sendable {
    /// Such as `esp32c3` (`ESP-ROM:esp32c3-api1-20210207`).
    public var chip: String?
    /// Of the chip, such as `v0.4`.
    public var revision: String?
    /// The station's address, as the Wi-Fi driver prints it, or as a node id that is one.
    public var macAddress: String?
    /// The version of ESP-IDF that the application was built with; the boot loader's where only that is known.
    public var frameworkVersion: String?
    /// The application's name: for Espressif's examples that of their folder, such as `led_light`.
    public var project: String?
    /// The application's version.
    public var version: String?
    /// Why it started.
    public var reset: ResetReason?
    /// Its id in the cloud.
    public var nodeID: NodeID?
    /// The name of the provisioning service, once that runs.
    public var serviceName: String?
    /// What its QR code says.
    public var code: QRPayload?
    /// Why the QR code that it prints cannot be used, in a sentence.
    public var codeFault: String?
    /// The proof of possession that an application without a code names.
    public var announcedProof: ProofOfPossession?
    /// The transport that it names; nil if it names none.
    public var announcedTransport: QRPayload.Transport?
    /// The password of its access point that it names.
    public var announcedPassphrase: Secret?
    /// It says that it can be provisioned, and not under which name.
    public var isUnnamed = false
    /// It has Wi-Fi settings of earlier, and starts no provisioning.
    public var isProvisioned = false
    /// The application reads commands at its first UART (`rmaker_console`), which is not the chip's own USB.
    public var hasConsole = false
    /// Its address on Wi-Fi.
    public var address: String?
    /// The host of its cloud.
    public var cloudHost: String?
    /// What is wrong, the oldest first; the last eight. They outlive a restart, since that is what most of them lead to.
    public var troubles: [DeviceTrouble] = []
    /// How often it has started since somebody listens.
    public var starts = 0
    /// A line has come that only ESP-IDF's log looks like.
    public var hasLog = false

    public init() {}

    /// The most that is kept of ``troubles``.
    static let maximumTroubles = 8

    mutating func add(_ trouble: DeviceTrouble) {
        guard troubles.last != trouble else { return }
        troubles.append(trouble)
        if troubles.count > Self.maximumTroubles { troubles.removeFirst() }
    }

    /// Forgets what kept applications from starting.
    mutating func startApplication() { troubles.removeAll(where: \.endsWithApplication) }

    /// Forgets what a restart changes.
    mutating func restart() {
        var fresh = DeviceSummary()
        fresh.troubles = troubles
        fresh.starts = starts + 1
        // The same board on the same port.
        fresh.macAddress = macAddress
        self = fresh
    }

    /// Whether anything that was heard is what an ESP chip or its firmware prints.
    public var isESP: Bool { starts > 0 || hasLog || serviceName != nil || isUnnamed || !troubles.isEmpty }

    /// Whether it does not come up until somebody fixes something.
    public var isDown: Bool { serviceName == nil && troubles.contains(where: \.isFatal) }

    /// What is wrong with a board that has not named its service: the last trouble that keeps it down, and for one that restarts again and
    /// again what it does so for, where that was heard.
    public var verdict: DeviceTrouble? {
        guard serviceName == nil else { return nil }
        if let fatal = troubles.last(where: { $0.isFatal && !$0.isLoop }) { return fatal }
        return troubles.last { !$0.isLoop && $0 != .watchdogReset } ?? troubles.last
            ?? (reset?.isWatchdog == true && project == nil && !isProvisioned && !isUnnamed ? .watchdogReset : nil)
    }
}
