// SPDX-License-Identifier: Apache-2.0
import Glibc

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

/// A library that is opened when it is first needed, and stays open.
struct SharedLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    /// Opens a library. Throws `libraryMissing` with the name of its package.
    init(_ name: String, package: String) throws(QRCodeError) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw QRCodeError(.libraryMissing, package: package)
        }
        self.handle = handle
    }

    /// Returns a function of the library. The caller must know its C type.
    func function<Function>(_ name: String, as type: Function.Type) throws(QRCodeError) -> Function {
        guard let symbol = dlsym(handle, name) else { throw QRCodeError(.failed) }
        return unsafeBitCast(symbol, to: type)
    }
}
