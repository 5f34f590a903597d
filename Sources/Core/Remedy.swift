// SPDX-License-Identifier: Apache-2.0

/// What a user or program can do about an error, in addition to its message.
///
/// Messages are the same in every program that uses these libraries. Acting on a remedy differs: a command names its option, a gateway
/// marks a field of its form. The values are names and numbers, never secrets.
public enum Remedy: Hashable, Sendable {
    // MARK: about a board

    /// Give the board's proof of possession.
    case proofOfPossession
    /// Give the user name of Security 2.
    case securityUserName
    /// Do not require a security scheme: accept the board's.
    case anySecurity
    /// Require the security scheme of this version, which the board offers, after checking that it is the right board.
    case acceptedSecurity(version: Int)
    /// Reach the board by Bluetooth or its own access point instead of this cable.
    case otherTransport
    /// Reach the board through its own access point, which accepts longer requests than a cable or Bluetooth.
    case accessPoint
    /// Name the network instead of choosing one from the board's scan.
    case networkName
    /// Give the password of the network that the board should join.
    case networkPassword
    /// State that the network has no password.
    case openNetwork
    /// Name the deployment's claim service.
    case claimService
    /// Claim the board over its cable, instead of by its firmware.
    case claimOverCable
    /// Read the board's output from its start.
    case boardLog
    /// Set up only the board's Wi-Fi, without an account.
    case withoutMapping
    /// Give the run more time.
    case moreTime
    /// Wait for a board that is not plugged in yet.
    case waiting
    /// Name the board: one of these, if they are known.
    case boardName([String])
    /// Name the serial port: one of these, if they are known.
    case port([String])
    /// Give the board's host.
    case host
    /// Give the address of a node that has local control.
    case localHost
    /// Give the proof of possession of local control. It may be read from the node's parameters if it is in the cloud.
    case localProof(isInCloud: Bool)
    /// Ask the cloud for the node's values, after the board was added to the account.
    case nodeInAccount
    /// Give the password of the board's own access point.
    case accessPointPassword
    /// Reach the board over another transport.
    case anyOtherTransport
    /// Describe the user's own cloud, to which this identity provider's users belong.
    case backend
    /// Name a Python that has Espressif's esptool and esp-idf-nvs-partition-gen.
    case espressifTools
    /// Give the board's MAC address.
    case macAddress
    /// Give the address of the board's partition `fctry` in its flash.
    case flashAddress

    // MARK: about an account

    /// Sign in, also if a session exists.
    case signIn
    /// Look at the session that is stored.
    case storedSession
    /// Look at the cloud's whole answer to a request for the signed-in user.
    case cloudAnswer
    /// Check the settings of the deployment in use, above all its base URL.
    case deploymentSettings
    /// Name a file with the certificates of authorities to trust.
    case certificateAuthorities
    /// Sign in to that provider in one of these modes, which issue an access token.
    case signInMode(provider: String, modes: [String])
    /// Give up the pending mappings of earlier runs.
    case forgottenPending
    /// Sign in at the provider's page, in a browser.
    case signInPage
    /// Sign in by pasting the address at which the browser arrived.
    case pastedAddress
    /// Receive the browser's answer at another port of this machine.
    case otherCallbackPort
    /// Use another way for the browser to come back.
    case otherRedirect
    /// Give the service's base URL.
    case baseURL
    /// Give the client id that the service's operator has assigned.
    case clientID
    /// Give the client secret that the service's operator has issued for the client id.
    case clientSecret
    /// Give the provider's parameter of this name.
    case parameter(name: String)
    /// Give the provider's secret of this name.
    case secretParameter(name: String)
    /// Give the name and password for a server in front of the provider.
    case gateCredentials
    /// Give the application's id at a third party, such as Facebook.
    case applicationID
    /// Give the redirect URI of the code.
    case redirectURI
    /// Change the settings that an earlier sign-in has stored. Parameters of these names can be removed.
    case rememberedSettings([String])
    /// Choose one of the known accounts, deployments or providers.
    case knownAccount, knownDeployment, knownProvider
    /// Read the values of the node with this id later: they show how far an update is.
    case updateState(node: String)
    /// Ask for the state of this update of the node later.
    case updateJob(node: String, job: String)
    /// Start the update that the deployment's dashboard has for the node with this id.
    case updateJobs(node: String)
    /// Choose one of the nodes in the account.
    case knownNode
    /// Give the node with this id another name, because several nodes have the same one.
    case otherNodeName(node: String)
    /// Choose one of the account's groups.
    case knownGroup
    /// Choose one of the user's automations.
    case knownAutomation
    /// Give the request id that sending a command has returned.
    case knownCommand
    /// Continue this batch of boards, or begin another one of the same file.
    case resumedBatch(Int64)
    /// Try the failed boards of this batch again, or begin another one of the same file.
    case retriedBatch(Int64)
    /// Begin a batch in this ledger, or name the ledger that has one.
    case begunLedger
    /// Look which batches there are.
    case knownBatch
    /// Give the file as it was when the batch began, or begin another batch.
    case originalBatchFile
    /// Give a group another group around it, or none.
    case otherParent
    /// Look which of the user's groups are shared.
    case sharedGroups
    /// Give a schedule a time of day or a delay.
    case scheduleTime
    /// Give a schedule the days or the date, beside the time of day.
    case scheduleDays
    /// Give a schedule another time, because its date is over.
    case laterSchedule
    /// Name the node whose copy of a schedule or scene is right.
    case modelNode
    /// Send an entry to the nodes that have no copy of it, by repairing it or by adding them.
    case repairedCopies
    /// Give the values that one of several nodes sets.
    case valuesOfNode
    /// Give the account a name of the user's choice.
    case accountName
    /// Remove the deployment that already has the name.
    case removedDeployment
    /// Keep the session in a file.
    case fileStore
    /// Give the service a session that was exported again.
    case exportedSession

    // MARK: about an MQTT broker

    /// Give the broker the user's name and password.
    case brokerCredentials
    /// Name the certificate authorities to trust for the broker.
    case brokerAuthorities
    /// Give the broker the client's certificate and its key.
    case brokerClientCertificate
}
