// SPDX-License-Identifier: Apache-2.0
import Glibc

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
