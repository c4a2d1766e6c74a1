package call

import (
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	lists "github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

const (
	// keptEvery is how old what is kept of a live call may become.
	keptEvery = 15 * time.Second
	// SurvivesFor is how old it may be for another process to take the call up:
	// whoever has heard nothing for longer has gone.
	SurvivesFor = 60 * time.Second
	// takenUpMost is how often one call is taken up: what ends a process may be
	// the call itself.
	takenUpMost = 3
)

// kept is what another process needs to take a live call up; it rides in the
// attempt's row (domain.Attempt.Kept). The dialog stands in the row's leg.
type kept struct {
	At           time.Time           `json:"at"`
	Leg          int                 `json:"leg"`
	Sound        media.Memo          `json:"sound"`
	Talk         *conversation.Saved `json:"talk"`
	Script       json.RawMessage     `json:"script"`
	Variables    map[string]string   `json:"variables,omitempty"`
	CallerName   string              `json:"caller_name,omitempty"`
	OptOut       []string            `json:"opt_out,omitempty"`
	Scrub        lists.Scrub         `json:"scrub,omitzero"`
	Networks     []string            `json:"networks,omitempty"`
	MaxDuration  time.Duration       `json:"max_duration"`
	RingTimeout  time.Duration       `json:"ring_timeout,omitempty"`
	PerMinute    *domain.Amount      `json:"per_minute,omitempty"` // price of a minute; nil: the trunk names none
	Appointments booking.Made        `json:"appointments,omitempty"`
	Confidential bool                `json:"confidential,omitempty"`
	Paused       bool                `json:"paused,omitempty"` // nothing is recorded
	Times        int                 `json:"times,omitempty"`  // that the call was taken up
	Handed       bool                `json:"handed,omitempty"` // its process let go of it in order, which counts for no time
}

// keeps is what a call knows of what it keeps.
type keeps struct {
	script  json.RawMessage // as it is kept
	of      string          // agent and version of it
	stands  *conversation.Saved
	dirty   bool // stands is not stored
	acts    int  // of the conversation, that wait until stands is; 0: none
	at      time.Time
	acked   bool // the far end knows that it was heard to answer
	ticking bool
	parting parting
}

// byeAgainIn is how soon a BYE is tried again that nobody knew might be sent.
const byeAgainIn = 250 * time.Millisecond

type (
	keepOn   struct{}
	byeAgain struct{}
)

// Control admits it always.
func (keepOn) Control() {}

// Control admits it always.
func (byeAgain) Control() {}

// memorable is the sound of a call that can go on in another process.
type memorable interface{ Memo() media.Memo }

// keep writes down what another process needs; nil where nobody could go on:
// before the ACK, while the caller is with somebody else, and where the
// conversation knows what must not be stored.
func (c *call) keep(now time.Time) json.RawMessage {
	if !c.portable() {
		return nil
	}
	s, can := c.session.(memorable)
	line := c.resources.Dialog()
	if !can || line == nil {
		return nil
	}
	state := line.State()
	if !state.Confirmed {
		return nil
	}
	c.keepDialog(state)
	k := kept{
		At: now, Leg: c.leg, Sound: s.Memo(), Talk: c.keeps.stands, Script: c.keptScript(), Variables: c.variables, CallerName: c.callerName,
		OptOut: c.optOut, Scrub: c.scrub, Networks: c.networks, MaxDuration: c.maxDuration, RingTimeout: c.ringTimeout,
		Appointments: c.appointments, Confidential: c.keysHidden, Paused: c.paused, Times: c.timesTakenUp(), Handed: c.keeps.parting == letting,
	}
	if perMinute, known := c.pricePerMinute(); known && !c.inbound {
		k.PerMinute = &perMinute
	}
	b, err := domain.AppendRow(nil, &k)
	if err != nil {
		c.log.Warn("what another process needs of a call cannot be written", slog.Any("error", err))
		return nil
	}
	c.keeps.at, c.keeps.dirty = now, false
	return b
}

// portable says whether another process could go on with the call.
func (c *call) portable() bool {
	return c.cfg.Survive && c.stage == talking && c.keeps.acked && c.byeReason == "" && !c.leaving && !c.hangup && c.keeps.stands != nil &&
		c.transfer == nil && len(c.leavers) == 0 && c.adopted == nil && c.away&^awayHeld == 0 && len(c.contacts) == 0
}

// sendBye waits while another node may have the call: either the work is still
// here in the end, or all of it is let go of.
func (c *call) sendBye(ctx actor.Context) {
	if c.cfg.cut() && c.resources.isStored() { // for as long as the store may be away
		mailbox.After(ctx, byeAgainIn, byeAgain{})
		return
	}
	if !c.byeSent {
		c.byeSent = true
		c.after(ctx, byeLimit, late{stage: talking})
	}
	if d := c.resources.Dialog(); d != nil {
		d.Bye(16, string(c.byeReason))
	}
}

// keeping notes what becomes of a commit: from when it may be done another
// process may go on with the call, until one without Kept is durable.
func (c *call) keeping(then func(actor.Context, bool)) func(actor.Context, bool) {
	kept, acts := c.attempt.Kept != nil, c.keeps.acts
	c.keeps.acts = 0
	if kept {
		c.resources.setStored(true)
	}
	return func(ctx actor.Context, durable bool) {
		if durable && !kept {
			c.resources.setStored(c.save.keeps())
		}
		if acts > 0 && durable && c.conversation != nil { // whoever cannot store it is the owner no more
			ctx.Send(c.conversation, conversation.Stood{Acts: acts})
		}
		if then != nil {
			then(ctx, durable)
		}
	}
}

// keptScript is the script as it is kept; it is long, and changes with the agent.
func (c *call) keptScript() json.RawMessage {
	if of := c.script.AgentID + " " + c.script.Pathway.ID; c.keeps.script == nil || c.keeps.of != of {
		c.keeps.script, _ = domain.AppendRow(nil, &c.script) // it came from JSON
		c.keeps.of = of
	}
	return c.keeps.script
}

func (c *call) timesTakenUp() int {
	if c.survivor != nil {
		return c.survivor.Times
	}
	return 0
}

// stands hears where the conversation has come to, and stores it with the next
// commit, or by one of its own where none is under way.
func (c *call) stands(ctx actor.Context, m conversation.Stands) {
	c.keeps.stands, c.keeps.dirty = m.Saved, true
	c.keeps.acts = max(c.keeps.acts, m.Acts)
	c.keepNow(ctx)
}

func (c *call) keepNow(ctx actor.Context) {
	if !c.cfg.Survive || c.stage != talking || !c.save.idle() {
		return
	}
	if !c.keeps.ticking {
		c.keeps.ticking = true
		mailbox.After(ctx, keptEvery, keepOn{})
	}
	if c.keeps.dirty {
		c.keeps.dirty = false
		c.commit(ctx, "", nil, nil)
	}
}

// keepOn stores anew what has become old: it says until when the call lived.
func (c *call) keepOn(ctx actor.Context) {
	c.keeps.ticking = false
	if c.stage != talking {
		return
	}
	if time.Since(c.keeps.at) >= keptEvery {
		c.keeps.dirty = true
	}
	c.keepNow(ctx)
	if !c.keeps.ticking {
		c.keeps.ticking = true
		mailbox.After(ctx, keptEvery, keepOn{})
	}
}

// Survivor is a call of a process that is gone, which may go on here.
type Survivor struct {
	Call    domain.Call
	Attempt domain.Attempt
	Trunk   *domain.Trunk // of its leg; nil: it is gone
	Owner   *actor.PID    // as in Start
	kept    kept
	dialog  sip.DialogState
	script  domain.Script
}

// Survives says whether another process can go on with an open call, and
// prepares it: its attempt then counts as opened by boot, and has to be stored
// so before anything is done.
func Survives(c domain.Call, a domain.Attempt, boot string, now time.Time) (*Survivor, bool) {
	s := &Survivor{Call: c, Attempt: a}
	if len(a.Kept) == 0 || c.Final() || c.AnsweredAt == nil || c.Status != domain.CallInProgress || domain.ReadRow(a.Kept, &s.kept) != nil {
		return nil, false
	}
	k := &s.kept
	if k.Handed {
		k.Times, k.Handed = k.Times-1, false
	}
	if k.Times >= takenUpMost || k.Talk == nil || k.Leg < 1 || k.Leg > len(a.Legs) || k.Leg > len(c.Legs) || now.Sub(k.At) > SurvivesFor {
		return nil, false
	}
	if domain.ReadRow(a.Legs[k.Leg-1].Dialog, &s.dialog) != nil || !s.dialog.Confirmed || domain.ReadRow(k.Script, &s.script) != nil {
		return nil, false
	}
	if every := time.Duration(s.dialog.SessionSeconds) * time.Second; every > 0 && now.Sub(k.At) > every {
		return nil, false
	}
	if _, ok := pathway.Restore(s.script, k.Talk.State); !ok {
		return nil, false
	}
	k.Times++
	k.Sound.Lift() // and stored so: whatever we say, the next one begins above it
	s.dialog.Lift()
	b, err := domain.AppendRow(nil, k)
	if err != nil {
		return nil, false
	}
	dialog, err := leg.DialogBytes(s.dialog)
	if err != nil {
		return nil, false
	}
	s.Attempt.Legs = slices.Clone(a.Legs)
	s.Attempt.Legs[k.Leg-1].Dialog = dialog
	s.Attempt.Boot, s.Attempt.Kept = boot, b
	return s, true
}

// TrunkID is that of the call's leg.
func (s *Survivor) TrunkID() string { return s.Attempt.Legs[s.kept.Leg-1].TrunkID }

// trace is what the dialogs of a call have said, those of the process before
// included.
func (c *call) trace(t *siptrace.Buffer, of *domain.Call) *domain.TraceRow {
	if c.survivor == nil || len(c.before) == 0 {
		return t.TakeTrace(of)
	}
	all := (&domain.Attempt{CallID: of.ID, WorkspaceID: of.WorkspaceID, Trace: c.before}).Left()
	now := t.Trace(of)
	t.TakeTrace(of)
	if all == nil {
		all = &domain.CallTrace{CallID: of.ID, WorkspaceID: of.WorkspaceID}
	}
	if now != nil {
		all.Messages, all.Dropped = append(all.Messages, now.Messages...), all.Dropped+now.Dropped
	}
	return all.Pack()
}

// safe is what a crash is to find of the messages.
func (c *call) safe() []byte {
	now := c.cfg.Traces.AttemptTrace(&c.call)
	if len(c.before) == 0 {
		return now
	}
	return append(append(make([]byte, 0, len(c.before)+len(now)), c.before...), now...)
}
