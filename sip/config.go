package sip

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// Config is what a user agent needs to know. Everything but Listen may stay zero.
type Config struct {
	Listen     []transport.Listener
	PublicIP   netip.Addr                // host of Via and Contact; zero: the listener's address
	PublicPort int                       // port of Via and Contact; 0: the listener's port
	Private    []netip.Prefix            // far ends in these networks, and on loopback, get the listener's own address all the same
	Probes     []netip.Prefix            // dispatchers: their OPTIONS is answered though they are nobody's trunk
	TLS        *transport.TLS            // for listeners and calls over TLS; nil: the machine's roots, no certificate of our own
	DSCP       int                       // marks what the SIP sockets send, 0 to 63 (RFC 4594: 24, CS3, or 40, CS5)
	Resolver   *resolve.Resolver         // finds targets; nil: one with the name servers of the machine
	Trace      Trace                     // hears each message of a dialog; nil: nobody
	UserAgent  string                    // "Callboard/<version>"
	Secret     []byte                    // keys the HMACs of Call-ID, tags and branches; nil: drawn at random
	MayReach   func(netip.AddrPort) bool // egress check for targets learnt from Contact, Record-Route or DNS; nil allows
	Silent     bool                      // no request leaves, whatever asks for it (transport.ErrSilent); requests of others are answered
	MayCall    func() bool               // asked right before an INVITE leaves that begins a call, see HoldCalls, and before one is taken; it must not wait; nil: always
	Log        *slog.Logger              // nil: silence

	// TestCarrier is the one peer that requests of the test environment may go to,
	// and those that name no environment. nil: there are no environments. A zero
	// address: those requests reach nobody.
	TestCarrier func() netip.AddrPort

	SessionExpires time.Duration // asked of callers (RFC 4028), at least 90 s; 0 leaves it to them

	SourceRate  int // messages a second from one address, default 20000
	MaxHalfOpen int // unanswered inbound calls at a time, default 2000; from one host three quarters of them
	MaxTCPConns int // TCP and TLS connections at a time, default 512
	MaxPerHost  int // TCP and TLS connections that one host may open to us at a time, default 64

	// Of several nodes that share the work: a request that begins something, or
	// is of a dialog that is not here, is passed on to the node that Elsewhere
	// names; false: it is ours. True and no address: nobody has it now, and who
	// is known is told to come again. It may wait, half a second at most, and is asked
	// beside the readers of the sockets; of OPTIONS only whether any other node
	// knows its source, and then it is answered here. Placed, which may be nil, is asked
	// first and answers from memory, or that it is not sure.
	Elsewhere func(cluster.OwnerQuery) (netip.AddrPort, bool)
	Placed    func(cluster.OwnerQuery) (at netip.AddrPort, elsewhere, sure bool)
	CutOff    func() bool // whether none of the other nodes is reached: then OPTIONS is answered with 503, and calls are taken and passed on as ever; it must not wait; nil: never
	RelayKey  []byte      // of the install: proves what nodes say of requests that they pass on; nil: they are believed nothing
	NodeMark  string      // names this node in tags and Contacts of its dialogs, 16 letters and digits at most, the same after a restart

	Linger        time.Duration // a dialog that is over answers repetitions so long, default 40 s; less is for tests
	OverloadAfter time.Duration // an INVITE that waited so long to be read is answered 503 at once, default 500 ms
}

