package recovery

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/sip"
)

// Results of a resumption. The metric of resumptions uses them as label values.
const (
	ResultResumed  = "resumed"
	ResultRefused  = "refused"   // the peer refused the re-INVITE
	ResultNoAnswer = "no_answer" // the peer did not answer
	ResultFailed   = "failed"    // no media session, or no route to the peer
)

// Resumable is a call of an ended process that this process may resume.
type Resumable struct {
	Call       domain.Call
	Attempt    domain.Attempt
	Trunk      *domain.Trunk // trunk of the leg; nil: deleted
	Owner      *actor.PID    // gets call.Ended until it acknowledges; nil: Calls commits the end
	Checkpoint Checkpoint
	Dialog     sip.DialogState
	Script     domain.Script
}

// NewResumable checks whether an open call can be resumed and prepares it. The attempt then belongs to boot, the ID of
// this process. The caller must store the attempt before this process sends any SIP message for the call.
func NewResumable(c domain.Call, a domain.Attempt, boot string, now time.Time) (*Resumable, bool) {
	r := &Resumable{Call: c, Attempt: a}
	k := &r.Checkpoint
	if len(a.ResumeState) == 0 || c.Final() || c.AnsweredAt == nil || c.Status != domain.CallInProgress || domain.ReadRow(a.ResumeState, k) != nil {
		return nil, false
	}
	if k.HandedOver {
		k.Resumptions, k.HandedOver = k.Resumptions-1, false
	}
	if k.Resumptions >= maxResumptions || k.Conversation == nil || k.Leg < 1 || k.Leg > len(a.Legs) || k.Leg > len(c.Legs) || now.Sub(k.At) > MaxAge {
		return nil, false
	}
	if domain.ReadRow(a.Legs[k.Leg-1].Dialog, &r.Dialog) != nil || !r.Dialog.Confirmed || domain.ReadRow(k.Script, &r.Script) != nil {
		return nil, false
	}
	if expires := time.Duration(r.Dialog.SessionSeconds) * time.Second; expires > 0 && now.Sub(k.At) > expires {
		return nil, false
	}
	if _, ok := pathway.Restore(r.Script, k.Conversation.State); !ok {
		return nil, false
	}
	k.Resumptions++
	k.Media.RaiseVersion() // a process that resumes the call after this one continues above all values that this one sends
	r.Dialog.RaiseCSeq()
	b, err := domain.AppendRow(nil, k)
	if err != nil {
		return nil, false
	}
	dialog, err := leg.EncodeDialog(r.Dialog)
	if err != nil {
		return nil, false
	}
	r.Attempt.Legs = slices.Clone(a.Legs)
	r.Attempt.Legs[k.Leg-1].Dialog = dialog
	r.Attempt.Boot, r.Attempt.ResumeState = boot, b
	return r, true
}

// TrunkID returns the ID of the trunk of the call's leg.
func (r *Resumable) TrunkID() string { return r.Attempt.Legs[r.Checkpoint.Leg-1].TrunkID }
