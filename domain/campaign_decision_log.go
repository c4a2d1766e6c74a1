package domain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"
)

// The decisions of a campaign about a contact, as the decision log records them.
const (
	DecidedDial   = "dial"   // an attempt was opened
	DecidedSkip   = "skip"   // the contact is never called
	DecidedCancel = "cancel" // the contact was removed, or the campaign was cancelled first
	DecidedExpire = "expire" // the schedule ended first
)

// DecisionsPerPage is the maximum number of decisions in one page of the decision log.
const DecisionsPerPage = 64

// Decision records why a campaign called or skipped a contact, and which rules delayed the call. The end of a
// campaign is one decision about all waiting contacts: Contacts counts them, and Phone is empty.
type Decision struct {
	At      time.Time `json:"at"`
	Ordinal int       `json:"ordinal"`
	Phone   string    `json:"phone"` // empty: the decision is about several contacts, or the person was erased
	// PhoneDigest replaces Phone after the person's data was erased. It is the keyed digest of the number. The page
	// hash covers this digest, so that the log can still be verified.
	PhoneDigest string   `json:"phone_digest,omitempty"`
	Verdict     string   `json:"decision"`
	Attempt     int      `json:"attempt,omitempty"`
	CallID      string   `json:"call_id,omitempty"`
	Contacts    int      `json:"contacts,omitempty"` // number of contacts; 0: the one contact in Phone
	Rules       []Ruling `json:"rules"`
}

// Ruling is the result of checking one rule for a contact. Repeated delays by the same rule are one Ruling with a
// count.
type Ruling struct {
	Rule    string     `json:"rule"` // schedule, calling_hours, dnc, frequency, destination, line, cancelled or removed
	Passed  bool       `json:"passed"`
	Window  string     `json:"window,omitempty"`  // calling_hours: the daily window
	Zone    string     `json:"zone,omitempty"`    // calling_hours: time zone of the contact; several zones are joined
	Local   string     `json:"local,omitempty"`   // calling_hours: local time in the first zone
	Lists   []string   `json:"lists,omitempty"`   // dnc: lists that were checked; if not passed, the lists that contain the number
	Source  DNCSource  `json:"source,omitempty"`  // dnc: how the number came onto the list
	Count   int        `json:"count,omitempty"`   // frequency: earlier attempts of the day
	Limit   int        `json:"limit,omitempty"`   // frequency: the cap
	Country string     `json:"country,omitempty"` // destination: country of the number
	Held    int        `json:"held,omitempty"`    // number of times that the rule delayed the contact
	First   *time.Time `json:"first,omitempty"`   // first delay
	Last    *time.Time `json:"last,omitempty"`    // last delay
}

// DecisionRowsPerRead is the number of decision log pages that one read of the store returns.
const DecisionRowsPerRead = 32

// DecisionPage is one page of the decision log of a campaign. Each page contains the hash of the previous page, and
// the counters of the campaign contain the hash of the last page. Changed, removed and truncated pages are therefore
// detected. The hashes are keyed, and the key is not in the store: write access to the store is not enough to forge
// a page.
type DecisionPage struct {
	WorkspaceID string     `json:"workspace_id"`
	CampaignID  string     `json:"campaign_id"`
	Seq         int        `json:"seq"` // sequence number from 1, without gaps
	Prev        string     `json:"prev"`
	Hash        string     `json:"hash"`
	Decisions   []Decision `json:"decisions"`
}

// Key returns the key of the page of the decision log in the store.
func (p *DecisionPage) Key() Key {
	return Key{"decision", p.WorkspaceID, p.CampaignID + "/" + sortableNumber(p.Seq)}
}

// Indexes returns one index for each phone number in the page's decisions.
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

// Sort returns the sequence number as sortable text.
func (p *DecisionPage) Sort() string { return sortableNumber(p.Seq) }

// DecisionIndex returns the name of the index of a campaign's decisions about a phone number.
func DecisionIndex(campaignID, phone string) string { return "phone=" + campaignID + "/" + phone }

// ComputeHash returns the HMAC of the page under key, in hex. It covers the sequence number, the previous hash and
// the decisions. Empty fields add nothing to the input, so that additional fields keep old hashes valid.
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

// numberDigest returns the keyed digest of the phone number of decision i. The page hash covers this digest instead
// of the number.
func (p *DecisionPage) numberDigest(key []byte, i int) string {
	d := &p.Decisions[i]
	if d.Phone == "" {
		return d.PhoneDigest
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("number in a log of decisions\n" + p.CampaignID + "\n" + d.Phone))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// EraseNumber replaces a phone number with its digest and reports whether the page contained the number. The hash of
// the page stays valid, because it covers only the digest.
func (p *DecisionPage) EraseNumber(key []byte, phone string) (found bool) {
	for i := range p.Decisions {
		if d := &p.Decisions[i]; d.Phone == phone {
			d.PhoneDigest, d.Phone, found = p.numberDigest(key, i), "", true
		}
	}
	return found
}

// hashWriter collects the input of a page hash. Each value is preceded by a tag and, for text, by its length.
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

// DecisionChain verifies that the pages of a decision log are complete and unchanged. The caller passes the pages in
// sequence.
type DecisionChain struct {
	Key              []byte
	Pages, Decisions int
	Head             string // hash of the last valid page
	Broken           int    // sequence number of the first invalid page; 0: none
	Reason           string
	Deleted          int // pages at the beginning that retention deleted
	Erased           int // decisions about erased persons
}

// StartAfter starts the verification after the pages that retention deleted, if the record of the deletion is valid.
func (c *DecisionChain) StartAfter(s *DecisionLogStart) {
	if !s.IsValid(c.Key) {
		c.Broken, c.Reason = 1, "the beginning of the log was truncated by something other than its retention"
		return
	}
	c.Pages, c.Deleted, c.Head = s.Seq, s.Seq, s.Hash
}

// VerifyPage verifies the next page and reports whether the chain is still valid.
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

// VerifyEnd checks that the last verified page has the number and the hash in the counters of the campaign.
func (c *DecisionChain) VerifyEnd(pages int, head string) {
	if c.Broken == 0 && (c.Pages != pages || c.Head != head) {
		c.Broken, c.Reason = c.Pages+1, "the log ends before its last row, which is "+strconv.Itoa(pages)
		if c.Pages >= pages {
			c.Broken, c.Reason = max(1, pages), "the log does not end as the campaign's counters say"
		}
	}
}