// Invite is one outbound leg.
type Invite struct {
	Attempt      string // with Leg the source of Call-ID, From-tag and branch
	Leg          int
	Environment  domain.Environment // all but live reaches Config.TestCarrier only
	Target       resolve.Target
	Proxy        *resolve.Target // an outbound proxy: sent there with a Route, Target stays in the Request-URI
	Credentials  *auth.Credentials
	To, From     string              // E.164 users
	URI          string              // the Request-URI of a registered phone; all messages then go to Target. "": sip:To@Target
	Moved        bool                // URI is what a 3xx named: messages go by the dialog's routes, as with any far end
	Contacts     []registrar.Contact // of a registered phone, for Ring: all of them ring, and the first answer has the call
	FromName     string
	FromDomain   string // "" is the public host
	Headers      []message.Header
	Body         []byte        // SDP
	RingTimeout  time.Duration // from the first 18x; 0 is 30 s
	SilentAfter  time.Duration // without any answer the target counts as dead; 0 is 5 s
	Notify       func(Event)   // in order, never concurrently for one dialog; must not block
	May          func() bool   // asked right before each INVITE that begins this call leaves, besides Config.MayCall; it must not wait; nil: always
	HoldAck      bool          // the ACK waits for Dialog.Ack, 3 s at most: an owner that keeps the answer first loses no dialog in a crash
	SetupTimeout time.Duration // from the first 100 until a 18x; 0 is 60 s

	// An INVITE without Body asks for an offer: Answered.Offer is set then, and
	// the ACK waits for Dialog.Respond.
	Reliable       bool              // 100rel is offered (RFC 3262); never required
	SessionExpires time.Duration     // asked for (RFC 4028), at least 90 s; 0 leaves it to the far end
	Replaces       *message.DialogID // the dialog of the far end that this one takes over (RFC 3891)
}

// Event is what a dialog tells its owner.
type Event interface{ sipEvent() }

// What a dialog tells. An outbound leg ends with exactly one Refused, or with
// one Answered and later exactly one Ended.
type (
	// Trying says that a first 1xx arrived.
	Trying struct{}
	// Ringing is a 18x without SDP.
	Ringing struct {
		Code  int
		Body  []byte // always empty: one with SDP is told as Early
		State DialogState
	}
	// Early is a 18x with SDP: sound before the answer. State.RemoteTag tells
	// the forks apart; each may send several. Reliable says that its SDP is the
	// answer to the INVITE's offer, and no preview of it.
	Early struct {
		Code     int
		Body     []byte
		Reliable bool
		State    DialogState
	}
	// Answered is the 2xx; its ACK has been sent, or waits for Dialog.Ack.
	Answered struct {
		Body  []byte // that of the 2xx, or what a reliable 18x of the same dialog has answered
		State DialogState
		PDD   time.Duration // from the INVITE to the first 18x, or to the answer
		Offer bool          // Body is an offer, for the INVITE had none: Dialog.Respond, within 10 s
	}
	// Refused says that the leg is over and cannot ring any more.
	Refused struct{ Final outcome.Final }
	// Reoffer is a re-INVITE, UPDATE or PRACK with SDP. With an empty Body the
	// answer carries our offer. Unanswered for 10 s it is refused.
	Reoffer struct {
		Body  []byte
		Hold  message.Hold
		Reply func(code int, answer []byte, extra ...message.Header) // once; later calls do nothing
	}
	// Accepted is the SDP answer that the ACK brought to an offer of ours: the
	// INVITE had none.
	Accepted struct{ Body []byte }
	// InfoDigit is a key pressed, told by INFO.
	InfoDigit struct {
		Key        byte
		DurationMs int
	}
	// Referred is a REFER of the far end: it asks us to call somebody. Unless it
	// is accepted within 5 s it is refused with 403. To, or what Replaces names,
	// has been checked for its form only, never for where it leads.
	Referred struct {
		To         string // sip:, sips: or tel: URI without headers
		ReferredBy string // URI, "" without one
		Replaces   *message.DialogID
		// Accept answers 202 and sends the first NOTIFY. Call notify with each
		// answer that the new call gets, the last time with final. It is nil, and
		// nobody is to be called, where the REFER was refused or the call is over.
		Accept func() (notify func(code int, phrase string, final bool))
		Refuse func(code int)
	}
	// Replaced is an INVITE that wants to take this dialog over (RFC 3891).
	// Incoming.Answer accepts it, and this dialog is ended once the new one is
	// confirmed; unless it is answered,
	// rung or rejected within 5 s it is refused with 403.
	Replaced struct{ By *Incoming }
	// Ended says that an answered call is over on both sides.
	Ended struct {
		ByRemote bool
		Q850     int
		Text     string            // of the Reason header, or why we gave up
		Header   map[string]string // Reason and X- headers of the BYE, by textproto's canonical names
		GaveUp   bool              // the caller, before Answer: no 200 was sent
		Fault    bool              // the far end broke the dialog: no ACK, no answer to a request
	}
)

