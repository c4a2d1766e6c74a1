package call

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/call/recovery"
	"github.com/callboard/callboard/actors/call/siptrace"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/registrar"
)

// callSetup is all input of a new or resumed call: its records, script, permit, trunk slot and peer.
type callSetup struct {
	call          domain.Call
	attempt       domain.Attempt
	script        domain.Script
	variables     map[string]string
	callerID      string // requested caller ID; "": a number of the trunk
	callerName    string
	optOut        []string
	scrub         dnc.ScrubRules
	permit        lines.Permit
	slot          trunk.Slot
	contacts      []registrar.Contact // of a phone of the workspace; such a call has no trunk
	in            *sip.Incoming
	inbound       bool
	resumed       *recovery.Checkpoint // checkpoint of an ended process; nil: the call is not resumed
	resumedDialog sip.DialogState
	earlierTrace  []byte // SIP messages that the ended process recorded
	networks      []string
	ringTimeout   time.Duration
	maxDuration   time.Duration
	owner         *actor.PID
}

func (o *callSetup) lines(cfg *Config) *actor.PID { return linesOf(cfg, o.inbound, o.call.Environment) }

func linesOf(cfg *Config, inbound bool, env domain.Environment) *actor.PID {
	switch {
	case inbound:
		return cfg.LinesIn
	case env == domain.Test && cfg.LinesTest != nil:
		return cfg.LinesTest
	}
	return cfg.LinesOut
}

// inboundTrunk returns the ID of the trunk over which an inbound call came in. It returns "" for an outbound call and for
// a call from a phone.
func (o *callSetup) inboundTrunk() string {
	if o.call.Direction != domain.Inbound || o.slot.Via == nil {
		return ""
	}
	return o.slot.Via.ID
}

// ownNumber returns the workspace's number in the call. A transfer target sees this number as caller ID, because a trunk
// may refuse the caller's number.
func (o *callSetup) ownNumber() string {
	if o.call.Direction == domain.Inbound {
		return o.call.To
	}
	return o.call.From
}

// peerNumber returns the number of the party that the workspace talks to.
func (o *callSetup) peerNumber() string { return peerNumber(&o.call) }

// playsRingback reports whether the caller hears ringback while a transfer target is called.
func (o *callSetup) playsRingback() bool {
	r := o.script.Transfer.Ringback
	return r == nil || *r
}

// resumptions returns how often the call was resumed.
func (o *callSetup) resumptions() int {
	if o.resumed != nil {
		return o.resumed.Resumptions
	}
	return 0
}

// refuseCaller rejects the INVITE of an inbound call. An outbound call ignores it.
func (o *callSetup) refuseCaller(code int, extra ...message.Header) {
	if o.in != nil {
		o.in.Reject(code, 0, extra...)
	}
}

