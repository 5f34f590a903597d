// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import RainIO

@Suite("Who may open a port")
struct PortRightsTests {
    @Test(
        "the port's own group is named, whatever it is called",
        .enabled(if: geteuid() == 0, "only root gives files away"))
    func group() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("", to: "port")
            let path = folder.file("port")
            let group = try #require(getgrnam("dialout")).pointee.gr_gid
            #expect(chown(path, 0, group) == 0 && chmod(path, 0o660) == 0)
            let rights = try #require(PortRights(of: path))
            #expect(rights.group == .named("dialout"))
            #expect(chown(path, 0, 54321) == 0)
            #expect(PortRights(of: path)?.group == .numbered(54321))
            #expect(chown(path, 0, 0) == 0)
            #expect(PortRights(of: path)?.group == PortRights.Group.none)
        }
    }

    @Test("a group that may only read, or nothing, is no port's own")
    func noRights() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("", to: "port")
            let path = folder.file("port")
            for mode: mode_t in [0o600, 0o640, 0o620] {
                #expect(chmod(path, mode) == 0)
                #expect(PortRights(of: path)?.group == PortRights.Group.none)
            }
            #expect(chmod(path, 0o660) == 0)
            #expect((PortRights(of: path)?.group == PortRights.Group.none) == (getegid() == 0))
            #expect(PortRights(of: folder.file("absent")) == nil)
        }
    }

    @Test("the advice names the group, or its number, and what gives rights to it")
    func advice() {
        #expect(PortRights(group: .named("dialout"), isMember: false).advice.contains("usermod -aG dialout"))
        #expect(PortRights(group: .numbered(54321), isMember: false).advice.contains("number 54321"))
        #expect(PortRights(group: .none, isMember: false).advice.contains("Only root"))
    }

    @Test("a member with a session older than the membership is advised to sign in again")
    func member() {
        let advice = PortRights(group: .named("uucp"), isMember: true).advice
        #expect(advice.contains("newgrp uucp") && !advice.contains("usermod"))
    }
}
