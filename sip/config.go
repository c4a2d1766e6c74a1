package sip

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// Config configures a user agent. Everything but Listen may stay zero.
type Config struct {
	Listen     []transport.Listener
	PublicIP   netip.Addr                // host of Via and Contact; zero: the listener's address
	PublicPort int                       // port of Via and Contact; 0: the listener's port
	Private    []netip.Prefix            // peers in these networks, and on loopback, get the listener's own address all the same
	Probes     []netip.Prefix            // dispatchers: their OPTIONS is answered though they belong to no trunk
	TLS        *transport.TLS            // for listeners and calls over TLS; nil: the machine's roots, no certificate of our own
	DSCP       int                       // marks what the SIP sockets send, 0 to 63 (RFC 4594: 24, CS3, or 40, CS5)
	Resolver   *resolve.Resolver         // finds targets; nil: one with the name servers of the machine
	Trace      Trace                     // gets each message of a dialog; may be nil
	UserAgent  string                    // "Callboard/<version>"
	Secret     []byte                    // keys the HMACs of Call-ID, tags and branches; nil: drawn at random
	MayReach   func(netip.AddrPort) bool // egress check for targets from Contact, Record-Route or DNS; nil allows all
	Silent     bool                      // no request leaves (transport.ErrSilent); requests of others are answered
	MayCall    func() bool               // whether calls may begin: checked right before an initial INVITE leaves (HoldCalls) or is taken. It must not wait. nil: always
	Log        *slog.Logger              // nil: no log

	// TestCarrier is the only peer that requests of the test environment may be sent to,
	// and those that name no environment. nil: there are no environments. A zero
	// address: those requests are not sent.
	TestCarrier func() netip.AddrPort

	SessionExpires time.Duration // asked of callers (RFC 4028), at least 90 s; 0 leaves it to them

	SourceRate  int // messages per second from one address. Default: 20000
	MaxHalfOpen int // unanswered inbound calls at a time, three quarters of them from one host. Default: 2000
	MaxTCPConns int // TCP and TLS connections at a time. Default: 512
	MaxPerHost  int // TCP and TLS connections that one host may open to us at a time. Default: 64

	// Elsewhere names the node that owns a request which begins something, or is of a dialog that is not here; false: this
	// node does. True without an address: no node owns it now, and a known source gets 503. It may wait half a second, and
	// runs beside the readers of the sockets. Of OPTIONS it says only whether another node knows its source. Placed is
	// asked first and answers from memory, unless it is not sure; it may be nil.
	Owner       func(cluster.OwnerQuery) (netip.AddrPort, bool)
	CachedOwner func(cluster.OwnerQuery) (at netip.AddrPort, elsewhere, sure bool)
	// CutOff tells whether none of the other nodes is reached. OPTIONS then gets 503, while calls are taken and relayed as
	// usual. It must not wait. nil: never.
	IsIsolated func() bool
	RelayKey   []byte // of the installation: proves what nodes state about requests that they relay; nil: nothing is believed
	NodeMark   string // identifies this node in tags and Contacts of its dialogs, 16 letters and digits at most, the same after a restart

	Linger        time.Duration // how long a dialog that is over answers retransmissions. Default: 40 s; less is for tests
	OverloadAfter time.Duration // an INVITE that waited so long to be read is answered 503. Default: 500 ms
}

// Admission says whether a source is answered.
type Admission struct {
	Allow   bool
	TrunkID string

	// Account finds the credentials by which a caller proves to be a trunk, by user: its ID is the trunk's. With Demand a
	// call without a proof is refused; otherwise credentials are checked where they are sent, and Incoming.Challenge asks
	// for them.
	Account               func(user string) (auth.Account, bool)
	Realm                 string // of the challenge. Default: callboard
	RequireAuthentication bool
}

// Counters are totals since the start, and what is live now.
type Counters struct {
	Received, Sent                uint64
	Retransmitted                 uint64
	DroppedUnknown                uint64 // source not admitted
	DroppedRate                   uint64 // over the source's rate
	DroppedSize                   uint64 // too large or too many headers
	DroppedMalformed              uint64 // not SIP, bare CR or LF, NUL, unparsable
	DroppedStray                  uint64 // responses and ACKs without a transaction
	Rejected                      uint64 // answered with an error by the validation
	RefusedLate                   uint64 // calls that waited too long to be read: 503
	RefusedFull                   uint64 // calls beyond those that may be unanswered: 503
	Panics                        uint64
	TransportErrors               uint64
	Invites, Incoming             uint64 // calls begun
	Dialogs, UnansweredCalls, TCP int    // live
	Pending                       int    // inbound calls that are found by their INVITE
	UnansweredHosts               int    // hosts with unanswered calls
	Relayed, Returned             uint64 // requests relayed to other nodes, and responses to them
	Lookups                       uint64 // calls of Elsewhere
	Forged                        uint64 // messages that claimed to be relayed and were not
}
