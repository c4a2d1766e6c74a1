package access_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/access"
)

func TestWorkspaceSecretRoundTrip(t *testing.T) {
	const ws = "ws_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	text := access.JoinWorkspaceSecret(ws, "a.b")
	assert.Equal(t, "01ARZ3NDEKTSV4RRFFQ69G5FAV.a.b", text)
	workspace, secret, ok := access.SplitWorkspaceSecret(text)
	assert.Equal(t, []any{ws, "a.b", true}, []any{workspace, secret, ok})
	for _, none := range []string{"", ".", "a", "a.b", ws + ".a", text[:26], strings.Repeat("0", 27) + ".a", access.JoinWorkspaceSecret(ws, strings.Repeat("a", 201)), "8" + text[1:]} {
		_, _, ok = access.SplitWorkspaceSecret(none)
		assert.False(t, ok, none)
	}
}
