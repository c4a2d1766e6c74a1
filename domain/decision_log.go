package domain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"
)

// Verdicts of a decision about a contact.
const (
	DecidedDial   = "dial"   // an attempt was opened
	DecidedSkip   = "skip"   // it is left out for good
	DecidedCancel = "cancel" // it was taken out, or the campaign was cancelled before its turn
	DecidedExpire = "expire" // the schedule ended before its turn
)

// DecisionsPerPage bounds the decisions of one row.
const DecisionsPerPage = 64

// Decision is why a contact was rung or left out, and what held it before. The
// end of a campaign decides about everybody who waits at once: Contacts is then
// how many they are, and no number is named.
type Decision struct {
	At      time.Time `json:"at"`
	Ordinal int       `json:"ordinal"`
	Phone   string    `json:"phone"` // "": Contacts are meant, or the person was erased
	// PhoneDigest is the keyed digest of the number of a person who was erased:
	// the hash of the row is made of it, so that the log can still be verified.
	PhoneDigest string   `json:"phone_digest,omitempty"`
	Verdict     string   `json:"decision"`
	Attempt     int      `json:"attempt,omitempty"`
	CallID      string   `json:"call_id,omitempty"`
	Contacts    int      `json:"contacts,omitempty"` // 0: the one that is named
	Rules       []Ruling `json:"rules"`
}

// Ruling is what one rule said, and by what. What held a contact again and
// again is one, with a count.
type Ruling struct {
	Rule    string     `json:"rule"` // schedule | calling_hours | dnc | frequency | destination | line | cancelled | removed
	Passed  bool       `json:"passed"`
	Window  string     `json:"window,omitempty"`  // calling_hours
	Zone    string     `json:"zone,omitempty"`    // calling_hours: of the contact; several count together
	Local   string     `json:"local,omitempty"`   // calling_hours: the time there; of several zones in the first
	Lists   []string   `json:"lists,omitempty"`   // dnc: looked into; where it did not pass, where it stands
	Source  DNCSource  `json:"source,omitempty"`  // dnc: how it came there
	Count   int        `json:"count,omitempty"`   // frequency: attempts of the day before this one
	Limit   int        `json:"limit,omitempty"`   // frequency
	Country string     `json:"country,omitempty"` // destination
	Held    int        `json:"held,omitempty"`    // how often it held the contact
	First   *time.Time `json:"first,omitempty"`   // when first
	Last    *time.Time `json:"last,omitempty"`    // when last
}

// DecisionRowsPerRead is how many rows of a decision log are read at once.
const DecisionRowsPerRead = 32

// DecisionPage is one row of a campaign's log of decisions. Each holds the
// hash of the one before, and the campaign's counters that of the last: what
// is changed, taken out or cut off afterwards shows. The hashes need a key that is
// not in the store: whoever can write there cannot work them out anew.
type DecisionPage struct {
	WorkspaceID string     `json:"workspace_id"`
	CampaignID  string     `json:"campaign_id"`
	Seq         int        `json:"seq"` // from 1, without a gap
	Prev        string     `json:"prev"`
	Hash        string     `json:"hash"`
	Decisions   []Decision `json:"decisions"`
}

// Key names the row.
func (p *DecisionPage) Key() Key {
	return Key{"decision", p.WorkspaceID, p.CampaignID + "/" + sortableNumber(p.Seq)}
}

// Indexes: by the numbers decided about.
func (p *DecisionPage) Indexes() []string {
	ix := make([]string, 0, len(p.Decisions))
	known := make(map[string]bool, len(p.Decisions))
	for i := range p.Decisions {
		if d := &p.Decisions[i]; !known[d.Phone] && (d.Phone != "" || d.PhoneDigest == "") {
			known[d.Phone] = true
			ix = append(ix, DecisionIndex(p.CampaignID, d.Phone))
		}
	}
	return ix
}

// Sort is by age.
func (p *DecisionPage) Sort() string { return sortableNumber(p.Seq) }

// DecisionIndex finds the decisions of a campaign about a number.
func DecisionIndex(campaignID, phone string) string { return "phone=" + campaignID + "/" + phone }

