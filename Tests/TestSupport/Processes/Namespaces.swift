// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What `unshare` needs to be told so that whoever runs the tests may have namespaces: nothing for root, a user namespace for others.
public let namespacePrivileges = geteuid() == 0 ? [] : ["--map-root-user"]
