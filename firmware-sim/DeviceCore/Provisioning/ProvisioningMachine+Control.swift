// SPDX-License-Identifier: Apache-2.0
import ProtocommCore

/// `prov-ctrl`.
extension ProvisioningMachine {
    mutating func respondToControl(_ request: [UInt8], now: UInt64) throws(HandlerFailure) -> [UInt8] {
        let message: NetworkControlPayload
        do { message = try NetworkControlPayload(decoding: request) } catch { throw HandlerFailure() }
        advance(to: now)
        switch message.message {
        case .commandWiFiReset: return NetworkControlPayload(.responseWiFiReset, status: reset()).encoded()
        case .commandWiFiReprovision:
            return NetworkControlPayload(.responseWiFiReprovision, status: reprovision()).encoded()
        case .commandThreadReset:
            return NetworkControlPayload(.responseThreadReset, status: .invalidArgument).encoded()
        case .commandThreadReprovision:
            return NetworkControlPayload(.responseThreadReprovision, status: .invalidArgument).encoded()
        default: throw HandlerFailure()
        }
    }
}
