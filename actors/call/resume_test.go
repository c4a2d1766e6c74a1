package call_test

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/transport"
)

// resumingUserAgent is a user agent whose Resume and EndAbandoned call functions of the test.
type resumingUserAgent struct {
	leg.UserAgent

	onResume       func(r sip.Resumption) (leg.Dialog, error)
	onEndAbandoned func(s sip.DialogState)
}

func (m resumingUserAgent) Resume(r sip.Resumption) (leg.Dialog, error) { return m.onResume(r) }

func (m resumingUserAgent) EndAbandoned(s sip.DialogState, done func(bool)) {
	if m.onEndAbandoned != nil {
		m.onEndAbandoned(s)
	}
	done(true)
}

// fakeDialog is a resumed SIP dialog that has no real peer.
type fakeDialog struct {
	leg.Dialog

	bye     func()
	answers func(offer []byte) []byte // SDP answer to a re-INVITE; nil: no answer
}

func (fakeDialog) State() sip.DialogState { return sip.DialogState{} }

func (s fakeDialog) Reoffer(offer []byte, heard func(sip.OfferResult)) {
	if s.answers != nil {
		heard(sip.OfferResult{Code: 200, Body: s.answers(offer)})
	}
}

func (s fakeDialog) Bye(int, string) {
	if s.bye != nil {
		s.bye()
	}
}

// dialUntilCheckpoint dials a call and waits until its checkpoint is stored. It returns the stored call and call attempt.
func (h *fixture) dialUntilCheckpoint() (c domain.Call, a domain.Attempt) {
	h.t.Helper()
	id := h.dial(numberPrefix+"0009", collectPathway())
	h.waitUntil(10*time.Second, "the checkpoint is stored", func() bool {
		c, a = h.readRows(id)
		_, ok := recovery.NewResumable(c, a, "next", time.Now())
		return ok
	})
	return c, a
}

// makeResumable stores n copies of a call and returns them as resumable calls.
func (h *fixture) makeResumable(n int, c domain.Call, a domain.Attempt) (out []*recovery.Resumable) {
	h.t.Helper()
	for i := range n {
		c.ID = fmt.Sprintf("call_%d", i)
		a.ID, a.CallID = c.ID, c.ID
		s, ok := recovery.NewResumable(c, a, "next", time.Now())
		require.True(h.t, ok)
		s.Owner = h.owner
		_, err := h.store.Apply(h.t.Context(), commit.Change{Puts: []domain.Record{&s.Call, &s.Attempt}})
		require.NoError(h.t, err)
		out = append(out, s)
	}
	return out
}

// resumeInAnotherProcess starts another Calls actor that resumes the calls.
func (h *fixture) resumeInAnotherProcess(all []*recovery.Resumable, m resumingUserAgent, change func(*call.Config)) {
	next := h.config
	m.UserAgent = next.UserAgent
	next.Resumable, next.UserAgent, next.SpoolDir = all, m, h.t.TempDir()
	if change != nil {
		change(&next)
	}
	pid := h.sys.Root.Spawn(call.Props(next))
	h.t.Cleanup(func() { _ = h.sys.Root.PoisonFuture(pid).Wait() })
	h.sys.Root.Send(pid, call.ResumeCalls{})
}

// Only a few resumptions run at the same time. Each resumption that ends, successful or not, starts the next.
func TestAllResumableCallsAreResumedDespiteFailures(t *testing.T) {
	t.Parallel()
	const all = 60 // more than run at the same time
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	c, a := h.dialUntilCheckpoint()
	for what, dies := range map[string]bool{"the peer hangs up": false, "its actor panics": true} {
		var asked atomic.Int64
		end := make(chan struct{})
		m := resumingUserAgent{onResume: func(r sip.Resumption) (leg.Dialog, error) {
			r.Notify(sip.Ended{ByRemote: true})
			<-end
			return nil, sip.ErrIncompleteState
		}}
		h.resumeInAnotherProcess(h.makeResumable(all, c, a), m, func(c *call.Config) {
			c.BeforeMessage = func(actor, _ string, msg any) {
				if actor == "call" && fmt.Sprintf("%T", msg) == "call.beginCall" {
					asked.Add(1)
					if dies {
						panic("planted panic")
					}
				}
			}
		})
		h.waitUntil(10*time.Second, what, func() bool { return asked.Load() == all })
		close(end)
	}
}

