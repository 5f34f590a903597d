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
}
