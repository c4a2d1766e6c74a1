package domain

import (
	"encoding/base32"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Prefix is the type prefix of a resource ID, for example "call" in call_01J….
type Prefix string

// The prefixes of resource IDs.
const (
	PrefixWorkspace    Prefix = "ws"
	PrefixKey          Prefix = "key"
	PrefixAgent        Prefix = "agent"
	PrefixPathway      Prefix = "pathway"
	PrefixCampaign     Prefix = "campaign"
	PrefixContact      Prefix = "contact"
	PrefixCall         Prefix = "call"
	PrefixEvent        Prefix = "evt"
	PrefixWebhook      Prefix = "wh"
	PrefixDNC          Prefix = "dnc"
	PrefixNumber       Prefix = "num"
	PrefixTrunk        Prefix = "trunk"
	PrefixPhone        Prefix = "phone"
	PrefixAudit        Prefix = "aud"
	PrefixUnit         Prefix = "unit"
	PrefixUpload       Prefix = "upload"
	PrefixDelivery     Prefix = "dlv"
	PrefixSigningKey   Prefix = "jwk"
	PrefixClient       Prefix = "client"
	PrefixGrant        Prefix = "grant"
	PrefixUser         Prefix = "user"
	PrefixSession      Prefix = "sess"
	PrefixMessage      Prefix = "msg"
	PrefixGateway      Prefix = "gw"
	PrefixConversation Prefix = "conv"
	PrefixAppointment  Prefix = "appt"
	PrefixProvider     Prefix = "prov"
	PrefixKnowledge    Prefix = "kb"
	PrefixSource       Prefix = "src"
	PrefixTool         Prefix = "tool"
	PrefixBulk         Prefix = "bulk"
	PrefixExport       Prefix = "exp"
	PrefixAlertRule    Prefix = "alertrule"
	PrefixAlert        Prefix = "alert"
	PrefixAlertMail    Prefix = "mail"
	PrefixDataRequest  Prefix = "datareq"
)

// ID returns the resource ID <prefix>_<ULID>. The ULID is made of the time and 10 random bytes.
func ID(p Prefix, at time.Time, random [10]byte) string {
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(at)) // fails only past the year 10889
	_ = u.SetEntropy(random[:])       // fails only at another length
	return string(p) + "_" + u.String()
}

// ErrInvalidID is the error for a text that is not <prefix>_<ULID> with the expected prefix.
var ErrInvalidID = errors.New("not an identifier of this kind")

// ParseID checks that id has the prefix and returns its canonical form. For campaigns, the prefix camp_ is replaced
// by campaign_.
func ParseID(p Prefix, id string) (string, error) {
	if p == PrefixCampaign {
		if rest, ok := strings.CutPrefix(id, "camp_"); ok {
			id = string(PrefixCampaign) + "_" + rest
		}
	}
	rest, ok := strings.CutPrefix(id, string(p))
	if !ok || len(rest) != 1+ulid.EncodedSize || rest[0] != '_' {
		return "", ErrInvalidID
	}
	rest = rest[1:]
	if isCanonical(rest) {
		return id, nil
	}
	u, err := ulid.ParseStrict(rest)
	if err != nil {
		return "", ErrInvalidID
	}
	return string(p) + "_" + u.String(), nil
}

// isCanonical reports whether a text with the length of a ULID is in canonical form: Crockford's base32 in capital
// letters, at most 128 bits.
func isCanonical(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z' && c != 'I' && c != 'L' && c != 'O' && c != 'U':
		default:
			return false
		}
	}
	return text[0] <= '7'
}

// CanonicalID returns an ID of any kind in canonical form. Other text is returned unchanged.
func CanonicalID(id string) string {
	kind, _, ok := strings.Cut(id, "_")
	if kind == "camp" {
		kind = string(PrefixCampaign)
	}
	if good, err := ParseID(Prefix(kind), id); ok && err == nil {
		return good
	}
	return id
}

// ContactID returns the ID of the contact at position ordinal of a campaign's contact list. The ID is computed and
// not stored, so that a million contacts need no table of IDs.
func ContactID(campaignID string, ordinal int) string {
	u, err := ulid.ParseStrict(strings.TrimPrefix(campaignID, string(PrefixCampaign)+"_"))
	if err != nil {
		return ""
	}
	binary.BigEndian.PutUint32(u[12:], uint32(ordinal)) //nolint:gosec // ordinals stay below a campaign's million
	return string(PrefixContact) + "_" + u.String()
}

// ContactOrdinal returns the position in the campaign's contact list that a contact ID denotes. ok is false if the
// contact belongs to another campaign.
func ContactOrdinal(campaignID, contactID string) (ordinal int, ok bool) {
	c, err := ulid.ParseStrict(strings.TrimPrefix(contactID, string(PrefixContact)+"_"))
	if err != nil {
		return 0, false
	}
	ordinal = int(binary.BigEndian.Uint32(c[12:]))
	return ordinal, ContactID(campaignID, ordinal) == contactID
}

// UnitID returns the svc_id of an event: unit_<ULID of the owner>. The owner is the agent or workspace that emits the
// event.
func UnitID(ownerID string) string {
	_, rest, ok := strings.Cut(ownerID, "_")
	if !ok {
		rest = ownerID
	}
	return string(PrefixUnit) + "_" + rest
}

// keyAlphabet is a base32 encoding that avoids letters and digits that look alike.
var keyAlphabet = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// EncodeKeyBytes encodes random bytes in the alphabet of API keys.
func EncodeKeyBytes(b []byte) string { return keyAlphabet.EncodeToString(b) }

// FirstIDAt returns the lowest ID with this prefix and creation time. It is a bound for queries by time.
func FirstIDAt(prefix Prefix, t time.Time) string {
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(t)) // fails only past the year 10889
	return string(prefix) + "_" + u.String()
}

// NeedsWorkspaceLookup reports whether credentials contain an ID of this kind (Key.Kind) but not its workspace. A node
// then has to look up the workspace. These IDs are unique in the installation and never move to another workspace.
func NeedsWorkspaceLookup(kind string) bool { return kind == "api_key" || kind == "oauth_client" }