// ComputeHash returns the HMAC of the page under key: over its position, the previous hash and
// all fields. Empty fields add nothing, so new fields keep old hashes valid.
func (p *DecisionPage) ComputeHash(key []byte) string {
	h := hashWriter{b: make([]byte, 0, 256*len(p.Decisions)+128)}
	h.text(1, p.WorkspaceID)
	h.text(2, p.CampaignID)
	h.number(3, int64(p.Seq))
	h.text(4, p.Prev)
	for i := range p.Decisions {
		h.decision(&p.Decisions[i], p.numberDigest(key, i))
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(h.b)
	return hex.EncodeToString(mac.Sum(nil))
}

// numberDigest is what the hash of the row says of the number of a decision.
func (p *DecisionPage) numberDigest(key []byte, i int) string {
	d := &p.Decisions[i]
	if d.Phone == "" {
		return d.PhoneDigest
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("number in a log of decisions\n" + p.CampaignID + "\n" + d.Phone))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// EraseNumber replaces a number by its digest and says whether the row named it. The
// row's hash stays as it is.
func (p *DecisionPage) EraseNumber(key []byte, phone string) (found bool) {
	for i := range p.Decisions {
		if d := &p.Decisions[i]; d.Phone == phone {
			d.PhoneDigest, d.Phone, found = p.numberDigest(key, i), "", true
		}
	}
	return found
}

// hashWriter writes what is summed: each part with its tag and its length.
type hashWriter struct{ b []byte }

func (h *hashWriter) text(tag byte, s string) {
	if s != "" {
		h.b = append(binary.AppendUvarint(append(h.b, tag), uint64(len(s))), s...)
	}
}

func (h *hashWriter) number(tag byte, n int64) {
	if n != 0 {
		h.b = binary.AppendVarint(append(h.b, tag), n)
	}
}

func (h *hashWriter) time(tag byte, t *time.Time) {
	if t != nil && !t.IsZero() {
		h.number(tag, t.UnixNano())
	}
}

func (h *hashWriter) decision(d *Decision, phone string) {
	h.b = append(h.b, 10)
	h.time(11, &d.At)
	h.number(12, int64(d.Ordinal))
	h.text(13, phone)
	h.text(14, d.Verdict)
	h.number(15, int64(d.Attempt))
	h.text(16, d.CallID)
	h.number(17, int64(d.Contacts))
	for i := range d.Rules {
		r := &d.Rules[i]
		h.b = append(h.b, 20)
		h.text(21, r.Rule)
		if r.Passed {
			h.number(22, 1)
		}
		h.text(23, r.Window)
		h.text(24, r.Zone)
		h.text(25, r.Local)
		for _, l := range r.Lists {
			h.text(26, l)
		}
		h.text(27, string(r.Source))
		h.number(28, int64(r.Count))
		h.number(29, int64(r.Limit))
		h.text(30, r.Country)
		h.number(31, int64(r.Held))
		h.time(32, r.First)
		h.time(33, r.Last)
	}
}

// DecisionChain checks pages in their order.
type DecisionChain struct {
	Key              []byte
	Pages, Decisions int
	Head             string // hash of the last page that held
	Broken           int    // the first page that does not hold; 0: none
	Reason           string
	Deleted          int // pages at the beginning that were deleted by retention
	Erased           int // decisions about people who were erased
}

// StartAfter begins behind the pages that were deleted by retention.
func (c *DecisionChain) StartAfter(s *DecisionLogStart) {
	if !s.IsValid(c.Key) {
		c.Broken, c.Reason = 1, "the beginning of the log was cut off by somebody else than its retention"
		return
	}
	c.Pages, c.Deleted, c.Head = s.Seq, s.Seq, s.Hash
}

// VerifyPage checks one page more; false: the chain is broken.
func (c *DecisionChain) VerifyPage(p *DecisionPage) bool {
	if c.Broken > 0 {
		return false
	}
	want := c.Pages + 1
	switch {
	case p.Seq != want:
		c.Broken, c.Reason = want, "row "+strconv.Itoa(want)+" is missing"
	case p.Prev != c.Head:
		c.Broken, c.Reason = want, "row "+strconv.Itoa(want)+" does not follow the one before it"
	case !hmac.Equal([]byte(p.Hash), []byte(p.ComputeHash(c.Key))):
		c.Broken, c.Reason = want, "row "+strconv.Itoa(want)+" was changed"
	default:
		c.Pages, c.Decisions, c.Head = want, c.Decisions+len(p.Decisions), p.Hash
		for i := range p.Decisions {
			if p.Decisions[i].PhoneDigest != "" {
				c.Erased++
			}
		}
		return true
	}
	return false
}

// VerifyEnd compares with what the campaign's counters hold.
func (c *DecisionChain) VerifyEnd(pages int, head string) {
	if c.Broken == 0 && (c.Pages != pages || c.Head != head) {
		c.Broken, c.Reason = c.Pages+1, "the log ends before its last row, which is "+strconv.Itoa(pages)
		if c.Pages >= pages {
			c.Broken, c.Reason = max(1, pages), "the log does not end as the campaign's counters say"
		}
	}
}
