// SPDX-License-Identifier: Apache-2.0

extension DeviceSummary {
    /// What the board has said that it is.
    public var identity: PrintedIdentity {
        var identity = PrintedIdentity()
        identity.chip = chip
        identity.revision = revision
        identity.macAddress = macAddress
        identity.application = project
        identity.applicationVersion = version
        identity.framework = frameworkVersion
        identity.startReason = reset?.words
        identity.serviceName = serviceName
        identity.isProvisioned = isProvisioned
        identity.address = address
        return identity
    }
}
