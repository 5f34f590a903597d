// SPDX-License-Identifier: Apache-2.0

/// What a person or program that gets an error can do about it, beside what its message says.
///
/// Messages are the same in every program that uses these libraries. How the user acts on a remedy differs: a command names its option, a
/// gateway marks a field of its form. The values are names and numbers, never secrets.
public enum Remedy: Hashable, Sendable {
    // MARK: about a board

    /// Give the board's proof of possession.
    case proofOfPossession
    /// Give the user name of Security 2.
    case securityUserName
    /// Do not insist on a scheme: follow the board's.
    case anySecurity
    /// Having made sure that it is the right board, insist on the scheme of this version, which is the one it offers.
    case acceptedSecurity(version: Int)
    /// Reach the board by Bluetooth or its own access point, not by this cable.
    case otherTransport
    /// Reach the board through its own access point, which takes longer requests than a cable or Bluetooth does.
    case accessPoint
    /// Name the network instead of choosing from those that the board hears.
    case networkName
    /// Give the password of the network that the board is to join.
    case networkPassword
    /// Say that the network has no password.
    case openNetwork
    /// Name the deployment's claim service.
    case claimService
    /// Claim the board over its cable, in the place of its firmware.
    case claimOverCable
    /// Read what the board prints from its start on.
    case boardLog
    /// Set up the board's Wi-Fi alone, without an account.
    case withoutMapping
    /// Give the run more time.
    case moreTime
    /// Wait for a board that is not plugged in yet.
    case waiting
    /// Name the board: one of these, where they are known.
    case boardName([String])
    /// Name the serial port: one of these, where they are known.
    case port([String])
    /// Give the board's host.
    case host
    /// Give the password of the network that the board itself opens.
    case accessPointPassword
    /// Reach the board in another way.
    case anyOtherTransport
    /// Describe the user's own cloud, to which this identity provider's users belong.
    case backend

    // MARK: about an account

    /// Sign in, or sign in anew.
    case signIn
    /// Sign in to that provider in one of these modes, which give an access token.
    case signInMode(provider: String, modes: [String])
    /// Give up what earlier runs left for the cloud to confirm.
    case forgottenPending
    /// Sign in at the provider's page, in a browser.
    case signInPage
    /// Sign in by handing over the address that the browser ended at.
    case pastedAddress
    /// Have the browser's answer sent to another port of this machine.
    case otherCallbackPort
    /// Have the browser come back in another way.
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
    /// Give the name and password that a server in front of the provider asks for.
    case gateCredentials
    /// Give the id that the application has at a third party, such as Facebook.
    case applicationID
    /// Give the redirect URI that a code belongs to.
    case redirectURI
    /// Change the settings that an earlier sign-in has left behind: parameters of these names can be forgotten.
    case rememberedSettings([String])
    /// Choose one of the accounts, deployments or providers that are known here.
    case knownAccount, knownDeployment, knownProvider
    /// Give the account a name of the user's own.
    case accountName
    /// Remove the deployment that has the name.
    case removedDeployment
    /// Keep the session in a file.
    case fileStore
    /// Give the service a session that was exported anew.
    case exportedSession
}
