package trunk_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/actors/mailbox/actortest"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/outcome"
)

// All calls of the trunk fail. Requests with MayProbe are denied until the next probe call. One call at a time probes
// the trunk, at growing intervals. The first probe call that rings makes the trunk usable for all calls.
func TestOnlyOneCallProbesATrunkThatIsOut(t *testing.T) {
	actortest.Run(t, func(t *testing.T, sys *actor.ActorSystem) {
		a, ask, end := startTrunks(sys, newTrunk("one", nil))
		defer end()
		want := func(id string, probes bool) any {
			sys.Root.Send(ask, trunk.RequestSlot{To: "+12025550100", Environment: domain.Live, CallID: id, MayProbe: probes})
			synctest.Wait()
			return a.answers[len(a.answers)-1]
		}
		fail := func(s any) {
			sys.Root.Send(a.trunks, trunk.LegResult{
				CallID: s.(trunk.Slot).CallID, TrunkID: "one", Key: s.(trunk.Slot).Key, Final: outcome.Final{NoResponse: true},
				Verdict: domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonTrunkError, NextLeg: domain.NextLegOtherTarget},
			})
			synctest.Wait()
		}
		for _, id := range []string{"a", "b", "c"} {
			s := want(id, true)
			assert.False(t, s.(trunk.Slot).Probe)
			fail(s)
		}
		for n, next := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute} {
			s := want("probe", true)
			assert.True(t, s.(trunk.Slot).Probe, n)
			other := want("other", true).(trunk.SlotDenied)
			assert.Equal(t, []any{trunk.ReasonOut, true, time.Now().Add(time.Second)}, []any{other.Reason, other.AllTargetsOut, other.Until}, "one at a time")
			assert.IsType(t, trunk.Slot{}, want("call of the API", false), "a call that cannot wait gets the slot")
			sys.Root.Send(a.trunks, trunk.ReturnSlot{CallID: "call of the API", Key: s.(trunk.Slot).Key})
			fail(s)
			assert.Equal(t, time.Now().Add(next), want("other", true).(trunk.SlotDenied).Until)
			time.Sleep(next)
		}
		s := want("unused", true).(trunk.Slot)
		sys.Root.Send(a.trunks, trunk.ReturnSlot{CallID: s.CallID, Key: s.Key})
		s = want("rings", true).(trunk.Slot)
		assert.True(t, s.Probe, "the probe before was returned")
		sys.Root.Send(a.trunks, trunk.ProbeRinging{CallID: s.CallID, Key: s.Key, TrunkID: "one"})
		assert.False(t, want("next", true).(trunk.Slot).Probe)
	})
}
