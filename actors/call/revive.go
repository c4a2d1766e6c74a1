package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
)

const (
	takenUpAtOnce = 50               // far ends of a workspace that are asked at a time
	reviveLimit   = 8 * time.Second  // for the answer of one
	heldFor       = 40 * time.Second // its channel, until the actor has bound it
)

// What came of a survivor (Config.TookUp).
const (
	Saved   = "saved"   // it goes on
	Refused = "refused" // its far end did not want to
	Silent  = "silent"  // or did not answer
	Broken  = "broken"  // there was no sound to be had for it, or no way there
)

type (
	// TakeUp begins to ask the far ends of the survivors: the tree has grown.
	TakeUp struct{}
	// revived says that a survivor goes on, or never will.
	revived struct{ callID string }
	// reopened: the dialog and the sound are there, and the far end was asked.
	reopened struct {
		missing bool // its recording so far lies elsewhere
		err     error
	}
	reanswered struct{ answer sip.Reanswer }
	// reopenAgain tries again what another process might have had.
	reopenAgain struct{}
	// unasked: nothing was answered in time.
	unasked struct{}
)

// Control admits it always.
func (TakeUp) Control() {}

// Control admits it always.
func (revived) Control() {}

// Control admits it always.
func (reopened) Control() {}

// Control admits it always.
func (reanswered) Control() {}

// Control admits it always.
func (reopenAgain) Control() {}

// Control admits it always.
func (unasked) Control() {}

// revival is what a call knows of its own taking up.
type revival struct {
	failed, over bool
	missing      bool
	began        time.Time
}

func (cfg *Config) cut() bool { return cfg.Survive && cfg.Cut != nil && cfg.Cut() }

// wake makes the actors of the survivors: a census finds them from the start.
func (c *Calls) wake(ctx actor.Context) {
	for _, s := range c.cfg.Survivors {
		c.start(ctx, orderAfter(s))
	}
}

func orderAfter(s *Survivor) *order {
	k := &s.kept
	return &order{
		call: s.Call, attempt: s.Attempt, script: s.script, variables: k.Variables, callerName: k.CallerName, optOut: k.OptOut, scrub: k.Scrub,
		slot:     trunk.Slot{Via: s.Trunk, CallID: s.Call.ID, Target: s.dialog.Target},
		networks: k.Networks, ringTimeout: k.RingTimeout, maxDuration: k.MaxDuration, owner: s.Owner,
		inbound: s.Call.Direction == domain.Inbound, survivor: k, dialog: s.dialog, before: s.Attempt.Trace,
	}
}

// takeUp asks so many more far ends.
func (c *Calls) takeUp(ctx actor.Context, n int) {
	for _, b := range c.berths {
		if n == 0 {
			return
		}
		if !b.survives || b.begun || b.pid == nil {
			continue
		}
		b.begun = true
		n--
		if c.cfg.Numbers != nil {
			ctx.Send(c.cfg.Numbers, numbers.Rings{CallID: b.callID, Number: b.number, Environment: b.environment})
		}
		ctx.Send(b.pid, begin{})
	}
}

// started wakes the survivors, and looks for what others have left.
func (c *Calls) started(ctx actor.Context) {
	c.wake(ctx)
	resumable := make(map[string]bool, len(c.cfg.Survivors)) // these calls go on with their files
	for _, s := range c.cfg.Survivors {
		resumable[s.Call.ID] = true
	}
	c.recordings.RecoverSpool(ctx, resumable)
}

// left hears what is about calls and recordings of processes that are gone.
func (c *Calls) left(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case TakeUp:
		c.takeUp(ctx, takenUpAtOnce)
	case revived:
		c.asked(ctx, m.callID)
	case Part, Keep, LetGo, parts:
		c.handing(ctx, m)
	default:
		c.recordings.Receive(ctx)
	}
}

// asked: a survivor goes on, or never will; the next one is asked. It counts
// once, whether the call has said so or has died.
func (c *Calls) asked(ctx actor.Context, id string) {
	if b := c.berths[id]; b != nil && b.begun && !b.told {
		b.told = true
		c.takeUp(ctx, 1)
	}
}

