package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

func TestCallerIDMustBeAllowedByTheTrunk(t *testing.T) {
	h := newFixture(t, nil)
	d, ctx, p := h.services(), t.Context(), h.live
	agent := h.createAgent(p, keyMenuPathway())
	trunk := func(prefix string, callerIDs ...string) *domain.Trunk {
		created, err := d.Trunks.CreateTrunk(ctx, p, &domain.Trunk{
			Name: prefix, Proxies: []domain.Proxy{{Host: "127.0.0.1", Port: 9, Transport: "udp"}}, NumberFormat: "e164", Prefixes: []string{prefix}, CallerIDs: callerIDs,
		})
		require.NoError(t, err)
		return created
	}
	own := func(number, trunkID string) {
		_, err := d.Numbers.CreateNumber(ctx, p, &domain.PhoneNumber{Number: number, AgentID: agent, TrunkID: trunkID})
		require.NoError(t, err)
	}
	place := func(from string) (string, domain.Code) {
		c, err := d.Calls.PlaceCall(ctx, p, domain.NewCall{To: "+12025550115", From: from, AgentID: agent, RingTimeout: time.Second, MaxDuration: time.Minute})
		if err != nil {
			return "", domain.CodeOf(err)
		}
		return c.From, ""
	}
	shows := func(from, shown string, code domain.Code) {
		t.Helper()
		got, why := place(from)
		assert.Equal(t, []any{shown, code}, []any{got, why}, "from %q", from)
	}
	near, far := trunk("+1202"), trunk("+44", "+442071838750")
	shows("", "", domain.CodeCallerIDRequired)
	_, err := d.Trunks.UpdateTrunk(ctx, p, near.ID, func(t *domain.Trunk) error { t.CallerIDs = []string{"+12025550102"}; return nil })
	require.NoError(t, err)
	own("+442071838751", far.ID)
	own("+12025550103", near.ID)
	own("+12025550104", "")
	shows("", "+12025550102", "")
	shows("+12025550103", "+12025550103", "")
	shows("+12025550104", "+12025550104", "")
	shows("+442071838750", "", domain.CodeCallerIDNotAllowed)
	shows("+442071838751", "", domain.CodeCallerIDNotAllowed)
	shows("+15005550100", "", domain.CodeCallerIDNotAllowed)
	shows("+12025550177", "", domain.CodeCallerIDNotAllowed)
	_, err = d.Trunks.UpdateTrunk(ctx, p, near.ID, func(t *domain.Trunk) error { t.CallerIDs = []string{"+15005550100"}; return nil })
	assert.Equal(t, domain.CodeCallerIDNotAllowed, domain.CodeOf(err))
	_, err = d.Numbers.CreateNumber(ctx, p, &domain.PhoneNumber{Number: "+15005550101", AgentID: agent})
	assert.Equal(t, domain.CodeCallerIDNotAllowed, domain.CodeOf(err))
}
