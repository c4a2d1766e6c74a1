package call_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

func TestAnAgentSaysHowItTakesCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how  domain.AgentInbound
		want []string
		wait time.Duration
	}{
		"ring":      {domain.AgentInbound{}, []string{"ringing", "answered"}, 0},
		"ring on":   {domain.AgentInbound{Answer: "ring", RingSeconds: 1}, []string{"ringing", "answered"}, time.Second},
		"direct":    {domain.AgentInbound{Answer: "direct", RingSeconds: 1}, []string{"answered"}, 0},
		"early":     {domain.AgentInbound{Answer: "early", RingSeconds: 1}, []string{"early", "answered"}, time.Second},
		"given up":  {domain.AgentInbound{Answer: "ring", RingSeconds: 30}, []string{"ringing", "refused"}, 0},
		"early end": {domain.AgentInbound{Answer: "early", RingSeconds: 30}, []string{"early", "refused"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := build(t, plan{})
			service := agent(t, func(in *sip.Incoming) { _ = h.take(in, domain.Script{Pathway: linger(), Inbound: c.how}) })
			s, err := newPeer(t).engine.Open(media.Options{}) // never to a port of the same engine
			require.NoError(t, err)
			defer s.Close()
			var mu sync.Mutex
			var got []string
			begun := time.Now()
			var took time.Duration
			var d *sip.Dialog
			d, err = h.ua.Invite(sip.Invite{Attempt: "them", Leg: 1, Target: targetOf(service), To: "+15550002222", From: "+15550001111", Body: s.Offer(), Notify: func(e sip.Event) {
				mu.Lock()
				defer mu.Unlock()
				switch e := e.(type) {
				case sip.Ringing:
					got = append(got, "ringing")
				case sip.Early:
					got = append(got, "early")
					if err := s.Accept(e.Body); err != nil {
						t.Error(err)
					}
				case sip.Answered:
					got, took = append(got, "answered"), time.Since(begun)
				case sip.Refused:
					got = append(got, "refused")
				}
			}})
			require.NoError(t, err)
			seen := func(n int) func() bool {
				return func() bool { mu.Lock(); defer mu.Unlock(); return len(got) >= n }
			}
			if slices.Contains(c.want, "refused") {
				h.until(5*time.Second, "it rings", seen(1))
				d.Cancel("enough")
			}
			if slices.Contains(c.want, "early") {
				h.until(5*time.Second, "the ringing is heard", func() bool { return s.Stats().PacketsReceived > 5 || seen(2)() })
			}
			h.until(10*time.Second, "the end of ringing", seen(len(c.want)))
			d.Bye(16, "")
			mu.Lock()
			defer mu.Unlock()
			assert.Equal(t, c.want, got)
			assert.GreaterOrEqual(t, took, c.wait)
		})
	}
}

// take hands a call that came in to the house.
func (h *house) take(in *sip.Incoming, script domain.Script) (callID string) {
	now := time.Now().UTC()
	id := mailbox.NewID(domain.PrefixCall)
	c := domain.Call{
		Meta:      domain.Meta{ID: id, WorkspaceID: workspace, Environment: domain.Live, CreatedAt: now},
		Direction: domain.Inbound, From: in.From, To: in.To, Status: domain.CallInitiated, StartedAt: &now,
	}
	a := domain.Attempt{ID: id, WorkspaceID: workspace, CallID: id, Direction: domain.Inbound, OpenedAt: now}
	_, err := h.store.Apply(h.t.Context(), commit.Change{Puts: []domain.Record{&c, &a}})
	if err != nil {
		h.t.Error(err)
	}
	p, err := mailbox.Ask[lines.Permit](h.t.Context(), h.sys, h.inLines, lines.Try{})
	if err != nil {
		h.t.Error(err)
	}
	h.sys.Root.Send(h.calls, call.Inbound{In: in, Call: c, Attempt: a, Script: script, Permit: p, Owner: h.owner})
	return id
}
