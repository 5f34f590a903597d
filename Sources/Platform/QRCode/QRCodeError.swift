// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Why a QR code could not be drawn or read.
public struct QRCodeError: Error, Sendable, Equatable {
    /// The kind of failure.
    public enum Code: Sendable, Equatable {
        /// A library is not installed; ``QRCodeError/package`` names its package.
        case libraryMissing
        /// More than a QR code holds, or empty.
        case unsuitableLength
        /// The image is neither PNG nor JPEG, or is damaged.
        case unreadableImage
        /// The image has more pixels than the limit.
        case imageTooLarge
        /// The image has no readable QR code.
        case noCode
        /// A library has failed.
        case failed
    }

    /// The kind of failure.
    public var code: Code
    /// The Debian package of the missing library.
    public var package: String?

    init(_ code: Code, package: String? = nil) {
        self.code = code
        self.package = package
    }
}

extension SharedLibrary {
    /// Opens a library. Throws `libraryMissing` with the name of its package.
    init(_ name: String, package: String) throws(QRCodeError) {
        guard let library = try? SharedLibrary(name) else { throw QRCodeError(.libraryMissing, package: package) }
        self = library
    }

    /// Returns a function of the library, or throws `failed`. The caller must know its C type.
    func required<Function>(_ name: String, as type: Function.Type) throws(QRCodeError) -> Function {
        guard let function = try? function(name, as: type) else { throw QRCodeError(.failed) }
        return function
    }
}
