// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Glibc
import RainAccount
import RainMaker
import RainPrivateFiles

extension NodeMappingDescription {
    /// Reads the file that describes the user's own cloud. The description decides where tokens are sent.
    ///
    /// - Parameter mayBeAbsent: whether an absent file gives nil instead of an error.
    /// - Throws: `unreadableDefinition`, which names the problem.
    public init?(file path: String, mayBeAbsent: Bool = false) throws(AccountError) {
        let bytes: [UInt8]?
        do throws(PrivateFileError) {
            bytes = try OwnedFile.contents(of: path, maximumBytes: Self.limits.maximumBytes)
        } catch {
            throw AccountError(.unreadableDefinition, message: "\(error)")
        }
        guard let bytes else {
            if mayBeAbsent { return nil }
            throw AccountError(
                .unreadableDefinition, message: "the file \(path) with the description of the cloud does not exist")
        }
        try self.init(parsing: bytes, origin: path)
    }
}