func TestResumedInboundCallHoldsNoTrunkChannel(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	c, a := h.dialUntilCheckpoint()
	held := make(chan string, 4)
	broker := h.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if m, is := ctx.Message().(trunk.HoldChannel); is {
			held <- m.CallID
		}
	}))
	two := h.makeResumable(2, c, a)
	two[0].Call.Direction = domain.Inbound
	for _, s := range two {
		s.Trunk = &domain.Trunk{Meta: domain.Meta{ID: "trunk_sim"}}
	}
	revived := make(chan struct{}, 2)
	m := resumingUserAgent{onResume: func(sip.Resumption) (leg.Dialog, error) {
		revived <- struct{}{}
		return fakeDialog{}, nil
	}}
	h.resumeInAnotherProcess(two, m, func(c *call.Config) { c.Trunks = broker })
	receive(t, revived)
	receive(t, revived)
	assert.Equal(t, "call_1", receive(t, held))
	_ = h.sys.Root.PoisonFuture(broker).Wait()
	assert.Empty(t, held)
}

// observedMedia passes the options of each opened session to the test.
type observedMedia struct {
	leg.Media

	opened func(media.Options)
}

func (o observedMedia) Open(m media.Options) (leg.Session, error) {
	o.opened(m)
	return o.Media.Open(m)
}

func TestEncryptedCallIsResumedEncrypted(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	c, a := h.dialUntilCheckpoint()
	var kept map[string]any
	require.NoError(t, json.Unmarshal(a.ResumeState, &kept))
	kept["confidential"] = true
	kept["sound"].(map[string]any)["secure"] = true
	a.ResumeState, _ = json.Marshal(kept)
	opened := make(chan media.Options, 1)
	m := resumingUserAgent{onResume: func(sip.Resumption) (leg.Dialog, error) { return fakeDialog{}, nil }}
	h.resumeInAnotherProcess(h.makeResumable(1, c, a), m, func(c *call.Config) { // the trunk was deleted
		c.Media = observedMedia{c.Media, func(o media.Options) { opened <- o }}
	})
	o := receive(t, opened)
	assert.Equal(t, media.SRTPRequired, o.SRTP)
	assert.True(t, o.Confidential)
}

// userAgentWithoutProxy is a user agent that sends INVITEs directly to the target instead of the proxy.
type userAgentWithoutProxy struct{ leg.UserAgent }

func (b userAgentWithoutProxy) Invite(in sip.Invite) (leg.Dialog, error) {
	in.Proxy = nil
	return b.UserAgent.Invite(in)
}

func TestCheckpointStoresThatTheProxyEncryptsSignalling(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{
		config:        func(c *call.Config) { c.StoreCheckpoints = true },
		wrapUserAgent: func(p leg.UserAgent) leg.UserAgent { return userAgentWithoutProxy{p} },
		trunks: func(h *fixture) []domain.Trunk {
			return []domain.Trunk{{
				Meta: domain.Meta{ID: "trunk_sim", Environment: domain.Live}, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{proxyOf(h.carrier.Target())},
				OutboundProxy: &domain.Proxy{Host: "127.0.0.1", Port: 5061, Transport: "tls"},
			}}
		},
	})
	_, a := h.dialUntilCheckpoint()
	var kept struct{ Confidential bool }
	require.NoError(t, json.Unmarshal(a.ResumeState, &kept))
	assert.True(t, kept.Confidential)
}

// pauseObserver is a session that reports pauses of its recording.
type pauseObserver struct {
	leg.Session

	pauses chan<- struct{}
}

func (r pauseObserver) PauseRecording() {
	r.pauses <- struct{}{}
	r.Session.PauseRecording()
}

