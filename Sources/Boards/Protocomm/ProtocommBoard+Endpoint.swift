// SPDX-License-Identifier: Apache-2.0
import Protocomm
import ProtocommCore

extension ProtocommBoard {
    public func send(_ payload: [UInt8], to endpoint: String) async throws(ProvisioningError) -> [UInt8] {
        let place = Endpoint(name: Array(endpoint.utf8))
        do throws(ProtocommError) {
            return try await session.request(payload, on: place)
        } catch {
            throw ProvisioningError(error, sendingTo: endpoint, upTo: session.maximumRequestLength(on: place))
        }
    }
}

extension ProvisioningError {
    /// What a board's own access point carries: no transport carries more.
    private static let mostBytes = 4096

    /// The endpoint is named, since it is the caller's own: no other one fails for being misspelt.
    fileprivate init(_ error: ProtocommError, sendingTo endpoint: String, upTo limit: Int?) {
        self.init(error)
        if error.code == .tooLong {
            reason = "too_long"
            message += " Nothing was sent to its endpoint \(endpoint)."
            if let limit, limit >= Self.mostBytes {
                remedies = []
                message += " No other transport carries more: send less at once."
            }
        } else if error.code == .noSuchEndpoint {
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
