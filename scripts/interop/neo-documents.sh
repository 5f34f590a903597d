#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Sends RainMaker Neo's account calls as its API documents them, with curl. Prints one line for each step.
#
# usage: neo-documents.sh http://127.0.0.1:PORT
set -euo pipefail
source "$(dirname "$0")/documents.bash"
neo=$1
json() { request -H 'Content-Type: application/json' "$@"; }

tokens=$(json -d '{"username":"ada@example.com","password":"correct-horse"}' "$neo/v1/user/auth/token")
[[ $(member expires_in <<<"$tokens") == 3600 ]] || fail "tokens: $tokens"
user=$(request -H "Authorization: Bearer $(member access_token <<<"$tokens")" "$neo/v1/users/me" | member user_id)
# The payload of the access token, decoded without a library.
payload=$(member access_token <<<"$tokens" | cut -d. -f2 | tr '_-' '/+')
while ((${#payload} % 4)); do payload+==; done
[[ $(base64 -d <<<"$payload" | member sub) == "$user" ]] || fail "sub is not the user's id"
echo "user $user"

old=$(member refresh_token <<<"$tokens")
renewed=$(json -d "{\"refresh_token\":\"$old\"}" "$neo/v1/user/auth/token/refresh")
new=$(member refresh_token <<<"$renewed")
[[ $new != "$old" ]] || fail "the refresh token was not replaced"
echo "renewed"
[[ $(json -o /dev/null -w '%{http_code}' -d "{\"refresh_token\":\"$old\"}" "$neo/v1/user/auth/token/refresh") == 401 ]] || fail "reuse"
[[ $(json -o /dev/null -w '%{http_code}' -d "{\"refresh_token\":\"$new\"}" "$neo/v1/user/auth/token/refresh") == 401 ]] || fail "reuse ends nothing"
echo "reuse ends the sign-in"

tokens=$(json -d '{"username":"ada@example.com","password":"correct-horse"}' "$neo/v1/user/auth/token")
json -f -o /dev/null -d "{\"refresh_token\":\"$(member refresh_token <<<"$tokens")\"}" "$neo/v1/user/auth/signout" || fail "sign-out"
[[ $(request -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $(member access_token <<<"$tokens")" "$neo/v1/users/me") == 401 ]] || fail "signed out"
echo "signed out"
[[ $(json -d '{"username":"ada@example.com","password":"wrong"}' "$neo/v1/user/auth/token" | member message) == "Incorrect username or password." ]] || fail "message"
echo "a refusal has a message"
