package sip

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/sessiontimer"
)

// Invite describes one outbound leg.
type Invite struct {
	Attempt      string // Call-ID, From tag and branch are derived from Attempt and Leg
	Leg          int
	Environment  domain.Environment // requests of any environment except live may only go to Config.TestCarrier
	Target       resolve.Target
	Proxy        *resolve.Target // outbound proxy: the request is sent there with a Route, and Target stays in the Request-URI
	Credentials  *auth.Credentials
	To, From     string              // E.164 users
	URI          string              // Request-URI of a registered phone; all messages then go to Target. "": sip:To@Target
	Redirected   bool                // URI comes from a 3xx: messages follow the dialog's route set, as with any peer
	Contacts     []registrar.Contact // of a registered phone, for forking.Invite: all contacts ring, and the first that answers gets the call
	FromName     string
	FromDomain   string // "": the public host
	Headers      []message.Header
	Body         []byte        // SDP
	RingTimeout  time.Duration // maximum time from the first 18x to the answer. Default: 30 s
	SilentAfter  time.Duration // time limit for the first response of an address. Default: 5 s
	Notify       func(Event)   // receives the events in order, never concurrently for one dialog; must not block
	MayBegin     func() bool   // whether the leg may begin, checked right before each initial INVITE is sent, in addition to Config.MayCall; must not wait. nil: always
	HoldAck      bool          // the ACK waits for Dialog.Ack, at most 3 s, so that an owner that stores the answer first loses no dialog in a crash
	SetupTimeout time.Duration // maximum time from the first 1xx to an 18x. Default: 60 s

	// If Body is empty, the INVITE asks for an offer. Then Answered.Offer is true, and the ACK waits for Dialog.Respond.
	Reliable       bool              // offers 100rel (RFC 3262), but never requires it
	SessionExpires time.Duration     // requested (RFC 4028), at least 90 s; 0: left to the remote party
	Replaces       *message.DialogID // the dialog of the remote party that this leg takes over (RFC 3891)
}

// Defaults of Invite.
const (
	defaultRingTimeout  = 30 * time.Second
	defaultSilentAfter  = 5 * time.Second
	defaultSetupTimeout = 60 * time.Second
)

// MaxBody is the maximum size of a request body in bytes.
const MaxBody = 8 << 10

// checkInvite returns an error for invalid fields of an Invite, and sets the defaults of empty fields.
func (u *UserAgent) checkInvite(in *Invite) error {
	if err := u.checkTarget(&in.Target); err != nil {
		return err
	}
	if in.Proxy != nil {
		proxy := *in.Proxy
		if err := u.checkTarget(&proxy); err != nil {
			return err
		}
		in.Proxy = &proxy
	}
	switch {
	case len(in.Contacts) > 0:
		return errors.New("sip: Contacts is set: use forking.Invite")
	case in.URI != "" && !message.IsContactURI(in.URI):
		return fmt.Errorf("sip: %q is not a valid contact URI", in.URI)
	case in.Attempt == "":
		return errors.New("sip: Attempt is not set")
	case in.FromDomain != "" && !message.IsHost(in.FromDomain):
		return fmt.Errorf("sip: %q is not a valid domain", in.FromDomain)
	case !message.IsSingleLine(in.FromName) || len(in.FromName) > 128:
		return fmt.Errorf("sip: %q is not a valid display name", in.FromName)
	case len(in.Body) > MaxBody:
		return errors.New("sip: body too large")
	case len(in.Headers) > 32:
		return errors.New("sip: too many headers")
	case in.SessionExpires < 0 || in.SessionExpires > sessiontimer.MaxInterval:
		return fmt.Errorf("sip: session interval %s is out of range", in.SessionExpires)
	}
	if in.SessionExpires > 0 {
		in.SessionExpires = max(in.SessionExpires, u.sessions.Least)
	}
	if in.Replaces != nil {
		if _, err := message.FormatReplaces(in.Replaces); err != nil {
			return err
		}
	}
	for _, h := range in.Headers {
		most := maxValue
		if message.CanonicalName(h.Name) == nameIdentity {
			most = outcome.MaxIdentitySize
		}
		if !message.IsToken(h.Name) || !message.IsSingleLine(h.Value) || len(h.Value) > most || slices.Contains(ownHeaders(), message.CanonicalName(h.Name)) {
			return fmt.Errorf("sip: header %q is not allowed", h.Name)
		}
	}
	if in.RingTimeout <= 0 {
		in.RingTimeout = defaultRingTimeout
	}
	if in.SilentAfter <= 0 {
		in.SilentAfter = defaultSilentAfter
	}
	if in.SetupTimeout <= 0 {
		in.SetupTimeout = defaultSetupTimeout
	}
	in.SilentAfter = min(in.SilentAfter, transactionTimeout)
	return nil
}

// ownHeaders returns the names of headers that the owner of a call may not add, because the dialog writes them.
func ownHeaders() []string {
	return []string{
		"via", "from", "to", "call-id", "cseq", "max-forwards", "contact", "content-length", "content-type",
		"content-encoding", "route", "record-route", "authorization", "proxy-authorization", "require",
		message.RelayHeaderLower, "proxy-require", "supported", "k", "allow", "user-agent", "expires", "session-expires", "x", "min-se", "rseq", "rack", "replaces",
	}
}
