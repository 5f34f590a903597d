// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import TestSupport

/// One filled-in message of every kind, as bytes.
enum Samples {
    static let ofEveryMessage: [[UInt8]] =
        session + config + scan + control + rainMaker + localControl

    private static let key = Array(UInt8(1)...32)
    private static let text = Array("node-1".utf8)

    static let session: [[UInt8]] = [
        SessionData(.security0(.init(.command))), SessionData(.security0(.init(.response(.init(.internalError))))),
        SessionData(.security1(.init(.command0(.init(clientPublicKey: key))))),
        SessionData(.security1(.init(.response0(.init(devicePublicKey: key, deviceRandom: Array(key.prefix(16))))))),
        SessionData(.security1(.init(.command1(.init(clientVerifyData: key))))),
        SessionData(.security1(.init(.response1(.init(status: .cryptoError, deviceVerifyData: key))))),
        SessionData(.security2(.init(.command0(.init(clientUsername: text, clientPublicKey: key))))),
        SessionData(.security2(.init(.response0(.init(devicePublicKey: key, deviceSalt: key))))),
        SessionData(.security2(.init(.command1(.init(clientProof: key))))),
        SessionData(.security2(.init(.response1(.init(deviceProof: key, deviceNonce: Array(key.prefix(12))))))),
    ].map { $0.encoded() }

    static let config: [[UInt8]] = [
        NetworkConfigPayload.Payload.commandGetWiFiStatus,
        .responseGetWiFiStatus(.init(state: .connecting)),
        .responseGetWiFiStatus(.init(state: .connecting, detail: .attemptFailed(.init(attemptsRemaining: 2)))),
        .responseGetWiFiStatus(.init(state: .connectionFailed, detail: .failed(.networkNotFound))),
        .responseGetWiFiStatus(
            .init(
                state: .connected,
                detail: .connected(
                    .init(
                        ip4Address: Array("192.168.1.7".utf8), authentication: .wpa2PSK, ssid: text,
                        bssid: Array(key.prefix(6)), channel: 6)))),
        .commandSetWiFiConfig(.init(ssid: text, passphrase: key, bssid: Array(key.prefix(6)), channel: 11)),
        .responseSetWiFiConfig(.init(.invalidArgument)), .commandApplyWiFiConfig,
        .responseApplyWiFiConfig(.init(.success)), .commandGetThreadStatus,
        .responseGetThreadStatus(
            .init(state: .attached, detail: .attached(.init(panID: 7, extendedPANID: key, channel: 15, name: text)))),
        .responseGetThreadStatus(.init(state: .attachingFailed, detail: .failed(.datasetInvalid))),
        .commandSetThreadConfig(.init(dataset: key)), .responseSetThreadConfig(.init(.success)),
        .commandApplyThreadConfig, .responseApplyThreadConfig(.init(.internalError)),
    ].map { NetworkConfigPayload($0).encoded() }

    static let scan: [[UInt8]] = [
        NetworkScanPayload.Payload.commandScanWiFiStart(
            .init(isBlocking: true, isPassive: true, groupChannels: 5, periodMilliseconds: 120)),
        .responseScanWiFiStart, .commandScanWiFiStatus,
        .responseScanWiFiStatus(.init(isFinished: true, resultCount: 6)),
        .commandScanWiFiResult(.init(startIndex: 4, count: 4)),
        .responseScanWiFiResult(
            .init([
                .init(ssid: text, channel: 6, rssi: -42, bssid: Array(key.prefix(6)), authentication: .wpa3PSK),
                .init(rssi: -90),
            ])),
        .commandScanThreadStart(.init(isBlocking: true, channelMask: 0xFFFF)), .responseScanThreadStart,
        .commandScanThreadStatus, .responseScanThreadStatus(.init(resultCount: 1)),
        .commandScanThreadResult(.init(count: 1)),
        .responseScanThreadResult(
            .init([
                .init(
                    panID: 1, channel: 15, rssi: -61, linkQuality: 200, extendedAddress: key, networkName: text,
                    extendedPANID: key)
            ])),
    ].map { NetworkScanPayload($0).encoded() }

    static let control: [[UInt8]] = [
        NetworkControlPayload.Payload.commandWiFiReset, .responseWiFiReset, .commandWiFiReprovision,
        .responseWiFiReprovision, .commandThreadReset, .responseThreadReset, .commandThreadReprovision,
        .responseThreadReprovision,
    ].map { NetworkControlPayload($0, status: .internalError).encoded() }

    static let rainMaker: [[UInt8]] = [
        UserMappingPayload(.commandSetUserMapping(.init(userID: text, secretKey: key))).encoded(),
        UserMappingPayload(.responseSetUserMapping(.init(status: .invalidState, nodeID: text))).encoded(),
        ChallengeResponsePayload(.commandChallengeResponse(.init(payload: key))).encoded(),
        ChallengeResponsePayload(.responseChallengeResponse(.init(payload: key, nodeID: text)), status: .fail)
            .encoded(),
        ChallengeResponsePayload(.commandGetNodeID).encoded(),
        ChallengeResponsePayload(.responseGetNodeID(.init(nodeID: text))).encoded(),
        ChallengeResponsePayload(.commandDisableChallengeResponse).encoded(),
        ChallengeResponsePayload(.responseDisableChallengeResponse, status: .disabled).encoded(),
        ClaimPayload(.commandVerify, .command(.init(offset: 200, payload: key, totalLength: 1000))).encoded(),
        ClaimPayload(.responseInit, .response(.init(status: .noMemory, buffer: .init(payload: key)))).encoded(),
        LocalDataPayload(
            .commandGetData(.init(dataType: .configuration, offset: 7, timestamp: 1_700_000_000, hasTimestamp: true))
        ).encoded(),
        LocalDataPayload(.responseGetData(.init(status: .noMemory, buffer: .init(payload: key)))).encoded(),
    ]

    static let localControl: [[UInt8]] = [
        LocalControlMessage.Payload.commandGetPropertyCount, .responseGetPropertyCount(.init(count: 2)),
        .commandGetPropertyValues(.init([0, 1, 300])),
        .responseGetPropertyValues(.init([.init(name: text, type: 1, flags: 1, value: key), .init()])),
        .commandSetPropertyValues(.init([.init(index: 1, value: key)])),
        .responseSetPropertyValues(.init(.invalidArgument)),
    ].map { LocalControlMessage($0).encoded() }
}
