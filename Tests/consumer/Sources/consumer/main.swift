// SPDX-License-Identifier: Apache-2.0
import Account
import CCurl
import DBus
import HTTPCore
import Hashing
import JSON
import OAuth2
import Onboarding
import RainKit
import SerialPort
import Threads
import Vocabulary

let own = [
    AccountModule.name, DBusModule.name, HTTPCoreModule.name, HashingModule.name, JSONModule.name, OAuth2Module.name,
    OnboardingModule.name, SerialPortModule.name, ThreadsModule.name, VocabularyModule.name,
]
print("\(own.joined(separator: " ")) CCurl(\(consumer_curl_answer())) beside RainKit's \(RainKitSecret("unprinted"))")
