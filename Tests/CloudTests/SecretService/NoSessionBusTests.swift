// SPDX-License-Identifier: Apache-2.0
import RainAccount
import TestSupport
import Testing

@Suite("Secret Service without a bus")
struct NoSessionBusTests {
    @Test(
        "no session bus means no Secret Service: none is started, whatever the environment says",
        arguments: [
            [:], ["DBUS_SESSION_BUS_ADDRESS": ""], ["DBUS_SESSION_BUS_ADDRESS": "autolaunch:"],
            ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere;autolaunch:scope=*"],
            ["DBUS_SESSION_BUS_ADDRESS": "unixexec:path=dbus-daemon"], ["XDG_RUNTIME_DIR": "/nowhere"],
            ["XDG_RUNTIME_DIR": "relative"],
        ])
    func noBus(environment: [String: String]) async throws {
        let store = SecretServiceStore(lockFolder: "/nowhere", environment: environment)
        let key = try CredentialKey("sim")
        #expect(await accountError { () throws(AccountError) in try await store.load(key) }?.code == .storeAbsent)
        let probed = await accountError { () throws(AccountError) in try await store.probe(key, within: .seconds(120)) }
        #expect(probed?.code == .storeAbsent)
    }

    @Test("an address without a transport is described as none", arguments: ["/run/user/0/bus", "unix:path=/a;/b"])
    func malformed(address: String) async throws {
        let store = SecretServiceStore(lockFolder: "/nowhere", environment: ["DBUS_SESSION_BUS_ADDRESS": address])
        let key = try CredentialKey("sim")
        let error = await accountError { () throws(AccountError) in try await store.load(key) }
        #expect(error?.code == .storeAbsent)
        #expect(error?.message.contains("is not an address of D-Bus") == true, "\(error as Any)")
    }
}
