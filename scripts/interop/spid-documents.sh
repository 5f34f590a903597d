#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Sends the requests of SPiD's documents "Login" and "OAuth 2.0 authentication with SPiD on mobile devices" exactly, with curl as device,
# browser and backend. Only host, client and user differ. Prints one line for each step, and fails at the first that differs from the
# documents.
#
# usage: spid-documents.sh http://127.0.0.1:PORT
set -euo pipefail
source "$(dirname "$0")/documents.bash"
spid=$1
jar=$(mktemp)
trap 'rm -f "$jar"' EXIT

# 1. "Direct user to authorize your app on SPiD", and the user's steps there: sign in, agree to the terms.
page="$spid/login?client_id=app-1&response_type=code&redirect_uri=spidmobile-app-1%3A%2F%2Flogin"
request -b "$jar" -c "$jar" "$page" | grep -q 'name="password"' || fail "no sign-in page"
terms=$(request -b "$jar" -c "$jar" --data-urlencode username=ada@example.com --data-urlencode password=correct-horse "$page")
handle=$(sed -n 's/.*name="handle" value="\([0-9a-f]*\)".*/\1/p' <<<"$terms")
[[ -n $handle ]] || fail "no consent page"
# 2. "The server redirects the user back to the application with an OAuth code".
back=$(location -b "$jar" -c "$jar" -d "handle=$handle" -d action=allow "$page")
[[ $back == spidmobile-app-1://login?code=* ]] || fail "redirected to $back"
code=${back#*code=}
echo "redirected with a code"

# 3. "Use the OAuth code to get a permanent OAuth token by POST-ing the code along with your credentials".
tokens=$(request -d client_id=app-1 -d client_secret=app-1-secret -d redirect_uri=spidmobile-app-1%3A%2F%2Flogin \
    -d grant_type=authorization_code -d "code=$code" -d scope=ddf -d state= "$spid/oauth/token")
# 4. "Parse the response": these members, user_id as text.
python3 - "$tokens" <<'P'
import json, re, sys
reply = json.loads(sys.argv[1])
assert re.fullmatch("[0-9a-f]{40}", reply["access_token"]) and re.fullmatch("[0-9a-f]{40}", reply["refresh_token"])
assert reply["expires_in"] == 3600 and reply["user_id"] == "1001" and reply["is_admin"] is False
assert isinstance(reply["server_time"], int) and isinstance(reply["scope"], str)
P
token=$(member access_token <<<"$tokens")
echo "tokens of user $(member user_id <<<"$tokens")"
# 5. "Make REST API calls with the oauth token".
[[ $(request "$spid/api/2/me?oauth_token=$token" | member data.email) == ada@example.com ]] || fail "me is another user"
echo "me is ada"

# "Ask for a onetime exchange code for Client Backend": the path of the document and of the reference.
for path in /oauth/exchange /api/2/oauth/exchange; do
    once=$(request -d clientId=backend-1 -d type=code -d "oauth_token=$token" "$spid$path" | member data.code)
    backend=$(request -d grant_type=authorization_code -d redirect_uri=http://127.0.0.1/backend -d client_id=backend-1 \
        -d client_secret=backend-1-secret -d "code=$once" "$spid/oauth/token")
    [[ $(member user_id <<<"$backend") == 1001 && $(member expires_in <<<"$backend") == 3600 ]] || fail "backend: $backend"
    own=$(member access_token <<<"$backend")
    [[ $own != "$token" ]] || fail "the backend has the app's token"
    [[ $(request "$spid/api/2/user/1001?oauth_token=$own" | member data.userId) == 1001 ]] || fail "the backend reads nothing"
    again=$(request -d grant_type=authorization_code -d redirect_uri=http://127.0.0.1/backend -d client_id=backend-1 \
        -d client_secret=backend-1-secret -d "code=$once" "$spid/oauth/token")
    [[ $(member error <<<"$again") == invalid_grant ]] || fail "the code works twice: $again"
    echo "exchanged at $path"
done
# "Both clients must belong to the same merchant."
status=$(request -o /dev/null -w '%{http_code}' -d clientId=other-1 -d type=code -d "oauth_token=$token" "$spid/oauth/exchange")
[[ $status == 403 ]] || fail "another merchant's client: $status"
echo "another merchant is refused"

# "Grant type: session": the webview is redirected to /auth/session/{onetimecode}.
for path in /auth/session /session; do
    once=$(request -d clientId=app-1 -d type=session -d redirectUri=http://127.0.0.1:9/callback -d "oauth_token=$token" \
        "$spid/oauth/exchange" | member data.code)
    : >"$jar"
    back=$(location -c "$jar" "$spid$path/$once")
    [[ $back == http://127.0.0.1:9/callback ]] || fail "$path: $back"
    grep -q identity "$jar" || fail "$path sets no cookie"
    # The browser is signed in there, so it is not asked for a password.
    back=$(location -b "$jar" "$page")
    [[ $back == spidmobile-app-1://login?code=* ]] || fail "the browser is not signed in: $back"
    echo "a session by $path"
done

# "/logout?redirect_uri=…&oauth_token=…": this particular access token will be deleted.
back=$(location "$spid/logout?redirect_uri=spidmobile-app-1%3A%2F%2Flogout&oauth_token=$token")
[[ $back == spidmobile-app-1://logout ]] || fail "after logout: $back"
[[ $(request "$spid/api/2/user/1001?oauth_token=$token" | member error) == invalid_token ]] || fail "the token is still valid"
# "If omitted, the user will be redirected to the login page after being logged out", which answers 200 OK.
[[ $(request -L -o /dev/null -w '%{http_code} %{url_effective}' "$spid/logout") == "200 $spid/login" ]] || fail "logout"
echo "logged out"
