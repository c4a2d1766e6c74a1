package sip

import (
	"math"
	"strings"
	"time"
)

// demanded asks the caller over a trunk for a proof of who it is, where its
// trunk wants one; ok is false when the request was answered. What proves
// itself is the trunk that the account names.
func (u *UserAgent) demanded(m *message, a Admission) (ok bool) {
	if a.Account == nil {
		return true
	}
	offered := len(m.every("authorization")) > 0
	if !offered && !a.Demand {
		return true
	}
	now := time.Now()
	auth := *u.trunks
	auth.account = a.Account
	if a.Realm != "" {
		auth.realm = a.Realm
	}
	account, v := auth.check(m, now)
	switch v {
	case vGood:
		m.trunk, m.proved = account.ID, true
		return true
	case vSlowed:
		u.stats.rate.Add(1)
		return false
	case vNone, vWrong, vStale:
	}
	u.stats.rejected.Add(1)
	tag := u.id.answerTag(m.callID, m.from.tag+m.branch())
	offers, most := auth.challenges(m.flow.addr.Addr(), v == vStale, now), math.MaxInt
	if !m.flow.stream() {
		most = len(m.raw) // never more than was sent: whoever forges a source gains nothing
	}
	for _, some := range [][]Header{offers, offers[:1], offers[1:]} {
		if b, err := u.answer(m, 401, tag, some, nil); err == nil && len(b) <= most {
			u.respond(m, b)
			return false
		}
	}
	u.stats.size.Add(1)
	return false
}

// verstatOf is the verifier's word on the caller's number (ATIS-1000074,
// 3GPP TS 24.229): a parameter of the From or P-Asserted-Identity URI.
func verstatOf(m *message) string {
	for _, value := range append(m.all("P-Asserted-Identity"), m.from.value) {
		lower := strings.ToLower(value)
		i := strings.Index(lower, ";verstat=")
		if i < 0 {
			continue
		}
		word := value[i+len(";verstat="):]
		end := strings.IndexFunc(word, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
		})
		if end >= 0 {
			word = word[:end]
		}
		return word[:min(len(word), 64)]
	}
	return ""
}

// several tells which headers may stand more than once and are told joined.
func several(name string) bool { return name == "Diversion" || name == "History-Info" }
