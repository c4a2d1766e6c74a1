package call_test

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

func TestResumedCallKeepsThePriceOfADeletedTrunk(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{
		config: func(c *call.Config) { c.StoreCheckpoints = true },
		trunks: func(h *fixture) []domain.Trunk {
			return []domain.Trunk{{
				Meta: domain.Meta{ID: "trunk_sim", Environment: domain.Live}, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{proxyOf(h.carrier.Target())},
				Costs: []domain.Rate{{Prefix: "+1", Cost: "0.60"}},
			}}
		},
	})
	c, a := h.dialUntilCheckpoint()
	resumes, ends := make(chan trunk.ResumeMeter, 4), make(chan trunk.CallEnded, 4)
	broker := h.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case trunk.ResumeMeter:
			resumes <- m
		case trunk.CallEnded:
			ends <- m
		}
	}))
	m := resumingUserAgent{onResume: func(r sip.Resumption) (leg.Dialog, error) {
		r.Notify(sip.Ended{ByRemote: true})
		return nil, sip.ErrIncompleteState
	}}
	all := h.makeResumable(1, c, a)
	require.Nil(t, all[0].Trunk, "the trunk is deleted")
	h.resumeInAnotherProcess(all, m, func(c *call.Config) { c.Trunks = broker })
	resumed := receive(t, resumes)
	assert.WithinDuration(t, *c.AnsweredAt, resumed.Answered, time.Second)
	resumed.Answered = time.Time{}
	assert.Equal(t, trunk.ResumeMeter{CallID: "call_0", Environment: domain.Live, PerMinute: 600_000}, resumed)
	assert.Equal(t, "trunk_sim", receive(t, ends).TrunkID)
	e := h.waitForEnd("call_0")
	require.NotNil(t, e.Call.Cost)
	assert.NotEqual(t, "0.00", e.Call.Cost.Amount)
}