// revive asks the far end of a call that lived in another process to go on
// here: our dialog with a higher CSeq, and a re-INVITE that says where our
// sound is now.
func (c *call) revive(ctx actor.Context) {
	if c.stage != reviving || !c.revival.began.IsZero() {
		return
	}
	now := time.Now()
	c.revival.began, c.reached, c.keeps.acked = now, true, true
	c.answeredAt = now.Add(-max(0, now.UTC().Sub(*c.call.AnsweredAt)))
	c.appointments, c.codecs = c.survivor.Appointments, leg.CodecsOf(c.slot.Trunk().Codecs)
	tag := ""
	if c.inbound {
		tag = c.dialog.LocalTag
	}
	c.cfg.Traces.Claim(c.call.ID, c.dialog.CallID, tag)
	if id := c.trunkID(); c.cfg.Trunks != nil && id != "" && !c.inbound { // as in begin
		ctx.Send(c.cfg.Trunks, trunk.Hold{CallID: c.call.ID, TrunkID: id, Until: now.Add(heldFor)})
		ctx.Send(c.cfg.Trunks, trunk.Bind{CallID: c.call.ID, Call: ctx.Self()})
		perMinute, _ := c.pricePerMinute()
		ctx.Send(c.cfg.Trunks, trunk.ResumeMeter{CallID: c.call.ID, Environment: c.call.Environment, PerMinute: perMinute, Answered: c.answeredAt})
	}
	c.after(ctx, reviveLimit, unasked{})
	c.reopen(ctx)
}

// reopen gets dialog and sound, beside the actor.
func (c *call) reopen(ctx actor.Context) {
	if c.stage != reviving || c.revival.failed {
		return
	}
	root, self, number := ctx.ActorSystem().Root, ctx.Self(), c.leg
	c.dialog.Environment = c.call.Environment
	r := sip.Revival{State: c.dialog, Notify: func(e sip.Event) { root.Send(self, dialogEvent{number, e}) }}
	if !c.inbound {
		if a := c.slot.Trunk().Auth; a != nil {
			r.Credentials = &auth.Credentials{Username: a.Username, Password: a.Password, Realm: a.Realm}
		}
	}
	o, cfg, v := c.options(ctx), c.cfg, c.resources.Resources
	o.Answerer = false
	mailbox.Work(ctx, dialLimit, func(context.Context) any {
		return reopen(cfg, v, number, o, r, func(a sip.Reanswer) { root.Send(self, reanswered{a}) })
	})
}

func reopen(cfg *Config, v *leg.Resources, number int, o media.Options, r sip.Revival, heard func(sip.Reanswer)) (m reopened) {
	defer func() {
		if v := recover(); v != nil {
			m.err = fmt.Errorf("call: taking up panicked: %v", v)
		}
	}()
	phone, can := cfg.UserAgent.(leg.Resumer)
	if !can {
		return reopened{err: sip.ErrUnknown}
	}
	d, err := phone.Revive(r)
	if err != nil {
		return reopened{err: err}
	}
	if !v.SetResumedDialog(number, d) {
		return reopened{err: media.ErrClosed}
	}
	s, err := cfg.Media.Open(o)
	if err != nil {
		return reopened{err: err} // whoever has the dialog now ends it
	}
	if !v.SetSession(number, s) {
		s.Close()
		return reopened{err: media.ErrClosed}
	}
	v.SetDialog(number, d)
	d.Reoffer(s.Offer(), heard)
	if o.RecordPath != "" {
		_, gone := os.Stat(o.RecordPath)
		m.missing = errors.Is(gone, os.ErrNotExist)
	}
	return m
}

