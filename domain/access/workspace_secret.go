package access

import (
	"strings"

	"github.com/callboard/callboard/domain"
)

// placedMost bounds the secret behind a place, in bytes.
const maxWorkspaceSecret = 200

// JoinWorkspaceSecret spells a secret with the workspace in which it is kept, so that it is
// found there: <ULID of the workspace>.<secret>. Cookies, sign-in links and
// tickets are such texts.
func JoinWorkspaceSecret(workspace, secret string) string {
	return strings.TrimPrefix(workspace, string(domain.PrefixWorkspace)+"_") + "." + secret
}

// SplitWorkspaceSecret parts such a text. It proves nothing.
func SplitWorkspaceSecret(text string) (workspace, secret string, ok bool) {
	place, secret, ok := strings.Cut(text, ".")
	if !ok || len(secret) > maxWorkspaceSecret {
		return "", "", false
	}
	workspace, err := domain.ParseID(domain.PrefixWorkspace, string(domain.PrefixWorkspace)+"_"+place)
	if err != nil {
		return "", "", false
	}
	return workspace, secret, true
}
