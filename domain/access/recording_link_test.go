package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

func TestLinkIsValidForOneRecordingUntilExpiry(t *testing.T) {
	const ws, call = "ws_01ARZ3NDEKTSV4RRFFQ69G5FAV", "call_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	k := &domain.LinkKey{WorkspaceID: ws, Secret: "secret"}
	end := time.Unix(1_800_000_000, 0)
	token := access.NewLinkToken(k, call, end)
	assert.Equal(t, ws, access.LinkTokenWorkspace(token))
	type verdict struct{ opens, late bool }
	at := func(k *domain.LinkKey, call, token string, now time.Time) verdict {
		opens, late := access.VerifyLinkToken(k, call, token, now)
		return verdict{opens, late}
	}
	before := end.Add(-time.Second)
	assert.Equal(t, verdict{opens: true}, at(k, call, token, before))
	assert.Equal(t, verdict{late: true}, at(k, call, token, end))
	for name, got := range map[string]verdict{
		"another call":      at(k, call+"X", token, before),
		"a longer life":     at(k, call, strings.Replace(token, "1800000000", "1900000000", 1), before),
		"another key":       at(&domain.LinkKey{WorkspaceID: ws, Secret: "other"}, call, token, before),
		"another workspace": at(&domain.LinkKey{WorkspaceID: "ws_2", Secret: "secret"}, call, token, before),
		"no key":            at(&domain.LinkKey{WorkspaceID: ws}, call, access.NewLinkToken(&domain.LinkKey{WorkspaceID: ws}, call, end), before),
		"no signature":      at(k, call, ws+".1800000000.", before),
		"no base64":         at(k, call, ws+".1800000000.%", before),
		"too few parts":     at(k, call, ws+".1800000000", before),
		"nothing":           at(k, call, "", before),
	} {
		assert.Equal(t, verdict{}, got, name)
	}
	assert.Empty(t, access.LinkTokenWorkspace("x."+token))
}
