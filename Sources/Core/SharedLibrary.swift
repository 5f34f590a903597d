// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A library of the system that is opened when it is first needed, and stays open. So a program also starts where the library is not
/// installed.
///
/// libcurl alone is opened elsewhere (`CRainCurl`): some of its functions have variable arguments, which only C can call.
package struct SharedLibrary: @unchecked Sendable {
    /// The name of a library that cannot be opened, or of a function that it does not have.
    package struct Missing: Error, Equatable {
        package var name: String

        package init(name: String) { self.name = name }
    }

    private let handle: UnsafeMutableRawPointer

    /// Opens a library by its file name, such as `libpng16.so.16`.
    package init(_ name: String) throws(Missing) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { throw Missing(name: name) }
        self.handle = handle
    }

    /// Returns the address of a name in the library, or in a library that it depends on.
    package func address(_ name: String) throws(Missing) -> UnsafeMutableRawPointer {
        guard let address = dlsym(handle, name) else { throw Missing(name: name) }
        return address
    }

    /// Returns a function of the library. The caller must know its C type, which is `@convention(c)`.
    package func function<Function>(_ name: String, as type: Function.Type = Function.self) throws(Missing) -> Function
    {
        unsafeBitCast(try address(name), to: type)
    }
}
