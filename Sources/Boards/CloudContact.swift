// SPDX-License-Identifier: Apache-2.0

/// What a board that is on its network says of its way to the cloud.
public enum CloudContact: Sendable, Equatable {
    /// It connects to this MQTT broker; `host`, or `host:port`.
    case connecting(to: String)
    /// It has no certificate, so it stays away from the cloud.
    case unclaimed
}
