// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommWire

extension ProtocommBoard {
    public func send(_ payload: [UInt8], to endpoint: String) async throws(ProvisioningError) -> [UInt8] {
        do throws(ProtocommError) {
            return try await session.request(payload, on: Endpoint(name: Array(endpoint.utf8)))
        } catch {
            throw ProvisioningError(error)
        }
    }
}
