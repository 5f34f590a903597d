// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import TestSupport
import Testing

/// That a property means the field of the schema, and not merely one of the same type.
@Suite("Messages, name by name")
struct NameTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let schema: String
        let text: String
        let bytes: [UInt8]
        var testDescription: String { String(text.prefix(60)) }

        init(_ schema: String, _ message: some WireMessage, _ text: String) {
            (self.schema, self.text, bytes) = (schema, text, message.encoded())
        }
    }

    @Test("the text that names each field gives the bytes of our value", arguments: session + config + scan + rest)
    func named(_ one: Case) async throws {
        let written = try await Protoc(schema: one.schema).encode([one.text])
        #expect(written == [one.bytes])
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    static let session: [Case] = [
        Case(
            "session", SessionData(.security0(.init(.command))),
            "sec_ver: SecScheme0 sec0 { msg: S0_Session_Command sc {} }"),
        Case(
            "session", SessionData(.security0(.init(.response(.init(.cryptoError))))),
            "sec0 { msg: S0_Session_Response sr { status: CryptoError } }"),
        Case(
            "session", SessionData(.security1(.init(.command0(.init(clientPublicKey: bytes("a")))))),
            "sec_ver: SecScheme1 sec1 { msg: Session_Command0 sc0 { client_pubkey: 'a' } }"),
        Case(
            "session",
            SessionData(
                .security1(
                    .init(
                        .response0(
                            .init(status: .internalError, devicePublicKey: bytes("a"), deviceRandom: bytes("b")))))),
            """
            sec_ver: SecScheme1
            sec1 { msg: Session_Response0 sr0 { status: InternalError device_pubkey: 'a' device_random: 'b' } }
            """),
        Case(
            "session", SessionData(.security1(.init(.command1(.init(clientVerifyData: bytes("a")))))),
            "sec_ver: SecScheme1 sec1 { msg: Session_Command1 sc1 { client_verify_data: 'a' } }"),
        Case(
            "session",
            SessionData(.security1(.init(.response1(.init(status: .invalidSession, deviceVerifyData: bytes("a")))))),
            "sec_ver: SecScheme1 sec1 { msg: Session_Response1 sr1 { status: InvalidSession device_verify_data: 'a' } }"
        ),
        Case(
            "session",
            SessionData(
                .security2(.init(.command0(.init(clientUsername: bytes("a"), clientPublicKey: bytes("b")))))),
            "sec_ver: SecScheme2 sec2 { msg: S2Session_Command0 sc0 { client_username: 'a' client_pubkey: 'b' } }"),
        Case(
            "session",
            SessionData(
                .security2(
                    .init(
                        .response0(.init(status: .tooManySessions, devicePublicKey: bytes("a"), deviceSalt: bytes("b")))
                    ))),
            """
            sec_ver: SecScheme2
            sec2 { msg: S2Session_Response0 sr0 { status: TooManySessions device_pubkey: 'a' device_salt: 'b' } }
            """),
        Case(
            "session", SessionData(.security2(.init(.command1(.init(clientProof: bytes("a")))))),
            "sec_ver: SecScheme2 sec2 { msg: S2Session_Command1 sc1 { client_proof: 'a' } }"),
        Case(
            "session",
            SessionData(
                .security2(
                    .init(
                        .response1(.init(status: .invalidProtocol, deviceProof: bytes("a"), deviceNonce: bytes("b")))))),
            """
            sec_ver: SecScheme2
            sec2 { msg: S2Session_Response1 sr1 { status: InvalidProto device_proof: 'a' device_nonce: 'b' } }
            """),
    ]

    static let config: [Case] = [
        ("", NetworkConfigPayload.Payload.commandGetWiFiStatus, "cmd_get_wifi_status {}"),
        (
            "",
            .responseGetWiFiStatus(
                .init(
                    status: .internalError, state: .disconnected,
                    detail: .connected(
                        .init(
                            ip4Address: bytes("a"), authentication: .wpaWPA2PSK, ssid: bytes("b"), bssid: bytes("c"),
                            channel: 6)))),
            """
            msg: TypeRespGetWifiStatus resp_get_wifi_status { status: InternalError wifi_sta_state: Disconnected
            wifi_connected { ip4_addr: 'a' auth_mode: WPA_WPA2_PSK ssid: 'b' bssid: 'c' channel: 6 } }
            """
        ),
        (
            "", .responseGetWiFiStatus(.init(state: .connectionFailed, detail: .failed(.networkNotFound))),
            """
            msg: TypeRespGetWifiStatus
            resp_get_wifi_status { wifi_sta_state: ConnectionFailed wifi_fail_reason: WifiNetworkNotFound }
            """
        ),
        (
            "",
            .responseGetWiFiStatus(.init(state: .connecting, detail: .attemptFailed(.init(attemptsRemaining: 2)))),
            """
            msg: TypeRespGetWifiStatus
            resp_get_wifi_status { wifi_sta_state: Connecting attempt_failed { attempts_remaining: 2 } }
            """
        ),
        (
            "",
            .commandSetWiFiConfig(
                .init(ssid: bytes("a"), passphrase: bytes("b"), bssid: bytes("c"), channel: 11)),
            "msg: TypeCmdSetWifiConfig cmd_set_wifi_config { ssid: 'a' passphrase: 'b' bssid: 'c' channel: 11 }"
        ),
        (
            "", .responseSetWiFiConfig(.init(.invalidArgument)),
            "msg: TypeRespSetWifiConfig resp_set_wifi_config { status: InvalidArgument }"
        ),
        ("", .commandApplyWiFiConfig, "msg: TypeCmdApplyWifiConfig cmd_apply_wifi_config {}"),
        (
            "", .responseApplyWiFiConfig(.init(.invalidSecurityScheme)),
            "msg: TypeRespApplyWifiConfig resp_apply_wifi_config { status: InvalidSecScheme }"
        ),
        ("", .commandGetThreadStatus, "msg: TypeCmdGetThreadStatus cmd_get_thread_status {}"),
        (
            "",
            .responseGetThreadStatus(
                .init(
                    status: .internalError, state: .attaching,
                    detail: .attached(
                        .init(panID: 1, extendedPANID: bytes("a"), channel: 2, name: bytes("b"))))),
            """
            msg: TypeRespGetThreadStatus resp_get_thread_status { status: InternalError thread_state: Attaching
            thread_attached { pan_id: 1 ext_pan_id: 'a' channel: 2 name: 'b' } }
            """
        ),
        (
            "", .responseGetThreadStatus(.init(state: .attachingFailed, detail: .failed(.networkNotFound))),
            """
            msg: TypeRespGetThreadStatus
            resp_get_thread_status { thread_state: AttachingFailed thread_fail_reason: ThreadNetworkNotFound }
            """
        ),
        (
            "", .responseGetThreadStatus(.init(state: .detached, detail: .failed(.datasetInvalid))),
            """
            msg: TypeRespGetThreadStatus
            resp_get_thread_status { thread_state: Dettached thread_fail_reason: DatasetInvalid }
            """
        ),
        (
            "", .commandSetThreadConfig(.init(dataset: bytes("a"))),
            "msg: TypeCmdSetThreadConfig cmd_set_thread_config { dataset: 'a' }"
        ),
        (
            "", .responseSetThreadConfig(.init(.internalError)),
            "msg: TypeRespSetThreadConfig resp_set_thread_config { status: InternalError }"
        ),
        ("", .commandApplyThreadConfig, "msg: TypeCmdApplyThreadConfig cmd_apply_thread_config {}"),
        (
            "", .responseApplyThreadConfig(.init(.internalError)),
            "msg: TypeRespApplyThreadConfig resp_apply_thread_config { status: InternalError }"
        ),
    ].map { Case("config", NetworkConfigPayload($0.1), $0.2) }

    static let scan: [Case] = [
        (
            NetworkScanPayload(
                .commandScanWiFiStart(
                    .init(isBlocking: true, isPassive: false, groupChannels: 5, periodMilliseconds: 120))),
            "cmd_scan_wifi_start { blocking: true passive: false group_channels: 5 period_ms: 120 }"
        ),
        (
            NetworkScanPayload(.commandScanWiFiStart(.init(isPassive: true))),
            "cmd_scan_wifi_start { passive: true }"
        ),
        (
            NetworkScanPayload(.responseScanWiFiStart, status: .internalError),
            "msg: TypeRespScanWifiStart status: InternalError resp_scan_wifi_start {}"
        ),
        (NetworkScanPayload(.commandScanWiFiStatus), "msg: TypeCmdScanWifiStatus cmd_scan_wifi_status {}"),
        (
            NetworkScanPayload(.responseScanWiFiStatus(.init(isFinished: true, resultCount: 6))),
            "msg: TypeRespScanWifiStatus resp_scan_wifi_status { scan_finished: true result_count: 6 }"
        ),
        (
            NetworkScanPayload(.commandScanWiFiResult(.init(startIndex: 4, count: 2))),
            "msg: TypeCmdScanWifiResult cmd_scan_wifi_result { start_index: 4 count: 2 }"
        ),
        (
            NetworkScanPayload(
                .responseScanWiFiResult(
                    .init([
                        .init(
                            ssid: bytes("a"), channel: 6, rssi: -42, bssid: bytes("b"), authentication: .wpa2WPA3PSK),
                        .init(rssi: -90),
                    ]))),
            """
            msg: TypeRespScanWifiResult resp_scan_wifi_result {
            entries { ssid: 'a' channel: 6 rssi: -42 bssid: 'b' auth: WPA2_WPA3_PSK } entries { rssi: -90 } }
            """
        ),
        (
            NetworkScanPayload(.commandScanThreadStart(.init(isBlocking: true, channelMask: 7))),
            "msg: TypeCmdScanThreadStart cmd_scan_thread_start { blocking: true channel_mask: 7 }"
        ),
        (NetworkScanPayload(.responseScanThreadStart), "msg: TypeRespScanThreadStart resp_scan_thread_start {}"),
        (NetworkScanPayload(.commandScanThreadStatus), "msg: TypeCmdScanThreadStatus cmd_scan_thread_status {}"),
        (
            NetworkScanPayload(.responseScanThreadStatus(.init(isFinished: true, resultCount: 1))),
            "msg: TypeRespScanThreadStatus resp_scan_thread_status { scan_finished: true result_count: 1 }"
        ),
        (
            NetworkScanPayload(.commandScanThreadResult(.init(startIndex: 1, count: 2))),
            "msg: TypeCmdScanThreadResult cmd_scan_thread_result { start_index: 1 count: 2 }"
        ),
        (
            NetworkScanPayload(
                .responseScanThreadResult(
                    .init([
                        .init(
                            panID: 1, channel: 2, rssi: -3, linkQuality: 4, extendedAddress: bytes("a"),
                            networkName: bytes("b"), extendedPANID: bytes("c"))
                    ]))),
            """
            msg: TypeRespScanThreadResult resp_scan_thread_result {
            entries { pan_id: 1 channel: 2 rssi: -3 lqi: 4 ext_addr: 'a' network_name: 'b' ext_pan_id: 'c' } }
            """
        ),
    ].map { Case("scan", $0.0, $0.1) }

    static let rest: [Case] = control + rainMaker + localControl

    private static let control: [Case] = [
        (NetworkControlPayload.Payload.commandWiFiReset, "TypeCmdCtrlWifiReset", "cmd_ctrl_wifi_reset"),
        (.responseWiFiReset, "TypeRespCtrlWifiReset", "resp_ctrl_wifi_reset"),
        (.commandWiFiReprovision, "TypeCmdCtrlWifiReprov", "cmd_ctrl_wifi_reprov"),
        (.responseWiFiReprovision, "TypeRespCtrlWifiReprov", "resp_ctrl_wifi_reprov"),
        (.commandThreadReset, "TypeCmdCtrlThreadReset", "cmd_ctrl_thread_reset"),
        (.responseThreadReset, "TypeRespCtrlThreadReset", "resp_ctrl_thread_reset"),
        (.commandThreadReprovision, "TypeCmdCtrlThreadReprov", "cmd_ctrl_thread_reprov"),
        (.responseThreadReprovision, "TypeRespCtrlThreadReprov", "resp_ctrl_thread_reprov"),
    ].map {
        Case(
            "control", NetworkControlPayload($0.0, status: .internalError),
            "msg: \($0.1) status: InternalError \($0.2) {}")
    }

    private static let buffer = PayloadBuffer(offset: 1, payload: bytes("a"), totalLength: 2)
    private static let bufferText = "Offset: 1 Payload: 'a' TotalLen: 2"

    private static let rainMaker: [Case] =
        [
            Case(
                "user_mapping",
                UserMappingPayload(.commandSetUserMapping(.init(userID: bytes("a"), secretKey: bytes("b")))),
                "cmd_set_user_mapping { UserID: 'a' SecretKey: 'b' }"),
            Case(
                "user_mapping",
                UserMappingPayload(.responseSetUserMapping(.init(status: .invalidState, nodeID: bytes("a")))),
                "msg: TypeRespSetUserMapping resp_set_user_mapping { Status: InvalidState NodeId: 'a' }"),
            Case(
                "challenge", ChallengeResponsePayload(.commandChallengeResponse(.init(payload: bytes("a")))),
                "cmdChallengeResponsePayload { payload: 'a' }"),
            Case(
                "challenge",
                ChallengeResponsePayload(
                    .responseChallengeResponse(.init(payload: bytes("a"), nodeID: bytes("b"))),
                    status: .invalidParameter),
                """
                msg: TypeRespChallengeResponse status: InvalidParam
                respChallengeResponsePayload { payload: 'a' node_id: 'b' }
                """),
            Case(
                "challenge", ChallengeResponsePayload(.commandGetNodeID), "msg: TypeCmdGetNodeID cmdGetNodeIDPayload {}"
            ),
            Case(
                "challenge", ChallengeResponsePayload(.responseGetNodeID(.init(nodeID: bytes("a"))), status: .fail),
                "msg: TypeRespGetNodeID status: Fail respGetNodeIDPayload { node_id: 'a' }"),
            Case(
                "challenge", ChallengeResponsePayload(.commandDisableChallengeResponse),
                "msg: TypeCmdDisableChalResp cmdDisableChalRespPayload {}"),
            Case(
                "challenge", ChallengeResponsePayload(.responseDisableChallengeResponse, status: .disabled),
                "msg: TypeRespDisableChalResp status: Disabled respDisableChalRespPayload {}"),
            Case(
                "local_data",
                LocalDataPayload(
                    .commandGetData(.init(dataType: .configuration, offset: 1, timestamp: -2, hasTimestamp: true))),
                "cmdGetData { DataType: TypeConfig Offset: 1 Timestamp: -2 HasTimestamp: true }"),
            Case(
                "local_data", LocalDataPayload(.responseGetData(.init(status: .noMemory, buffer: buffer))),
                "msg: TypeRespGetData respGetData { Status: NoMemory Buf { \(bufferText) } }"),
        ]
        + [
            (ClaimMessageType.commandStart, "TypeCmdClaimStart"), (.commandInit, "TypeCmdClaimInit"),
            (.commandVerify, "TypeCmdClaimVerify"), (.commandAbort, "TypeCmdClaimAbort"),
        ].map { Case("claim", ClaimPayload($0.0, .command(buffer)), "msg: \($0.1) cmdPayload { \(bufferText) }") }
        + [
            (ClaimMessageType.responseStart, "TypeRespClaimStart", ClaimStatus.fail, "Fail"),
            (.responseInit, "TypeRespClaimInit", .invalidParameter, "InvalidParam"),
            (.responseVerify, "TypeRespClaimVerify", .invalidState, "InvalidState"),
            (.responseAbort, "TypeRespClaimAbort", .noMemory, "NoMemory"),
        ].map {
            Case(
                "claim", ClaimPayload($0.0, .response(.init(status: $0.2))),
                "msg: \($0.1) respPayload { Status: \($0.3) Buf {} }")
        }

    private static let localControl: [Case] = [
        (LocalControlMessage.Payload.commandGetPropertyCount, "cmd_get_prop_count {}"),
        (
            .responseGetPropertyCount(.init(status: .internalError, count: 2)),
            "msg: TypeRespGetPropertyCount resp_get_prop_count { status: InternalError count: 2 }"
        ),
        (
            .commandGetPropertyValues(.init([0, 1, 300])),
            "msg: TypeCmdGetPropertyValues cmd_get_prop_vals { indices: [0, 1, 300] }"
        ),
        (
            .responseGetPropertyValues(
                .init(
                    status: .internalError,
                    [.init(status: .invalidArgument, name: bytes("a"), type: 1, flags: 2, value: bytes("b"))])),
            """
            msg: TypeRespGetPropertyValues resp_get_prop_vals { status: InternalError
            props { status: InvalidArgument name: 'a' type: 1 flags: 2 value: 'b' } }
            """
        ),
        (
            .commandSetPropertyValues(.init([.init(index: 1, value: bytes("a")), .init(index: 2, value: bytes("b"))])),
            """
            msg: TypeCmdSetPropertyValues
            cmd_set_prop_vals { props { index: 1 value: 'a' } props { index: 2 value: 'b' } }
            """
        ),
        (
            .responseSetPropertyValues(.init(.invalidArgument)),
            "msg: TypeRespSetPropertyValues resp_set_prop_vals { status: InvalidArgument }"
        ),
    ].map { Case("local_control", LocalControlMessage($0.0), $0.1) }
}
