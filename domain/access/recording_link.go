package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// MaxLinkLifetime limits how long a recording link is valid.
const MaxLinkLifetime = 24 * time.Hour

// NewLinkToken returns the signed token of a recording link: <workspace>.<expiry in Unix seconds>.<signature>.
func NewLinkToken(k *domain.LinkKey, callID string, until time.Time) string {
	end := strconv.FormatInt(until.Unix(), 10)
	return k.WorkspaceID + "." + end + "." + base64.RawURLEncoding.EncodeToString(signature(k, callID, end))
}

// LinkTokenWorkspace returns the workspace ID in a token of a recording link, without verifying the token. It returns ""
// for malformed tokens.
func LinkTokenWorkspace(token string) string {
	workspace, _, _ := strings.Cut(token, ".")
	if _, err := domain.ParseID(domain.PrefixWorkspace, workspace); err != nil {
		return ""
	}
	return workspace
}

// VerifyLinkToken verifies the token of a recording link. opens is true if the token gives access to the recording of the
// call. late is true if the token was valid but has expired.
func VerifyLinkToken(k *domain.LinkKey, callID, token string, now time.Time) (opens, late bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || parts[0] != k.WorkspaceID || k.Secret == "" {
		return false, false
	}
	signed, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !hmac.Equal(signed, signature(k, callID, parts[1])) {
		return false, false
	}
	end, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return false, false
	}
	open := now.Before(time.Unix(end, 0))
	return open, !open
}

func signature(k *domain.LinkKey, callID, end string) []byte {
	m := hmac.New(sha256.New, []byte(k.Secret))
	m.Write([]byte("callboard recording\x00" + k.WorkspaceID + "\x00" + callID + "\x00" + end))
	return m.Sum(nil)
}