// addressFor is our address as the far end of a survivor sees it.
func (c *call) addressFor() netip.Addr {
	ip, err := netip.ParseAddr(strings.Trim(c.dialog.Target.Host, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return c.cfg.UserAgent.Host(c.dialog.Target.Transport, netip.AddrPortFrom(ip, uint16(c.dialog.Target.Port&0xFFFF)))
}

func (c *call) reopened(ctx actor.Context, m reopened) {
	c.revival.missing = m.missing
	if m.err == nil || c.stage != reviving || c.revival.failed {
		return
	}
	if errors.Is(m.err, sip.ErrHeld) { // until it is known whose it is, or time is up
		mailbox.After(ctx, byeAgainIn, reopenAgain{})
		return
	}
	c.log.Warn("a call of an earlier process cannot be taken up", slog.Any("error", m.err))
	c.revival.failed = true
	c.tellRevived(ctx, Broken)
	c.takeLeave(ctx)
}

// reanswered: the far end goes on with us, or does not.
func (c *call) reanswered(ctx actor.Context, m reanswered) {
	if c.stage != reviving || c.revival.failed {
		return
	}
	s := c.resources.Session()
	err := m.answer.Err
	switch {
	case err == nil && m.answer.Code != sipOK:
		err = fmt.Errorf("the far end answered %d", m.answer.Code)
	case err == nil && s == nil:
		err = media.ErrClosed
	case err == nil:
		err = s.Accept(m.answer.Body)
	}
	if err != nil {
		c.mediaRefused(err)
		c.unrevived(ctx, err.Error())
		return
	}
	c.goOn(ctx, s)
}

// unrevived ends a call that could not be taken up, as if nobody had tried.
func (c *call) unrevived(ctx actor.Context, why string) {
	if c.stage != reviving || c.revival.failed {
		return
	}
	c.revival.failed = true
	result := Refused
	if time.Since(c.revival.began) >= reviveLimit {
		result = Silent
	}
	c.log.Info("a call of an earlier process is over: its far end does not go on with it", slog.String("reason", why))
	c.tellRevived(ctx, result)
	c.takeLeave(ctx)
}

// takeLeave says BYE to the far end of a survivor, whether we have its dialog or
// not. It waits while another node may have the call: that asks it as well.
func (c *call) takeLeave(ctx actor.Context) {
	if c.cfg.cut() {
		mailbox.After(ctx, byeAgainIn, byeAgain{})
		return
	}
	c.after(ctx, byeLimit, late{stage: reviving})
	if d := c.resources.Dialog(); d != nil {
		d.Bye(41, "service restarted")
		return
	}
	root, self, number := ctx.ActorSystem().Root, ctx.Self(), c.leg
	over := dialogEvent{number, sip.Ended{}}
	if phone, can := c.cfg.UserAgent.(leg.Resumer); can {
		c.dialog.Environment = c.call.Environment
		phone.Orphan(c.dialog, func(bool) { root.Send(self, over) })
		return
	}
	ctx.Send(self, over)
}

// byeAgain tries the BYE again that had to wait.
func (c *call) byeAgain(ctx actor.Context) {
	switch {
	case c.stage == talking:
		c.sendBye(ctx)
	case c.stage == reviving && c.revival.failed:
		c.takeLeave(ctx)
	}
}

func (c *call) tellRevived(ctx actor.Context, result string) {
	if c.revival.over {
		return
	}
	c.revival.over = true
	if c.cfg.TookUp != nil {
		c.cfg.TookUp(result)
	}
	ctx.Send(ctx.Parent(), revived{c.call.ID})
}

// goOn begins the sound and goes on with the conversation.
func (c *call) goOn(ctx actor.Context, s leg.Session) {
	c.stage, c.session = talking, s
	if c.paused = c.survivor.Paused; c.paused {
		s.PauseRecording()
	}
	s.Resume()
	s.Begin()
	c.keeps.stands = c.survivor.Talk
	c.converse(ctx, c.survivor.Talk)
	c.stopClock = mailbox.After(ctx, max(time.Second, c.maxDuration-time.Since(c.answeredAt)), maxed{})
	c.record().Codec = s.Stats().Codec
	silent := time.Since(c.survivor.At)
	c.log.Info("a call of an earlier process goes on here", slog.Duration("kept_before", silent.Round(time.Millisecond)),
		slog.Duration("asked_for", time.Since(c.revival.began).Round(time.Millisecond)), slog.Bool("recording_missing", c.revival.missing))
	c.tellRevived(ctx, Saved)
	c.commit(ctx, "", nil, nil)
	if c.hangup {
		c.bye(ctx, byAPI, c.hangupReason)
	}
}
