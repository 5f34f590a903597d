// SPDX-License-Identifier: Apache-2.0
import CRainOpenSSL

/// Lends `bytes` to libcrypto as a source to read from.
func withReadingBIO<Result>(_ bytes: [UInt8], _ body: (OpaquePointer) -> Result?) -> Result? {
    bytes.withUnsafeBytes { buffer in
        guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
        defer { BIO_free(bio) }
        return body(bio)
    }
}

/// What `body` writes. Empty if libcrypto is out of memory.
func writePEM(_ body: (OpaquePointer) -> Int32) -> [UInt8] {
    guard let bio = BIO_new(BIO_s_secmem()) else { return [] }
    defer { BIO_free(bio) }
    guard body(bio) == 1 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: BIO_ctrl_pending(bio)) { buffer, count in
        count = max(0, Int(BIO_read(bio, buffer.baseAddress, Int32(clamping: buffer.count))))
    }
}

/// The callback of every `PEM_read_bio_…`: without it, libcrypto would ask for a pass phrase on the terminal or on standard input, and the
/// thread that reads would wait.
package func refusePassword(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ writing: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 { -1 }
