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

// resumingUserAgent is a user agent whose resumptions the test controls.
type medium struct {
	leg.UserAgent

	revive func(r sip.Resumption) (leg.Dialog, error)
	orphan func(s sip.DialogState)
}

func (m medium) Resume(r sip.Resumption) (leg.Dialog, error) { return m.revive(r) }

func (m medium) EndAbandoned(s sip.DialogState, done func(bool)) {
	if m.orphan != nil {
		m.orphan(s)
	}
	done(true)
}

// fakeDialog is a resumed dialog without a peer.
type strung struct {
	leg.Dialog

	bye     func()
	answers func(offer []byte) []byte // SDP answer to a re-INVITE; nil: no answer
}

func (strung) State() sip.DialogState { return sip.DialogState{} }

func (s strung) Reoffer(offer []byte, heard func(sip.OfferResult)) {
	if s.answers != nil {
		heard(sip.OfferResult{Code: 200, Body: s.answers(offer)})
	}
}

func (s strung) Bye(int, string) {
	if s.bye != nil {
		s.bye()
	}
}

// dialUntilCheckpoint dials a call, waits until its checkpoint is stored, and returns its rows.
func (h *fixture) keeps() (c domain.Call, a domain.Attempt) {
	h.t.Helper()
	id := h.dial(area+"0009", waits())
	h.until(10*time.Second, "the checkpoint is stored", func() bool {
		c, a = h.attempt(id)
		_, ok := recovery.NewResumable(c, a, "next", time.Now())
		return ok
	})
	return c, a
}

