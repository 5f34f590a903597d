// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainKit
import TestSupport
import Testing

@Suite("The folder of the official client")
struct OfficialClientFolderTests {
    @Test(
        "an absent folder, a file, and a path that cannot be read are distinguished",
        arguments: [
            ("none", AccountError.Code.notSignedIn, "does not exist"),
            ("file/below", .notSignedIn, "does not exist"),
            ("file", .storeUnreadable, "is a file"),
            // Its name is longer than the system allows.
            (String(repeating: "a", count: 300), .storeUnreadable, "File name too long"),
        ])
    func unusable(path: String, code: AccountError.Code, words: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.write("x", to: "file")
            let error = #expect(throws: AccountError.self) {
                try OfficialClientFolder(path: "\(folder.path)/\(path)").load()
            }
            #expect(error?.code == code && error?.message.contains(words) == true, "\(String(describing: error))")
        }
    }
}
