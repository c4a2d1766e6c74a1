// Package leg holds one leg of a call: its SIP dialog, its media session and its entry in the database row of the call
// attempt. With that entry the leg can be ended after a crash. The package does not depend on the call or its
// conversation.
package leg

import (
	"net/netip"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/forking"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// Dialog is the SIP dialog of a leg.
type Dialog interface {
	State() sip.DialogState
	Ack()
	Cancel(reason string)
	Bye(q850 int, text string)
	ID() message.DialogID
	Refer(r sip.ReferTo, progress func(sip.ReferProgress))
	Info(contentType string, body []byte)
	Reoffer(body []byte, done func(sip.OfferResult))
	Probe(done func(code int))
}

// UserAgent sends the INVITEs of legs.
type UserAgent interface {
	DialogOpener
	// Host returns the local address that a peer can reach, or the zero Addr if it is unknown.
	Host(network string, peer netip.AddrPort) netip.Addr
	Invite(in sip.Invite) (Dialog, error)
}

// Resumer is a UserAgent that can continue or end a dialog that another process started.
type Resumer interface {
	Resume(r sip.Resumption) (Dialog, error)
	EndAbandoned(s sip.DialogState, done func(answered bool))
}

// NewUserAgent returns a UserAgent that uses the SIP stack. It calls may right before each INVITE and sends the INVITE
// only if may returns true. A nil may allows every INVITE.
func NewUserAgent(ua *sip.UserAgent, may func() bool) UserAgent { return userAgent{ua, may} }

type userAgent struct {
	*sip.UserAgent
	may func() bool
}

// Invite sends an INVITE. For a phone with several contacts it sends one INVITE to each contact.
func (u userAgent) Invite(in sip.Invite) (Dialog, error) {
	in.MayBegin = u.may
	if len(in.Contacts) > 0 {
		all, err := forking.Invite(u.UserAgent, in)
		if err != nil {
			return nil, err
		}
		return &forkedDialog{Dialog: all.Dialog(), all: all}, nil
	}
	d, err := u.UserAgent.Invite(in)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Resume continues a dialog that another process started, if this process owns the shard.
func (u userAgent) Resume(r sip.Resumption) (Dialog, error) {
	if u.may != nil && !u.may() {
		return nil, transport.ErrCallsSuspended
	}
	d, err := u.UserAgent.Resume(r)
	if err != nil {
		return nil, err
	}
	return d, nil
}
