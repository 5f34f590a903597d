// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Glibc
import RainAccount
import RainMaker
import RainPrivateFiles

extension NodeMappingDescription {
    /// Reads the file that describes the user's own cloud. What is in it decides where tokens are sent.
    ///
    /// - Parameter mayBeAbsent: whether nil stands for a file that is not there.
    /// - Throws: `unreadableDefinition`, naming what is wrong.
    public init?(file path: String, mayBeAbsent: Bool = false) throws(AccountError) {
        let bytes: [UInt8]?
        do throws(PrivateFileError) {
            bytes = try OwnedFile.contents(of: path, maximumBytes: Self.limits.maximumBytes)
        } catch {
            throw AccountError(.unreadableDefinition, message: "\(error)")
        }
        guard let bytes else {
            if mayBeAbsent { return nil }
            throw AccountError(.unreadableDefinition, message: "there is no file \(path) that describes a cloud")
        }
        try self.init(parsing: bytes, origin: path)
    }
}
