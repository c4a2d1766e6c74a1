package call_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/media/wav"
	"github.com/callboard/callboard/sip"
)

func TestInboundAnswerModes(t *testing.T) {
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
			h := newFixture(t, fixtureOptions{})
			service := newUserAgent(t, func(in *sip.Incoming) {
				_ = h.startInbound(in, domain.Script{Pathway: waitingPathway(), Inbound: c.how})
			})
			s, err := newPeer(t).engine.Open(media.Options{}) // not the engine under test
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
				h.waitUntil(5*time.Second, "it rings", seen(1))
				d.Cancel("enough")
			}
			if slices.Contains(c.want, "early") {
				h.waitUntil(5*time.Second, "the caller receives ringback", func() bool { return s.Stats().PacketsReceived > 5 || seen(2)() })
			}
			h.waitUntil(10*time.Second, "the end of ringing", seen(len(c.want)))
			d.Bye(16, "")
			mu.Lock()
			defer mu.Unlock()
			assert.Equal(t, c.want, got)
			assert.GreaterOrEqual(t, took, c.wait)
		})
	}
}

func TestCallWithoutAudioHasNoRecording(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	ids := make(chan string, 1)
	mute := domain.Pathway{Start: "wait", Nodes: []domain.Node{{ID: "wait", Type: domain.NodeCollect, TimeoutSeconds: 30}}}
	service := newUserAgent(t, func(in *sip.Incoming) {
		ids <- h.startInboundCall(in, domain.Script{Pathway: mute, Inbound: domain.AgentInbound{Answer: "direct"}}, true)
	})
	s, err := newPeer(t).engine.Open(media.Options{})
	require.NoError(t, err)
	defer s.Close()
	answered := make(chan struct{})
	d, err := h.ua.Invite(sip.Invite{Attempt: "them", Leg: 1, Target: targetOf(service), To: "+15550002222", From: "+15550001111", Body: s.Offer(), Notify: func(e sip.Event) {
		if _, ok := e.(sip.Answered); ok {
			close(answered)
		}
	}})
	require.NoError(t, err)
	receive(t, answered)
	id := receive(t, ids)
	h.waitUntil(5*time.Second, "audio is sent", func() bool { return h.packetsSent(id) > 5 })
	d.Bye(16, "")
	h.waitForEnd(id)
	h.waitUntil(5*time.Second, "no call or recording is open", func() bool {
		live, err := mailbox.Ask[call.LiveCalls](t.Context(), h.sys, h.calls, call.GetLiveCalls{})
		return err == nil && live.Open == 0 && live.PendingRecordings == 0
	})
	c := h.waitUntilFinished(id)
	assert.Empty(t, c.RecordingURL)
	assert.False(t, c.RecordingAvailable)
	assert.Equal(t, *c.EndedAt, c.UpdatedAt, "no commit follows the end")
	assert.NotContains(t, h.store.eventTypes(id), event.CallRecordingReady)
	assert.Zero(t, h.countSpoolFiles())
}

// startInbound starts the call of an inbound INVITE. The call is recorded only if the script answers with early media.
func (h *fixture) startInbound(in *sip.Incoming, script domain.Script) (callID string) {
	return h.startInboundCall(in, script, false)
}

func (h *fixture) startInboundCall(in *sip.Incoming, script domain.Script, record bool) (callID string) {
	now := time.Now().UTC()
	id := mailbox.NewID(domain.PrefixCall)
	c := domain.Call{
		Meta:      domain.Meta{ID: id, WorkspaceID: workspace, Environment: domain.Live, CreatedAt: now},
		Direction: domain.Inbound, From: in.From, To: in.To, Status: domain.CallInitiated, StartedAt: &now,
		Record: record || script.Inbound.Answer == "early",
	}
	a := domain.Attempt{ID: id, WorkspaceID: workspace, CallID: id, Direction: domain.Inbound, OpenedAt: now}
	_, err := h.store.Apply(h.t.Context(), commit.Change{Puts: []domain.Record{&c, &a}})
	if err != nil {
		h.t.Error(err)
	}
	p, err := mailbox.Ask[lines.Permit](h.t.Context(), h.sys, h.inboundLines, lines.TryPermit{})
	if err != nil {
		h.t.Error(err)
	}
	h.sys.Root.Send(h.calls, call.StartInbound{In: in, Call: c, Attempt: a, Script: script, Permit: p, Owner: h.owner})
	return id
}

func TestEarlyMediaCanBeListenedToAndIsRecorded(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{})
	came := make(chan string, 1)
	service := newUserAgent(t, func(in *sip.Incoming) {
		came <- h.startInbound(in, domain.Script{Pathway: waitingPathway(), Inbound: domain.AgentInbound{Answer: "early", RingSeconds: 10}}) // the ringback repeats, so that a late listener hears the second ring
	})
	s, err := newPeer(t).engine.Open(media.Options{})
	require.NoError(t, err)
	defer s.Close()
	early, up := make(chan struct{}), make(chan struct{})
	_, err = h.ua.Invite(sip.Invite{Attempt: "them", Leg: 1, Target: targetOf(service), To: "+15550002222", From: "+15550001111", Body: s.Offer(), Notify: func(e sip.Event) {
		switch e := e.(type) {
		case sip.Early:
			_ = s.Accept(e.Body)
			close(early)
		case sip.Answered:
			_ = s.Accept(e.Body)
			s.Begin()
			close(up)
		}
	}})
	require.NoError(t, err)
	id := receive(t, came)
	receive(t, early)
	var loud atomic.Int32
	tap, err := mailbox.Ask[call.ListenerAdded](t.Context(), h.sys, h.calls, call.AddListener{CallID: id, Mode: media.Listen, OnFrame: func(frame []byte) {
		if len(frame) > 0 && frame[3]|0x80 != 0xFF {
			loud.Add(1)
		}
	}})
	require.NoError(t, err)
	h.waitUntil(5*time.Second, "the listener hears ringback", func() bool { return loud.Load() > 10 })
	assert.Nil(t, h.store.readCall(id).AnsweredAt, "before the answer")
	tap.Tap.Close()
	receive(t, up)
	h.waitUntil(5*time.Second, "the call is answered", func() bool { return h.store.readCall(id).AnsweredAt != nil })
	require.NoError(t, h.hangUp(id))
	h.waitForEnd(id)
	require.True(t, h.waitUntilFinished(id).RecordingAvailable)
	h.blobs.mu.Lock()
	defer h.blobs.mu.Unlock()
	for name, b := range h.blobs.kept {
		if strings.HasSuffix(name, ".wav") && strings.Contains(name, id) {
			file, err := wav.Decode(b)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, file.Duration(), 4900*time.Millisecond, "the recording contains the ringback")
			assert.True(t, slices.ContainsFunc(file.Channel(1)[:4000], func(v int16) bool { return v > 500 }))
			return
		}
	}
	require.Fail(t, "no recording")
}
