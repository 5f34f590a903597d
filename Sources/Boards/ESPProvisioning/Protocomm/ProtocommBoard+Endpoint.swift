// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommWire

extension ProtocommBoard {
    public func send(_ payload: [UInt8], to endpoint: String) async throws(ProvisioningError) -> [UInt8] {
        do throws(ProtocommError) {
            return try await session.request(payload, on: Endpoint(name: Array(endpoint.utf8)))
        } catch {
            throw ProvisioningError(error, sendingTo: endpoint)
        }
    }
}

extension ProvisioningError {
    /// The endpoint is named, since it is the caller's own: no other one fails for being misspelt.
    fileprivate init(_ error: ProtocommError, sendingTo endpoint: String) {
        self.init(error)
        if error.code == .noSuchEndpoint {
            message =
                "The board at \(error.peer) has no endpoint \(endpoint): check the name, which the firmware gives it "
                + "(network_prov_mgr_endpoint_create)."
        } else if code != .cancelled {
            message += " It was sent data for its endpoint \(endpoint)"
            // On a console the firmware says nothing of a name that it does not know.
            message += error.code == .refused ? ", which it may not have." : "."
        }
    }
}
