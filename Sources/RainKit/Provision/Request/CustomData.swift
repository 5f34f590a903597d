// SPDX-License-Identifier: Apache-2.0

/// Data for an endpoint that the board's application has added (`network_prov_mgr_endpoint_create`): settings that its Wi-Fi or its cloud needs and
/// that provisioning has no place for.
public struct CustomData: Sendable, Hashable {
    /// Such as `custom-data`.
    public var endpoint: String
    /// As the application reads them.
    public var payload: [UInt8]

    public init(_ payload: [UInt8], for endpoint: String) {
        self.endpoint = endpoint
        self.payload = payload
    }
}