// makeResumable stores n copies of a call as resumable calls.
func (h *fixture) survivors(n int, c domain.Call, a domain.Attempt) (out []*recovery.Resumable) {
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
func (h *fixture) takesUp(all []*recovery.Resumable, m medium, change func(*call.Config)) {
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

// Resumptions run a few at a time. Each one that ends, for whatever reason, starts the next.
func TestAllResumableCallsAreResumedDespiteFailures(t *testing.T) {
	t.Parallel()
	const all = 60 // more than run at the same time
	h := build(t, plan{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	c, a := h.keeps()
	for what, dies := range map[string]bool{"the far end hangs up": false, "its actor panics": true} {
		var asked atomic.Int64
		end := make(chan struct{})
		m := medium{revive: func(r sip.Resumption) (leg.Dialog, error) {
			r.Notify(sip.Ended{ByRemote: true})
			<-end
			return nil, sip.ErrIncompleteState
		}}
		h.takesUp(h.survivors(all, c, a), m, func(c *call.Config) {
			c.BeforeMessage = func(actor, _ string, msg any) {
				if actor == "call" && fmt.Sprintf("%T", msg) == "call.beginCall" {
					asked.Add(1)
					if dies {
						panic("planted panic")
					}
				}
			}
		})
		h.until(10*time.Second, what, func() bool { return asked.Load() == all })
		close(end)
	}
}

func TestResumedInboundCallHoldsNoTrunkChannel(t *testing.T) {
	t.Parallel()
	h := build(t, plan{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	c, a := h.keeps()
	held := make(chan string, 4)
	broker := h.sys.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if m, is := ctx.Message().(trunk.HoldChannel); is {
			held <- m.CallID
		}
	}))
	two := h.survivors(2, c, a)
	two[0].Call.Direction = domain.Inbound
	for _, s := range two {
		s.Trunk = &domain.Trunk{Meta: domain.Meta{ID: "trunk_sim"}}
	}
	revived := make(chan struct{}, 2)
	m := medium{revive: func(sip.Resumption) (leg.Dialog, error) {
		revived <- struct{}{}
		return strung{}, nil
	}}
	h.takesUp(two, m, func(c *call.Config) { c.Trunks = broker })
	soon(t, revived)
	soon(t, revived)
	assert.Equal(t, "call_1", soon(t, held))
	_ = h.sys.Root.PoisonFuture(broker).Wait()
	assert.Empty(t, held)
}

// observedMedia reports the options of each session that is opened.
type opening struct {
	leg.Media

	opened func(media.Options)
}

func (o opening) Open(m media.Options) (leg.Session, error) {
	o.opened(m)
	return o.Media.Open(m)
}

func TestEncryptedCallIsResumedEncrypted(t *testing.T) {
	t.Parallel()
	h := build(t, plan{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	c, a := h.keeps()
	var kept map[string]any
	require.NoError(t, json.Unmarshal(a.ResumeState, &kept))
	kept["confidential"] = true
	kept["sound"].(map[string]any)["secure"] = true
	a.ResumeState, _ = json.Marshal(kept)
	opened := make(chan media.Options, 1)
	m := medium{revive: func(sip.Resumption) (leg.Dialog, error) { return strung{}, nil }}
	h.takesUp(h.survivors(1, c, a), m, func(c *call.Config) { // the trunk was deleted
		c.Media = opening{c.Media, func(o media.Options) { opened <- o }}
	})
	o := soon(t, opened)
	assert.Equal(t, media.SRTPRequired, o.SRTP)
	assert.True(t, o.Confidential)
}

// userAgentWithoutProxy sends INVITEs directly to the target.
type byWay struct{ leg.UserAgent }

func (b byWay) Invite(in sip.Invite) (leg.Dialog, error) {
	in.Proxy = nil
	return b.UserAgent.Invite(in)
}

func TestCheckpointStoresThatTheProxyEncryptsSignalling(t *testing.T) {
	t.Parallel()
	h := build(t, plan{
		config: func(c *call.Config) { c.StoreCheckpoints = true },
		phone:  func(p leg.UserAgent) leg.UserAgent { return byWay{p} },
		trunks: func(h *fixture) []domain.Trunk {
			return []domain.Trunk{{
				Meta: domain.Meta{ID: "trunk_sim", Environment: domain.Live}, CallerIDs: []string{"+12025550100"}, Proxies: []domain.Proxy{proxyOf(h.carrier.Target())},
				OutboundProxy: &domain.Proxy{Host: "127.0.0.1", Port: 5061, Transport: "tls"},
			}}
		},
	})
	_, a := h.keeps()
	var kept struct{ Confidential bool }
	require.NoError(t, json.Unmarshal(a.ResumeState, &kept))
	assert.True(t, kept.Confidential)
}

// pauseObserver is a session that reports pauses of its recording.
type recorder struct {
	leg.Session

	pauses chan<- struct{}
}

func (r recorder) PauseRecording() {
	r.pauses <- struct{}{}
	r.Session.PauseRecording()
}

type recorders struct {
	leg.Media

	pauses chan<- struct{}
}

func (r recorders) Open(o media.Options) (leg.Session, error) {
	s, err := r.Media.Open(o)
	return recorder{s, r.pauses}, err
}

func TestRecordingStaysPausedAfterAResumption(t *testing.T) {
	t.Parallel()
	h := build(t, plan{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	c, _ := h.keeps()
	_, err := mailbox.Ask[call.RecordingPaused](t.Context(), h.sys, h.calls, call.PauseRecording{CallID: c.ID, Paused: true})
	require.NoError(t, err)
	c, a := h.attempt(c.ID) // without waiting: the answer promises that the pause is stored
	far, err := mute(t).engine.Open(media.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { far.Close() })
	m := medium{revive: func(sip.Resumption) (leg.Dialog, error) {
		return strung{answers: func(offer []byte) []byte {
			body, err := far.Answer(offer)
			assert.NoError(t, err)
			return body
		}}, nil
	}}
	pauses, told := make(chan struct{}, 9), make(chan string, 1)
	h.takesUp(h.survivors(1, c, a), m, func(c *call.Config) {
		c.Media, c.ResumptionDone = recorders{c.Media, pauses}, func(result string) { told <- result }
	})
	assert.Equal(t, recovery.ResultResumed, soon(t, told))
	assert.Len(t, pauses, 1)
}

// failingMedia opens no session.
type brokenSound struct{ leg.Media }

func (brokenSound) Open(media.Options) (leg.Session, error) {
	return nil, media.ErrNoPorts
}

func TestUnresumableDialogIsEnded(t *testing.T) {
	t.Parallel()
	h := build(t, plan{config: func(c *call.Config) { c.StoreCheckpoints = true }})
	c, a := h.keeps()
	orphans := make(chan sip.DialogState, 1)
	h.takesUp(h.survivors(1, c, a), medium{
		revive: func(sip.Resumption) (leg.Dialog, error) { return nil, sip.ErrIncompleteState },
		orphan: func(s sip.DialogState) { orphans <- s },
	}, nil)
	cseq, _ := spoken(t, a)
	assert.GreaterOrEqual(t, soon(t, orphans).LocalCSeq, cseq+4096)
	assert.Equal(t, domain.ReasonInterrupted, h.end("call_0").Verdict.Reason)
}

// While another process may own the shard, the resumption is retried and no BYE is sent.
func TestResumptionIsRetriedWhileOwnershipIsUncertain(t *testing.T) {
	t.Parallel()
	var cut atomic.Bool
	h := build(t, plan{config: func(c *call.Config) { c.StoreCheckpoints, c.OwnershipUncertain = true, cut.Load }})
	c, a := h.keeps()
	cut.Store(true)
	var tries atomic.Int64
	tried, told, byes := make(chan struct{}), make(chan string, 1), make(chan struct{}, 9)
	h.takesUp(h.survivors(1, c, a), medium{revive: func(r sip.Resumption) (leg.Dialog, error) {
		if tries.Add(1) < 3 {
			return nil, transport.ErrCallsSuspended
		}
		close(tried)
		return strung{bye: func() {
			byes <- struct{}{}
			r.Notify(sip.Ended{})
		}}, nil
	}}, func(c *call.Config) {
		c.Media, c.ResumptionDone = brokenSound{c.Media}, func(result string) { told <- result }
	})
	soon(t, tried)
	assert.Equal(t, recovery.ResultFailed, soon(t, told))
	h.never(500*time.Millisecond, "the peer gets a BYE", func() bool { return len(byes) > 0 })
	cut.Store(false)
	soon(t, byes)
	assert.Equal(t, domain.ReasonInterrupted, h.end("call_0").Verdict.Reason)
}
