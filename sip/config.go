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

// Config configures a user agent. All fields except Listen may be zero.
type Config struct {
	Listen     []transport.Listener
	PublicIP   netip.Addr                // host of Via and Contact; zero: the listener's address
	PublicPort int                       // port of Via and Contact; 0: the listener's port
	Private    []netip.Prefix            // networks whose peers, like those on loopback, get the listener's own address instead of PublicIP
	Probes     []netip.Prefix            // networks of dispatchers: their OPTIONS is answered although they belong to no trunk
	TLS        *transport.TLS            // for listeners and calls over TLS; nil: the root certificates of the machine, without an own certificate
	DSCP       int                       // DSCP of the SIP sockets, 0 to 63 (RFC 4594: 24, CS3, or 40, CS5)
	Resolver   *resolve.Resolver         // finds targets; nil: uses the name servers of the machine
	Trace      Trace                     // receives each message of a dialog; may be nil
	UserAgent  string                    // "Callboard/<version>"
	Secret     []byte                    // key of the HMACs in Call-IDs, tags and branches; nil: random
	MayReach   func(netip.AddrPort) bool // egress check for targets from Contact, Record-Route or DNS; nil allows all
	Silent     bool                      // no request is sent (transport.ErrSilent); requests of peers are answered
	MayCall    func() bool               // whether calls may begin, checked right before an initial INVITE is sent or accepted; must not wait. nil: always
	Log        *slog.Logger              // nil: no log

	// TestCarrier returns the address of the test carrier. Requests of the test environment, and requests without an
	// environment, may be sent only there. If the address is zero, those requests are not sent. If TestCarrier is nil,
	// environments do not restrict destinations.
	TestCarrier func() netip.AddrPort

	SessionExpires time.Duration // requested from callers (RFC 4028), at least 90 s; 0: left to the callers

	SourceRate  int // messages per second of one address. Default: 20000
	MaxHalfOpen int // concurrent unanswered inbound calls, three quarters of them from one host. Default: 2000
	MaxTCPConns int // concurrent TCP and TLS connections. Default: 512
	MaxPerHost  int // concurrent TCP and TLS connections that one host may open. Default: 64

	// Owner returns the address of the node that owns a request which begins a dialog or belongs to a dialog of another
	// node. The second result is false if this node owns the request. If the second result is true without an address,
	// no node owns the request now, and a known source gets 503. For OPTIONS the result only says whether another node
	// knows the source. Owner does not run on the goroutines that read the sockets, and may wait half a second.
	//
	// CachedOwner is called before Owner and must answer from memory. sure is false if the owner is not in the cache.
	// CachedOwner may be nil.
	Owner       func(cluster.OwnerQuery) (netip.AddrPort, bool)
	CachedOwner func(cluster.OwnerQuery) (at netip.AddrPort, elsewhere, sure bool)
	// IsIsolated reports whether no other node can be reached. Then OPTIONS gets 503, while calls are accepted and
	// relayed as usual. IsIsolated must not wait. If it is nil, the node is never isolated.
	IsIsolated func() bool
	RelayKey   []byte // shared by the nodes: key of the MACs in relay headers; nil: no relay header is accepted
	NodeMark   string // identifies this node in the tags and Contacts of its dialogs: up to 16 letters and digits, unchanged by a restart

	Linger        time.Duration // how long an ended dialog answers retransmissions. Default: 40 s; shorter in tests
	OverloadAfter time.Duration // an INVITE that waited longer before it was read is answered 503. Default: 500 ms
}

// Admission says whether messages of a source are answered, and which trunk the source belongs to.
type Admission struct {
	Allow   bool
	TrunkID string

	// Account finds the credentials of a trunk by user name. The ID of the account is the ID of the trunk. With
	// RequireAuthentication, a call without credentials is challenged. Otherwise credentials are checked if the call
	// has them, and Incoming.Challenge requests them.
	Account               func(user string) (auth.Account, bool)
	Realm                 string // of the challenge. Default: callboard
	RequireAuthentication bool
}

// Counters are totals since the start of the user agent and, where the field says so, current numbers.
type Counters struct {
	Received, Sent                uint64
	Retransmitted                 uint64
	DroppedUnknown                uint64 // the source is not admitted
	DroppedRate                   uint64 // above the source's rate
	DroppedSize                   uint64 // too large, or too many headers
	DroppedMalformed              uint64 // not SIP, with a bare CR or LF or a NUL, or not parsable
	DroppedUnmatched              uint64 // responses and ACKs without a transaction
	Rejected                      uint64 // answered with an error by the validation
	RefusedLate                   uint64 // calls that waited too long before they were read: 503
	RefusedFull                   uint64 // calls above the maximum of unanswered calls: 503
	Panics                        uint64
	TransportErrors               uint64
	Invites, Incoming             uint64 // calls begun
	Dialogs, UnansweredCalls, TCP int    // current numbers
	Pending                       int    // inbound INVITEs that are stored to recognize their retransmissions and CANCELs
	UnansweredHosts               int    // hosts with unanswered calls
	Relayed, Returned             uint64 // requests relayed to other nodes, and responses to them
	Lookups                       uint64 // calls of Config.Owner
	Forged                        uint64 // messages with a wrong MAC in the relay header or return token
}