func (Trying) sipEvent()    {}
func (Ringing) sipEvent()   {}
func (Early) sipEvent()     {}
func (Answered) sipEvent()  {}
func (Refused) sipEvent()   {}
func (Reoffer) sipEvent()   {}
func (Accepted) sipEvent()  {}
func (InfoDigit) sipEvent() {}
func (Referred) sipEvent()  {}
func (Replaced) sipEvent()  {}
func (Ended) sipEvent()     {}

// DialogState is what must survive a crash so that the dialog can be ended, or
// go on.
type DialogState struct {
	CallID       string         `json:"call_id"`
	LocalTag     string         `json:"local_tag"`
	RemoteTag    string         `json:"remote_tag,omitempty"`
	LocalURI     string         `json:"local_uri,omitempty"`
	RemoteURI    string         `json:"remote_uri,omitempty"`
	RemoteTarget string         `json:"remote_target,omitempty"`
	Routes       []string       `json:"routes,omitempty"`
	LocalCSeq    uint32         `json:"local_cseq,omitempty"`
	Target       resolve.Target `json:"target"`
	Inbound      bool           `json:"inbound,omitempty"`
	Pinned       bool           `json:"pinned,omitempty"` // with a phone: everything goes to Target
	Confirmed    bool           `json:"confirmed,omitempty"`

	// What a CANCEL after a crash repeats of the INVITE, by which far ends know what
	// it is for, from whichever node it comes.
	SentBy string   `json:"sent_by,omitempty"` // of its Via
	Route  []string `json:"route,omitempty"`   // it was sent along
	Proves bool     `json:"proves,omitempty"`  // of an Opening: a challenge is answered by another one

	// What Revive needs besides.
	RemoteCSeq     int64  `json:"remote_cseq,omitempty"`     // the highest of the far end; 0: none came
	LocalParty     string `json:"local_party,omitempty"`     // as it stands in From, without tag; "": <LocalURI>
	ContactUser    string `json:"contact_user,omitempty"`    // of our Contact
	SessionSeconds int    `json:"session_seconds,omitempty"` // of the session timer (RFC 4028); 0: there is none
	Refreshes      bool   `json:"refreshes,omitempty"`       // we do, and not the far end
	Update         bool   `json:"update,omitempty"`          // the far end takes UPDATE

	Environment domain.Environment `json:"-"` // as in Invite; set by the caller of Revive and Orphan, from the row of the call
}

// Admission says whether a source is answered at all.
type Admission struct {
	Allow   bool
	TrunkID string

	// Account finds the credentials by which a caller proves to be a trunk, by
	// user: its ID is the trunk's. Demand says that without a proof no call is
	// taken from here; otherwise credentials are checked where they are sent,
	// and Incoming.Challenge asks for them.
	Account func(user string) (auth.Account, bool)
	Realm   string // of the challenge; "": callboard
	Demand  bool
}

// Counters are totals since the start, and what is live now.
type Counters struct {
	Received, Sent         uint64
	Retransmitted          uint64
	DroppedUnknown         uint64 // source not admitted
	DroppedRate            uint64 // over the source's rate
	DroppedSize            uint64 // too large or too many headers
	DroppedMalformed       uint64 // not SIP, bare CR or LF, NUL, unparsable
	DroppedStray           uint64 // responses and ACKs that belong to nothing
	Rejected               uint64 // answered with an error by the validation
	RefusedLate            uint64 // calls that waited too long to be read: 503
	RefusedFull            uint64 // calls beyond those that may wait for an answer: 503
	Panics                 uint64
	TransportErrors        uint64
	Invites, Incoming      uint64 // calls begun
	Dialogs, HalfOpen, TCP int    // live
	Pending                int    // calls that came in and are kept by their INVITE
	HalfHosts              int    // hosts with calls that nobody answered yet
	Relayed, Returned      uint64 // requests passed on to other nodes, and answers to them
	Lookups                uint64 // questions of Elsewhere
	Forged                 uint64 // messages that claimed to be passed on and were not
}