// referURI returns the Refer-To URI of a number. Its host is the peer's own address, so that the peer dials the number
// itself.
func (o *callSetup) referURI(number string) (string, error) {
	host, port, user := strings.Trim(o.slot.Target.Host, "[]"), o.slot.Target.Port, number
	if o.in != nil {
		host, port = o.in.Source.Addr().Unmap().String(), int(o.in.Source.Port())
	} else {
		var err error
		if user, err = o.slot.Trunk().DialString(user); err != nil {
			return "", err
		}
	}
	switch {
	case port != 0 && port != 5060:
		host = net.JoinHostPort(host, strconv.Itoa(port))
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return "sip:" + user + "@" + host, nil
}

// resumedAddress returns the address of this service as the peer of a resumed call sees it.
func (o *callSetup) resumedAddress(ua leg.UserAgent) netip.Addr {
	target := o.resumedDialog.Target
	ip, err := netip.ParseAddr(strings.Trim(target.Host, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return ua.Host(target.Transport, netip.AddrPortFrom(ip, uint16(target.Port&0xFFFF)))
}

// takeTrace removes the SIP messages of an ended call from buffer and returns them. For a resumed call, the messages of
// the earlier process precede them.
func (o *callSetup) takeTrace(buffer *siptrace.Buffer, c *domain.Call) *domain.TraceRow {
	if o.resumed == nil || len(o.earlierTrace) == 0 {
		return buffer.TakeTrace(c)
	}
	all := (&domain.Attempt{CallID: c.ID, WorkspaceID: c.WorkspaceID, Trace: o.earlierTrace}).StoredTrace()
	now := buffer.Trace(c)
	buffer.TakeTrace(c)
	if all == nil {
		all = &domain.CallTrace{CallID: c.ID, WorkspaceID: c.WorkspaceID}
	}
	if now != nil {
		all.Messages, all.Dropped = append(all.Messages, now.Messages...), all.Dropped+now.Dropped
	}
	return all.Pack()
}

// attemptTrace returns the SIP messages of the call so far. The database row of the call attempt stores them, so that they
// survive a crash.
func (o *callSetup) attemptTrace(buffer *siptrace.Buffer) []byte {
	now := buffer.AttemptTrace(&o.call)
	if len(o.earlierTrace) == 0 {
		return now
	}
	return append(append(make([]byte, 0, len(o.earlierTrace)+len(now)), o.earlierTrace...), now...)
}

// legRecord returns a leg of the call record for changes. It copies the slice of legs first, because queued commits may
// still use the old slice.
func (o *callSetup) legRecord(number int) *domain.Leg {
	o.call.Legs = append([]domain.Leg(nil), o.call.Legs...)
	return &o.call.Legs[number-1]
}

// transferLegRecord returns the entries of a transfer leg in the call and in the call attempt, for changes. It copies both
// slices first, because queued commits may still use the old ones.
func (o *callSetup) transferLegRecord(number int) (*domain.Leg, *domain.AttemptLeg) {
	o.attempt.Legs = append([]domain.AttemptLeg(nil), o.attempt.Legs...)
	return o.legRecord(number), &o.attempt.Legs[number-1]
}

// setTransferDialog stores the dialog of a transfer leg in the database row of the call attempt, so that the leg can be
// ended after a crash.
func (o *callSetup) setTransferDialog(number int, s sip.DialogState) {
	if b, err := leg.EncodeDialog(s); err == nil {
		_, row := o.transferLegRecord(number)
		row.Dialog = b
	}
}

// transferRecord returns a transfer of the call record for changes. It copies the slice of transfers first, because queued
// commits may still use the old slice.
func (o *callSetup) transferRecord(index int) *domain.Transfer {
	o.call.Transfers = append([]domain.Transfer(nil), o.call.Transfers...)
	return &o.call.Transfers[index]
}

// addTransferStep adds a SIP response to the record of a transfer, up to domain.MaxSIPSteps.
func (o *callSetup) addTransferStep(index int, method string, code int, phrase string) {
	r := o.transferRecord(index)
	if len(r.SIP) < domain.MaxSIPSteps {
		r.SIP = append(slices.Clip(r.SIP), domain.SIPStep{At: time.Now().UTC(), Method: method, Code: code, Phrase: phrase})
	}
}

// invalidState returns the error for a request that the current status of the call does not allow.
func (o *callSetup) invalidState(text string) error {
	return domain.Errorf(domain.CodeInvalidState, "%s", text).With("current_status", o.call.Status)
}

// notTalking returns the error for a request that needs an answered call.
func (o *callSetup) notTalking() error { return o.invalidState("the call is not answered") }

// recordMediaRefusal writes into the call record why the peer's SDP was refused. It ignores errors of other kinds.
func (o *callSetup) recordMediaRefusal(err error) {
	if leg.IsMediaRefusal(err) {
		o.call.MediaIssue = "The SDP was refused: " + err.Error() + "."
	}
}

// openingState returns the state of a leg's dialog before its INVITE is sent. For a redirected leg it contains only the
// Call-ID and the target.
func (o *callSetup) openingState(ua leg.UserAgent, number int, redirected bool) sip.DialogState {
	if redirected {
		return sip.DialogState{CallID: ua.CallID(o.call.ID, number), Target: o.slot.Target}
	}
	return leg.OpeningState(ua, o.call.ID, number, &o.slot, o.call.To, o.call.From)
}

// doNotCallCheck returns the do-not-call check of a leg, or nil for the first leg and for calls to a phone. The owner of
// the call has checked the number before the first leg.
func (o *callSetup) doNotCallCheck(listed leg.IsListed, number int) func(context.Context) error {
	if number < 2 || len(o.contacts) > 0 {
		return nil
	}
	scrub, to := o.scrub, o.call.To
	return func(ctx context.Context) error { return leg.CheckDoNotCall(ctx, listed, scrub, to) }
}
