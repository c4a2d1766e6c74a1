package access

import (
	"strings"

	"github.com/callboard/callboard/domain"
)

// maxWorkspaceSecret limits the length of the secret in bytes.
const maxWorkspaceSecret = 200

// JoinWorkspaceSecret prepends the ULID of a workspace to a secret of the workspace: <ULID>.<secret>. The service can thus
// find the stored secret. Cookies, sign-in links and tickets have this form.
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
