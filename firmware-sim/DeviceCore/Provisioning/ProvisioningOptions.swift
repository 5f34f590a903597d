// SPDX-License-Identifier: Apache-2.0

/// How the firmware was configured. Times are milliseconds.
public struct ProvisioningOptions: Sendable, Equatable {
    /// `wifi_conn_attempts`: 0 is the old behaviour, where the first failure that is understood is final and any other
    /// is retried for ever.
    public var attempts: UInt32
    /// `CONFIG_APP_NETWORK_RESET_PROV_ON_FAILURE`: a failed board makes itself ready for other credentials.
    public var resetsOnFailure: Bool
    /// False where the application called `network_prov_mgr_disable_auto_stop`.
    public var stopsByItself: Bool
    /// How long the service goes on answering after it was told to stop.
    public var cleanupDelay: UInt64
    /// How long the service waits for a status request, once the board is connected (`CONFIG_NETWORK_PROV_AUTOSTOP_TIMEOUT`).
    public var autoStopDelay: UInt64
    /// Wrong proofs of possession before provisioning stops until the next boot; 0 for no limit.
    public var wrongProofLimit: UInt32
    /// How many entries of a scan are kept (`CONFIG_NETWORK_PROV_SCAN_MAX_ENTRIES`).
    public var scanEntries: Int
    /// A reset is refused where there is nothing to reset, as by network_provisioning before 1.2.1 and by ESP-IDF's own component.
    public var refusesIdleReset: Bool

    public init(
        attempts: UInt32 = 0, resetsOnFailure: Bool = false, stopsByItself: Bool = true, cleanupDelay: UInt64 = 1000,
        autoStopDelay: UInt64 = 30_000, wrongProofLimit: UInt32 = 5,
        scanEntries: Int = 16, refusesIdleReset: Bool = false
    ) {
        self.attempts = attempts
        self.resetsOnFailure = resetsOnFailure
        self.stopsByItself = stopsByItself
        self.cleanupDelay = cleanupDelay
        self.autoStopDelay = autoStopDelay
        self.wrongProofLimit = wrongProofLimit
        self.scanEntries = scanEntries
        self.refusesIdleReset = refusesIdleReset
    }
}
