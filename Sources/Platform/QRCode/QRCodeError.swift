// SPDX-License-Identifier: Apache-2.0
import Glibc

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

/// A library that is opened when it is first needed, and stays open.
struct SharedLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    /// Throws `libraryMissing` with the package that brings it.
    init(_ name: String, package: String) throws(QRCodeError) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw QRCodeError(.libraryMissing, package: package)
        }
        self.handle = handle
    }

    /// A function of it, of which the caller knows the C type.
    func function<Function>(_ name: String, as type: Function.Type) throws(QRCodeError) -> Function {
        guard let symbol = dlsym(handle, name) else { throw QRCodeError(.failed) }
        return unsafeBitCast(symbol, to: type)
    }
}
