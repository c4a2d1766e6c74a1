package node_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
)

// browserCaller is a person who calls an agent from a browser.
type browserCaller struct {
	audioRecorder

	mu       sync.Mutex
	segments []domain.Segment // the last version of each segment
	states   []domain.CallStatus
}

func (b *browserCaller) events() calls.BrowserCallEvents {
	return calls.BrowserCallEvents{
		Sound: b.record, Key: func(byte) {},
		Segment: func(s domain.Segment) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if s.Index == len(b.segments) {
				b.segments = append(b.segments, s)
			}
			b.segments[s.Index] = s
		},
		State: func(s domain.CallStatus) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.states = append(b.states, s)
		},
	}
}

func (b *browserCaller) transcriptText() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := make([]string, 0, len(b.segments))
	for _, s := range b.segments {
		lines = append(lines, s.Speaker+": "+s.Text)
	}
	return strings.Join(lines, "\n")
}

func TestBrowserCallStreamsAudioAndTranscript(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	agent := h.createAgent(h.test, keyMenuPathway())
	var one browserCaller
	talk, err := d.Calls.StartBrowserCall(ctx, h.test, calls.BrowserCallRequest{AgentID: agent, From: "+12025550177"}, one.events())
	require.NoError(t, err)
	h.waitUntil(20*time.Second, "audio and transcript arrive", func() bool {
		n, loud, _ := one.stats()
		return n > 10 && loud && one.transcriptText() == "agent: Press one or two."
	})
	talk.Press("1")
	h.waitUntil(20*time.Second, "the call has ended", func() bool { _, _, ends := one.stats(); return ends == 1 && h.getCall(h.test, talk.CallID).Final() })
	c := h.getCall(h.test, talk.CallID)
	assert.Equal(t, []any{domain.Inbound, "+12025550177", "+15005550100", agent, domain.CallCompleted, "confirmed", domain.Test},
		[]any{c.Direction, c.From, c.To, c.AgentID, c.Status, c.Disposition, c.Environment})
	require.NotNil(t, c.Caller)
	assert.Equal(t, "Browser", c.Caller.Name)
	assert.Equal(t, "agent: Press one or two.\ncaller: [pressed 1]\nagent: Thank you.", one.transcriptText())
	h.waitUntil(10*time.Second, "the state is reported", func() bool {
		one.mu.Lock()
		defer one.mu.Unlock()
		return slices.Equal(one.states, []domain.CallStatus{domain.CallInProgress})
	})
	script, err := d.Calls.Transcript(ctx, h.test, talk.CallID)
	require.NoError(t, err)
	one.mu.Lock()
	assert.Equal(t, script.Segments, one.segments, "the streamed transcript equals the stored one")
	one.mu.Unlock()

	var two browserCaller
	talk, err = d.Calls.StartBrowserCall(ctx, h.test, calls.BrowserCallRequest{AgentID: h.createAgent(h.test, waitingPathway())}, two.events())
	require.NoError(t, err)
	h.waitUntil(20*time.Second, "the change has no effect on the running state", func() bool { n, _, _ := two.stats(); return n > 10 })
	talk.Say(make([]byte, 4096))
	talk.Leave()
	talk.Leave()
	h.waitUntil(20*time.Second, "closing the browser ends the call", func() bool { return h.getCall(h.test, talk.CallID).Final() })
	assert.Equal(t, "remote", h.getCall(h.test, talk.CallID).EndedBy)

	for code, c := range map[domain.Code]struct {
		p     domain.Principal
		agent string
	}{
		domain.CodeInvalidState: {h.live, agent}, domain.CodeNotFound: {h.test, h.createAgent(h.live, keyMenuPathway())},
	} {
		_, err = d.Calls.StartBrowserCall(ctx, c.p, calls.BrowserCallRequest{AgentID: c.agent}, one.events())
		assert.Equal(t, code, domain.CodeOf(err))
	}
}

func TestBrowserCallWithoutTestTrunkReachesNoOtherWorkspace(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	const dialled = "+15005550100" // number that a browser call dials
	_, err := d.Numbers.CreateNumber(ctx, h.test, &domain.PhoneNumber{Number: dialled, AgentID: h.createAgent(h.test, keyMenuPathway())})
	require.NoError(t, err)
	live := h.createWorkspace("acme")
	test := live
	test.Environment = domain.Test
	agent := h.createAgent(test, keyMenuPathway())
	for _, p := range []domain.Principal{live, test} {
		all, err := d.Trunks.ListTrunks(ctx, p, record.PageQuery{Limit: 100})
		require.NoError(t, err)
		for _, x := range all.Data {
			require.NoError(t, d.Trunks.DeleteTrunk(ctx, p, x.ID))
		}
	}
	var one browserCaller
	_, err = d.Calls.StartBrowserCall(ctx, test, calls.BrowserCallRequest{AgentID: agent}, one.events())
	require.Error(t, err)
	assert.Empty(t, one.transcriptText())
	calls, err := d.Calls.ListCalls(ctx, h.test, calls.Query{PageQuery: record.PageQuery{Limit: 10}})
	require.NoError(t, err)
	assert.Empty(t, calls.Data, "the other workspace received no call")
}
