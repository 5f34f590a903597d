#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Sends the two examples of "OCLC iOS Authentication Example" exactly, with curl as the browser. Then it tests the case that the second
# example warns of: renewing by a request that Python's hmac signs. Prints one line for each step.
#
# usage: oclc-documents.sh http://127.0.0.1:PORT
set -euo pipefail
source "$(dirname "$0")/documents.bash"
oclc=$1
# Signs by OCLC's developer pages, independently of the simulator: METHOD QUERY NONCE.
sign() {
    python3 - "$@" <<'P'
import base64, hashlib, hmac, sys, time, urllib.parse
method, query, nonce = sys.argv[1:4]
key, secret, stamp = "wskey-1", "wskey-1-secret", str(int(time.time()))
lines = [key, stamp, nonce, "", method, "www.oclc.org", "443", "/wskey"]
pairs = sorted(urllib.parse.parse_qsl(query, keep_blank_values=True))
lines += [f"{urllib.parse.quote(name, safe='~')}={urllib.parse.quote(value, safe='~')}" for name, value in pairs]
text = "".join(line + "\n" for line in lines)
signature = base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()).decode()
print(f'Authorization: http://www.worldcat.org/wskey/v2/hmac/v1 clientId="{key}", timestamp="{stamp}", nonce="{nonce}", signature="{signature}"')
P
}

for scope in WMS_NCIP WMS_NCIP%20refresh_token; do
    page="$oclc/oauth2/authorizeCode?client_id=wskey-1&authenticatingInstitutionId=128807&contextInstitutionId=128807&redirect_uri=oclcApp%3A%2F%2Fuser_agent_flow&response_type=token&scope=$scope"
    # "The client will be prompted to sign in with a userid and password."
    consent=$(request --data-urlencode username=ada --data-urlencode password=correct-horse "$page")
    # "A service authorization page will list the scopes requested and ask the user if they will allow it."
    grep -q '<li class="scope">WMS_NCIP</li>' <<<"$consent" || fail "the page lists no scope"
    handle=$(sed -n 's/.*name="handle" value="\([0-9a-f]*\)".*/\1/p' <<<"$consent")
    back=$(location -d "handle=$handle" -d action=allow "$page")
    [[ $back == oclcApp://user_agent_flow#access_token=tk_* ]] || fail "redirected to $back"
    # Splits it like the sample: at & and =, without decoding. The date still has its %20 then.
    python3 - "${back#*#}" "$scope" <<'P'
import re, sys
fields = dict(part.split("=", 1) for part in sys.argv[1].split("&"))
assert re.fullmatch(r"\d{4}-\d\d-\d\d%20\d\d:\d\d:\d\dZ", fields["expires_at"]), fields
assert fields["expires_in"] == "1199" and fields["context_institution_id"] == "128807"
assert fields["token_type"] == "bearer" and fields["principalID"] == "p-ada"
assert fields["principalIDNS"] == "urn:oclc:platform:128807"
if "refresh_token" in sys.argv[2]:
    assert fields["refresh_token"].startswith("rt_") and fields["refresh_token_expires_in"] == "604799"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d%20\d\d:\d\d:\d\dZ", fields["refresh_token_expires_at"])
else:
    assert "refresh_token" not in fields
P
    token=$(sed 's/.*access_token=\([^&]*\).*/\1/' <<<"$back")
    request -f -o /dev/null -H "Authorization: Bearer $token" "$oclc/ncip" || fail "the token opens nothing"
    echo "a token with scope $scope"
done

refresh=$(sed 's/.*refresh_token=\([^&]*\).*/\1/' <<<"$back")
query="grant_type=refresh_token&refresh_token=$refresh"
# "Currently a refresh token can only get an authentication token by making an HMAC request."
[[ $(request -o /dev/null -w '%{http_code}' -X POST "$oclc/oauth2/accessToken?$query&client_id=wskey-1") == 401 ]] || fail "unsigned"
echo "an unsigned renewal is refused"
header=$(sign POST "$query" nonce-1)
reply=$(request -X POST -H "$header" "$oclc/oauth2/accessToken?$query")
token=$(member access_token <<<"$reply")
request -f -o /dev/null -H "Authorization: Bearer $token" "$oclc/ncip" || fail "the renewed token opens nothing"
echo "a signed renewal"
[[ $(request -X POST -H "$header" "$oclc/oauth2/accessToken?$query") == *"nonce was used before"* ]] || fail "a replay"
echo "a replayed one is refused"

# Any request may be signed: duplicate names, an equals sign in a value, a star and a tilde, an empty value, no query.
for query in "inst=128807&q=a%3Db&q=a%20z&tilde=~&star=%2A&empty=" ""; do
    request -f -o /dev/null -H "$(sign GET "$query" "nonce-$RANDOM$RANDOM")" "$oclc/bib/data/1039085?$query" || fail "signed: $query"
done
echo "signed requests"

# The current service: "a standard OAuth 2.0 client".
[[ $(request -u wskey-1:wskey-1-secret -d grant_type=client_credentials -d 'scope=WorldCatMetadataAPI context:128807' "$oclc/token") == *'"access_token":"tk_'* ]] ||
    fail "client credentials"
echo "client credentials at the current service"
