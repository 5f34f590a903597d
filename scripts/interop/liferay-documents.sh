#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Sends the requests of the "Login Screenlet" with curl: basic by e-mail address, screen name and number, the cookie with its token, and
# OAuth 2.0. The services are those of the document's table. Prints one line for each step.
#
# usage: liferay-documents.sh http://127.0.0.1:PORT
set -euo pipefail
source "$(dirname "$0")/documents.bash"
liferay=$1
jar=$(mktemp)
trap 'rm -f "$jar"' EXIT
invoke() { request -H 'Content-Type: application/json' "$@" "$liferay/api/jsonws/invoke"; }

# Basic: "you need to provide the user's email address, screen name, or user ID", by the portal's setting.
while read -r setting user service parameters; do
    request -o /dev/null -d "{\"auth_type\":\"$setting\"}" "$liferay/_sim/settings"
    reply=$(invoke -u "$user:correct-horse" -d "[{\"/user/$service\":$parameters}]")
    [[ $(member 0.userId <<<"$reply") == 1001 ]] || fail "$service: $reply"
    echo "basic by $setting"
done <<'T'
email ada@example.com get-user-by-email-address {"companyId":10157,"emailAddress":"ada@example.com"}
screenName ada get-user-by-screen-name {"companyId":10157,"screenName":"ada"}
userId 1001 get-user-by-id {"userId":1001}
T
request -o /dev/null -d '{"auth_type":"email"}' "$liferay/_sim/settings"
[[ $(invoke -o /dev/null -w '%{http_code}' -u ada@example.com:wrong -d '[{"/user/get-current-user":{}}]') == 401 ]] || fail "wrong password"
echo "a wrong password is 401"

# Cookie: the form of /c/portal/login, following every redirect, and the token in the last page.
page=$(request -L -b 'COOKIE_SUPPORT=true' -b "$jar" -c "$jar" -H 'Cookie: COOKIE_SUPPORT=true' --data-urlencode login=ada@example.com \
    --data-urlencode password=correct-horse -d rememberMe=true "$liferay/c/portal/login")
token=$(sed -n "s/.*Liferay\.authToken = '\([^']*\)'.*/\1/p" <<<"$page")
[[ ${#token} == 8 ]] || fail "no token in the page"
reply=$(invoke -b "$jar" -H "X-CSRF-Token: $token" -d '[{"/user/get-current-user":{}}]')
[[ $(member 0.emailAddress <<<"$reply") == ada@example.com ]] || fail "cookie: $reply"
[[ $(invoke -b "$jar" -d '[{"/user/get-current-user":{}}]' | member exception) == "Authenticated access required" ]] || fail "no token is needed"
echo "a cookie and its token"
# "This lets you access documents and images in the portal's document library without the guest view permission".
private=$liferay/documents/10184/0/private.txt
[[ $(request -b "$jar" "$private") == "for members" ]] || fail "the cookie opens no document"
[[ $(request -o /dev/null -w '%{http_code}' -u ada@example.com:correct-horse "$private") == 302 ]] || fail "basic opens a document"
echo "documents by cookie only"

# oauth2UsernameAndPassword: id and secret of the application, a subset of its scopes.
tokens=$(request -d grant_type=password -d client_id=screens-2 -d client_secret=screens-2-secret -d username=ada@example.com \
    -d password=correct-horse -d scope=liferay-json-web-services.everything.read "$liferay/o/oauth2/token")
reply=$(invoke -H "Authorization: Bearer $(member access_token <<<"$tokens")" -d '[{"/user/get-current-user":{}}]')
[[ $(member 0.userId <<<"$reply") == 1001 ]] || fail "password grant: $reply"
echo "OAuth 2.0 by user name and password"

# oauth2Redirect: no secret, a challenge; openssl computes it.
verifier=$(openssl rand -hex 32)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d =)
page="$liferay/o/oauth2/authorize?response_type=code&client_id=screens-1&redirect_uri=my-app%3A%2F%2Fmy-app&state=s&code_challenge=$challenge&code_challenge_method=S256"
: >"$jar"
consent=$(request -b "$jar" -c "$jar" --data-urlencode username=ada@example.com --data-urlencode password=correct-horse "$page")
handle=$(sed -n 's/.*name="handle" value="\([0-9a-f]*\)".*/\1/p' <<<"$consent")
back=$(location -b "$jar" -d "handle=$handle" -d action=allow "$page")
[[ $back == my-app://my-app\?code=*\&state=s ]] || fail "redirected to $back"
code=${back#*code=}
code=${code%%&*}
tokens=$(request -d grant_type=authorization_code -d client_id=screens-1 -d "code=$code" -d redirect_uri=my-app%3A%2F%2Fmy-app \
    -d "code_verifier=$verifier" "$liferay/o/oauth2/token")
[[ $(member expires_in <<<"$tokens") == 600 ]] || fail "tokens: $tokens"
reply=$(invoke -H "Authorization: Bearer $(member access_token <<<"$tokens")" -d '[{"/user/get-current-user":{}}]')
[[ $(member 0.userId <<<"$reply") == 1001 ]] || fail "redirect: $reply"
echo "OAuth 2.0 by redirect"
