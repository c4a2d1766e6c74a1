package access

import (
	"strings"

	"github.com/callboard/callboard/domain"
)

// placedMost bounds the secret behind a place, in bytes.
const placedMost = 200

// Placed spells a secret with the workspace in which it is kept, so that it is
// found there: <ULID of the workspace>.<secret>. Cookies, sign-in links and
// tickets are such texts.
func Placed(workspace, secret string) string {
	return strings.TrimPrefix(workspace, string(domain.PrefixWorkspace)+"_") + "." + secret
}

// PlaceOf parts such a text. It proves nothing.
func PlaceOf(text string) (workspace, secret string, ok bool) {
	place, secret, ok := strings.Cut(text, ".")
	if !ok || len(secret) > placedMost {
		return "", "", false
	}
	workspace, err := domain.ParseID(domain.PrefixWorkspace, string(domain.PrefixWorkspace)+"_"+place)
	if err != nil {
		return "", "", false
	}
	return workspace, secret, true
}