type pauseObserverMedia struct {
	leg.Media

	pauses chan<- struct{}
}

func (r pauseObserverMedia) Open(o media.Options) (leg.Session, error) {
	s, err := r.Media.Open(o)
	return pauseObserver{s, r.pauses}, err
}

func TestRecordingStaysPausedAfterAResumption(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	c, _ := h.dialUntilCheckpoint()
	_, err := mailbox.Ask[call.RecordingPaused](t.Context(), h.sys, h.calls, call.PauseRecording{CallID: c.ID, Paused: true})
	require.NoError(t, err)
	c, a := h.readRows(c.ID) // without waiting: the answer promises that the pause is stored
	far, err := newPeerWithoutUserAgent(t).engine.Open(media.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { far.Close() })
	m := resumingUserAgent{onResume: func(sip.Resumption) (leg.Dialog, error) {
		return fakeDialog{answers: func(offer []byte) []byte {
			body, err := far.Answer(offer)
			assert.NoError(t, err)
			return body
		}}, nil
	}}
	pauses, results := make(chan struct{}, 9), make(chan string, 1)
	h.resumeInAnotherProcess(h.makeResumable(1, c, a), m, func(c *call.Config) {
		c.Media, c.ResumptionDone = pauseObserverMedia{c.Media, pauses}, func(result string) { results <- result }
	})
	assert.Equal(t, recovery.ResultResumed, receive(t, results))
	assert.Len(t, pauses, 1)
}

// failingMedia fails to open any media session.
type failingMedia struct{ leg.Media }

func (failingMedia) Open(media.Options) (leg.Session, error) {
	return nil, media.ErrNoPorts
}

func TestUnresumableDialogIsEnded(t *testing.T) {
	t.Parallel()
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	c, a := h.dialUntilCheckpoint()
	orphans := make(chan sip.DialogState, 1)
	h.resumeInAnotherProcess(h.makeResumable(1, c, a), resumingUserAgent{
		onResume:       func(sip.Resumption) (leg.Dialog, error) { return nil, sip.ErrIncompleteState },
		onEndAbandoned: func(s sip.DialogState) { orphans <- s },
	}, nil)
	cseq, _ := storedCounters(t, a)
	assert.GreaterOrEqual(t, receive(t, orphans).LocalCSeq, cseq+4096)
	assert.Equal(t, domain.ReasonInterrupted, h.waitForEnd("call_0").Verdict.Reason)
}

// While another process may own the shard, the resumption is retried and no BYE is sent.
func TestResumptionIsRetriedWhileOwnershipIsUncertain(t *testing.T) {
	t.Parallel()
	var cut atomic.Bool
	h := newFixture(t, fixtureOptions{config: func(c *call.Config) { c.StoreCheckpoints, c.OwnershipUncertain = true, cut.Load }})
	c, a := h.dialUntilCheckpoint()
	cut.Store(true)
	var tries atomic.Int64
	tried, results, byes := make(chan struct{}), make(chan string, 1), make(chan struct{}, 9)
	h.resumeInAnotherProcess(h.makeResumable(1, c, a), resumingUserAgent{onResume: func(r sip.Resumption) (leg.Dialog, error) {
		if tries.Add(1) < 3 {
			return nil, transport.ErrCallsSuspended
		}
		close(tried)
		return fakeDialog{bye: func() {
			byes <- struct{}{}
			r.Notify(sip.Ended{})
		}}, nil
	}}, func(c *call.Config) {
		c.Media, c.ResumptionDone = failingMedia{c.Media}, func(result string) { results <- result }
	})
	receive(t, tried)
	assert.Equal(t, recovery.ResultFailed, receive(t, results))
	h.assertNever(500*time.Millisecond, "the peer gets a BYE", func() bool { return len(byes) > 0 })
	cut.Store(false)
	receive(t, byes)
	assert.Equal(t, domain.ReasonInterrupted, h.waitForEnd("call_0").Verdict.Reason)
}
