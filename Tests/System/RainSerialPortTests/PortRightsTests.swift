// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import RainSerialPort

@Suite("Who may open a port")
struct PortRightsTests {
    @Test("the port's own group is named, whatever it is called")
    func group() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("", to: "port")
            let path = folder.file("port")
            let group = try #require(getgrnam("dialout")).pointee.gr_gid
            #expect(chown(path, 0, group) == 0 && chmod(path, 0o660) == 0)
            let rights = try #require(PortRights(of: path))
            #expect(rights.group == .named("dialout") && rights.advice.contains("usermod -aG dialout"))
            #expect(chown(path, 0, 54321) == 0)
            #expect(PortRights(of: path)?.group == .numbered(54321))
            #expect(PortRights(of: path)?.advice.contains("number 54321") == true)
            #expect(chown(path, 0, 0) == 0)
            #expect(PortRights(of: path)?.group == PortRights.Group.none)
        }
    }

    @Test("a member whose session is older than the membership is told to sign in again")
    func member() {
        let advice = PortRights(group: .named("uucp"), isMember: true).advice
        #expect(advice.contains("newgrp uucp") && !advice.contains("usermod"))
    }
}
