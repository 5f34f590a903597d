// SPDX-License-Identifier: Apache-2.0

/// Why a QR code could not be drawn or read.
public struct QRCodeError: Error, Sendable, Equatable {
    /// What kind of fault it is.
    public enum Code: Sendable, Equatable {
        /// A library is not installed: ``QRCodeError/package`` brings it.
        case libraryMissing
        /// More than a QR code holds, or nothing.
        case unsuitableLength
        /// Neither PNG nor JPEG, or one that is damaged.
        case unreadableImage
        /// More pixels than are looked at.
        case imageTooLarge
        /// An image without a QR code that can be read.
        case noCode
        /// A library has failed.
        case failed
    }

    /// What kind of fault it is.
    public var code: Code
    /// The Debian package of the missing library.
    public var package: String?

    init(_ code: Code, package: String? = nil) {
        self.code = code
        self.package = package
    }
}
