// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import Testing

@Suite("Libraries that are opened when they are needed")
struct SharedLibraryTests {
    @Test("a function is found in the library")
    func found() throws {
        let identify: @convention(c) () -> Int32 = try SharedLibrary("libc.so.6").function("getpid")
        #expect(identify() == getpid())
    }

    @Test("a missing library or function is named")
    func missing() throws {
        #expect(throws: SharedLibrary.Missing(name: "librain-none.so.1")) { _ = try SharedLibrary("librain-none.so.1") }
        let library = try SharedLibrary("libc.so.6")
        #expect(throws: SharedLibrary.Missing(name: "rain_none")) { _ = try library.address("rain_none") }
    }
}
