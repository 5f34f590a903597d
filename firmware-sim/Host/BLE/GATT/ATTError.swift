// SPDX-License-Identifier: Apache-2.0

/// An error of the Attribute Protocol, as a peripheral sends it (Bluetooth Core Specification, Vol 3, Part F, 3.4.1.1).
struct ATTError: Error, Hashable, Sendable {
    var code: UInt8

    static let readNotPermitted = ATTError(code: 0x02)
    static let writeNotPermitted = ATTError(code: 0x03)
    /// "Invalid PDU": what NimBLE's protocomm answers when a handler failed.
    static let invalidPDU = ATTError(code: 0x04)
    static let insufficientAuthentication = ATTError(code: 0x05)
    static let requestNotSupported = ATTError(code: 0x06)
    static let invalidOffset = ATTError(code: 0x07)
    static let insufficientAuthorization = ATTError(code: 0x08)
    static let insufficientKeySize = ATTError(code: 0x0C)
    static let invalidValueLength = ATTError(code: 0x0D)
    static let unlikely = ATTError(code: 0x0E)
    static let insufficientEncryption = ATTError(code: 0x0F)
    /// Bluedroid's `ESP_GATT_ERROR`: what its protocomm answers when a handler failed, before it closes the link.
    static let bluedroidError = ATTError(code: 0x85)
}
