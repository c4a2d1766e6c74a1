package access

import (
	"strings"

	"github.com/callboard/callboard/domain"
)

// maxWorkspaceSecret limits the length of the secret in bytes.
const maxWorkspaceSecret = 200

// JoinWorkspaceSecret combines a secret with its workspace, so that the stored row can be found: <ULID of the
// workspace>.<secret>. Cookies, sign-in links and tickets have this form.
func JoinWorkspaceSecret(workspace, secret string) string {
	return strings.TrimPrefix(workspace, string(domain.PrefixWorkspace)+"_") + "." + secret
}

// SplitWorkspaceSecret splits the result of JoinWorkspaceSecret. It verifies nothing.
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
