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

// order is what a call was started with, inbound or outbound.
type order struct {
	call          domain.Call
	attempt       domain.Attempt
	script        domain.Script
	variables     map[string]string
	callerID      string // asked for by whoever placed the call; "": one of the trunk
	callerName    string
	optOut        []string
	scrub         dnc.Scrub
	permit        lines.Permit
	slot          trunk.Slot
	contacts      []registrar.Contact // of a phone of the workspace; then there is no trunk
	in            *sip.Incoming
	inbound       bool
	resumed       *recovery.Checkpoint // of a process that is gone
	resumedDialog sip.DialogState
	earlierTrace  []byte // what its dialogs had said
	networks      []string
	ringTimeout   time.Duration
	maxDuration   time.Duration
	owner         *actor.PID
}

func (o *order) lines(cfg *Config) *actor.PID { return linesOf(cfg, o.inbound, o.call.Environment) }

func linesOf(cfg *Config, inbound bool, env domain.Environment) *actor.PID {
	switch {
	case inbound:
		return cfg.LinesIn
	case env == domain.Test && cfg.LinesTest != nil:
		return cfg.LinesTest
	}
	return cfg.LinesOut
}

// inboundTrunk is the trunk over which an inbound call came; "": it is none, or
// came from a phone.
func (o *order) inboundTrunk() string {
	if o.call.Direction != domain.Inbound || o.slot.Via == nil {
		return ""
	}
	return o.slot.Via.ID
}

// ourNumber is our number in the call. The person called by a transfer sees it:
// a trunk may not show the number of a caller.
func (o *order) ourNumber() string {
	if o.call.Direction == domain.Inbound {
		return o.call.To
	}
	return o.call.From
}

// peerNumber is the number of the person in the call.
func (o *order) peerNumber() string { return peerNumber(&o.call) }

// playsRingback reports whether the caller hears how a transfer target is called.
func (o *order) playsRingback() bool {
	r := o.script.Transfer.Ringback
	return r == nil || *r
}

// resumptions is how often the call was resumed.
func (o *order) resumptions() int {
	if o.resumed != nil {
		return o.resumed.Resumptions
	}
	return 0
}

// refuseCaller rejects an inbound call.
func (o *order) refuseCaller(code int, extra ...message.Header) {
	if o.in != nil {
		o.in.Reject(code, 0, extra...)
	}
}

// referURI is the URI for a REFER: the peer reaches the number through its own side.
func (o *order) referURI(number string) (string, error) {
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

// resumedAddress is our address as the peer of a resumed call sees it.
func (o *order) resumedAddress(ua leg.UserAgent) netip.Addr {
	target := o.resumedDialog.Target
	ip, err := netip.ParseAddr(strings.Trim(target.Host, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return ua.Host(target.Transport, netip.AddrPortFrom(ip, uint16(target.Port&0xFFFF)))
}

// takeTrace returns the SIP messages of a call that is over, with those of the
// process before.
func (o *order) takeTrace(buffer *siptrace.Buffer, c *domain.Call) *domain.TraceRow {
	if o.resumed == nil || len(o.earlierTrace) == 0 {
		return buffer.TakeTrace(c)
	}
	all := (&domain.Attempt{CallID: c.ID, WorkspaceID: c.WorkspaceID, Trace: o.earlierTrace}).Left()
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

// attemptTrace is the row's copy of the SIP messages, for the case of a crash.
func (o *order) attemptTrace(buffer *siptrace.Buffer) []byte {
	now := buffer.AttemptTrace(&o.call)
	if len(o.earlierTrace) == 0 {
		return now
	}
	return append(append(make([]byte, 0, len(o.earlierTrace)+len(now)), o.earlierTrace...), now...)
}

// legRecord is the record of a leg. Its slice is never shared.
func (o *order) legRecord(number int) *domain.Leg {
	o.call.Legs = append([]domain.Leg(nil), o.call.Legs...)
	return &o.call.Legs[number-1]
}

// transferLegRecord is the record and the row of a transfer leg. Their slices are
// never shared.
func (o *order) transferLegRecord(number int) (*domain.Leg, *domain.AttemptLeg) {
	o.attempt.Legs = append([]domain.AttemptLeg(nil), o.attempt.Legs...)
	return o.legRecord(number), &o.attempt.Legs[number-1]
}

// setTransferDialog stores what a BYE or CANCEL after a crash needs.
func (o *order) setTransferDialog(number int, s sip.DialogState) {
	if b, err := leg.DialogBytes(s); err == nil {
		_, row := o.transferLegRecord(number)
		row.Dialog = b
	}
}

// transferRecord is the record of a transfer. Its slice is never shared.
func (o *order) transferRecord(index int) *domain.Transfer {
	o.call.Transfers = append([]domain.Transfer(nil), o.call.Transfers...)
	return &o.call.Transfers[index]
}

// addTransferStep adds a SIP response to the record of a transfer.
func (o *order) addTransferStep(index int, method string, code int, phrase string) {
	r := o.transferRecord(index)
	if len(r.SIP) < domain.MaxSIPSteps {
		r.SIP = append(slices.Clip(r.SIP), domain.SIPStep{At: time.Now().UTC(), Method: method, Code: code, Phrase: phrase})
	}
}

// invalidState is the answer to a request that the call cannot carry out now.
func (o *order) invalidState(text string) error {
	return domain.Errorf(domain.CodeInvalidState, "%s", text).With("current_status", o.call.Status)
}

// notTalking is the answer to a request that needs an answered call.
func (o *order) notTalking() error { return o.invalidState("nobody is talking on this call") }

// mediaRefused notes in the call's record why the peer's SDP was refused.
func (o *order) mediaRefused(err error) {
	if leg.IsMediaRefusal(err) {
		o.call.MediaIssue = "The SDP was refused: " + err.Error() + "."
	}
}

// openingState is the dialog of a leg before its INVITE is sent. That of a redirected
// leg is known by its Call-ID only.
func (o *order) openingState(ua leg.UserAgent, number int, redirected bool) sip.DialogState {
	if redirected {
		return sip.DialogState{CallID: ua.CallID(o.call.ID, number), Target: o.slot.Target}
	}
	return leg.OpeningState(ua, o.call.ID, number, &o.slot, o.call.To, o.call.From)
}

// doNotCallCheck is the check before a leg that follows another one; nil: none. Right
// before the first leg the starter of the call has checked.
func (o *order) doNotCallCheck(listed leg.Listed, number int) func(context.Context) error {
	if number < 2 || len(o.contacts) > 0 {
		return nil
	}
	scrub, to := o.scrub, o.call.To
	return func(ctx context.Context) error { return leg.CheckDoNotCall(ctx, listed, scrub, to) }
}
