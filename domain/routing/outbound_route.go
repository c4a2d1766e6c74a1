// Package routing selects the route of an outbound call: the trunks that may take the call, their order, and the next
// target of a trunk. It also computes call statistics of a trunk. Functions use no clock and no random source; time and
// random numbers are arguments.
package routing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Call describes a call that needs a route.
type Call struct {
	To          string // called number, E.164
	From        string // requested caller ID, E.164; empty: chosen by the trunk
	AnyCallerID bool   // a trunk that may not show From uses a number of its own
	FromTrunkID string // trunk of the inbound call to From; this trunk may show From
	TrunkID     string // the only allowed trunk; empty: any
	Environment domain.Environment
}

// SelectTrunks returns the indexes of the trunks that may take a call, best first. The order is: longest matching
// prefix, priority (lower first), trunks that may show the caller ID, cost (cheaper first, unknown last), and position
// in all.
//
// Trunks of the other environment, test-only trunks, trunks whose rewriting rules change the dialed number, and trunks
// without a suitable caller ID are excluded. If no trunk remains for one of the last two reasons, refused is
// destination_not_allowed, caller_id_not_allowed or caller_id_required.
func SelectTrunks(all []*domain.Trunk, c Call) (best []int, refused error) {
	type candidate struct {
		index, length int
		otherCallerID int // 1: the trunk shows a number other than From
		cost          domain.Amount
	}
	candidates := make([]candidate, 0, len(all))
	var noCallerID error
	for i, t := range all {
		if t.Environment != c.Environment || t.IsTestOnly() || c.TrunkID != "" && t.ID != c.TrunkID {
			continue
		}
		length, ok := LongestPrefix(t.Prefixes, c.To)
		if !ok {
			continue
		}
		if _, err := t.DialString(c.To); err != nil {
			refused = cmp.Or(refused, err)
			continue
		}
		shown, err := SelectCallerID(t, c)
		if err != nil {
			noCallerID = cmp.Or(noCallerID, err)
			continue
		}
		w := candidate{index: i, length: length, cost: unknownCost}
		if c.From != "" && shown != c.From {
			w.otherCallerID = 1
		}
		if cost, known := CostPerMinute(t.Costs, c.To); known {
			w.cost = cost
		}
		candidates = append(candidates, w)
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(b.length, a.length), cmp.Compare(all[a.index].Priority, all[b.index].Priority),
			cmp.Compare(a.otherCallerID, b.otherCallerID), cmp.Compare(a.cost, b.cost))
	})
	if len(candidates) == 0 {
		return nil, cmp.Or(refused, noCallerID)
	}
	best = make([]int, len(candidates))
	for i, w := range candidates {
		best[i] = w.index
	}
	return best, nil
}

// SelectCallerID returns the caller ID that a trunk shows for a call: From if it is one of the trunk's caller IDs. If
// it is not, and From is empty or AnyCallerID is set, it is the trunk's first caller ID. The test carrier shows any
// number, and no other trunk shows a number of the test carrier. Errors: caller_id_not_allowed, caller_id_required.
func SelectCallerID(t *domain.Trunk, c Call) (string, error) {
	if t.Simulator {
		if c.From == "" && len(t.CallerIDs) > 0 {
			return t.CallerIDs[0], nil
		}
		return c.From, nil
	}
	own := c.FromTrunkID != "" && c.FromTrunkID == t.ID || slices.Contains(t.CallerIDs, c.From)
	if c.From != "" && own && !domain.IsTestCarrierNumber(c.From) {
		return c.From, nil
	}
	if c.From != "" && !c.AnyCallerID {
		return "", &domain.Error{
			Code: domain.CodeCallerIDNotAllowed, Param: "from",
			Message: "no trunk for this call may use the caller ID " + c.From + ": add the number to caller_ids of the trunk, or register it with POST /v1/phone-numbers on that trunk",
		}
	}
	for _, number := range t.CallerIDs {
		if !domain.IsTestCarrierNumber(number) {
			return number, nil
		}
	}
	return "", &domain.Error{
		Code: domain.CodeCallerIDRequired, Param: "from",
		Message: "no trunk for this call has a caller ID: set caller_ids of the trunk, or register a number with POST /v1/phone-numbers on that trunk",
	}
}

const unknownCost = 1 << 62

// LongestPrefix returns the length of the longest prefix that the number to has. ok is false without a match. An empty
// list matches every number with length 0.
func LongestPrefix(prefixes []string, to string) (length int, ok bool) {
	if len(prefixes) == 0 {
		return 0, true
	}
	digits := strings.TrimPrefix(to, "+")
	for _, p := range prefixes {
		p = strings.TrimPrefix(p, "+")
		if strings.HasPrefix(digits, p) {
			length, ok = max(length, len(p)), true
		}
	}
	return length, ok
}

// CostPerMinute returns the price of a call minute by the longest prefix of rates that the number to has. known is
// false if no prefix matches.
func CostPerMinute(rates []domain.Rate, to string) (perMinute domain.Amount, known bool) {
	digits, best := strings.TrimPrefix(to, "+"), -1
	for i := range rates {
		p := strings.TrimPrefix(rates[i].Prefix, "+")
		if len(p) <= best || !strings.HasPrefix(digits, p) {
			continue
		}
		if m, err := domain.ParseAmount(rates[i].Cost); err == nil {
			perMinute, known, best = min(m, domain.MaxPrice), true, len(p)
		}
	}
	return perMinute, known
}

// HasCostForAllNumbers reports whether the costs of a trunk include a price for every number that the trunk accepts.
func HasCostForAllNumbers(t *domain.Trunk) bool {
	prefixes := t.Prefixes
	if len(prefixes) == 0 {
		prefixes = []string{"+"}
	}
	return !slices.ContainsFunc(prefixes, func(prefix string) bool {
		_, known := CostPerMinute(t.Costs, prefix)
		return !known
	})
}

// CallCost returns the cost of a call of length talked, billed in whole seconds. The cost is rounded up.
func CallCost(perMinute domain.Amount, talked time.Duration) domain.Amount {
	seconds := int((max(0, talked) + time.Second - 1) / time.Second)
	return (perMinute.Times(seconds) + 59) / 60
}

// Target is one address of a trunk.
type Target struct {
	Key        string
	Proxy      int       // index of its proxy in the trunk
	Priority   int       // priority of the proxy, lower first
	Weight     int       // weight among proxies of the same priority
	OutUntil   time.Time // failed recently: other targets come first until this time
	RestsUntil time.Time // asked for a pause: not tried until this time
}

// SelectTarget returns the index of the next target to try. It skips targets in tried and targets before RestsUntil. It
// prefers targets that have not failed recently, then lower priorities, and chooses weighted random within a priority.
// Targets of one proxy keep their order. draw returns an exponentially distributed random number. If all remaining
// targets are before RestsUntil, ok is false and until is the first such time. If no target remains, until is zero.
func SelectTarget(targets []Target, tried []string, now time.Time, draw func() float64) (index int, until time.Time, ok bool) {
	index = -1
	var chance, best float64
	thrown := -1
	for i := range targets {
		t := &targets[i]
		if slices.Contains(tried, t.Key) {
			continue
		}
		if t.RestsUntil.After(now) {
			if until.IsZero() || t.RestsUntil.Before(until) {
				until = t.RestsUntil
			}
			continue
		}
		if thrown != t.Proxy { // targets of one proxy are adjacent and share one random number
			thrown, chance = t.Proxy, draw()/float64(max(t.Weight, 1))
		}
		if index < 0 || isBetterTarget(t, &targets[index], chance, best, now) {
			index, best = i, chance
		}
	}
	if index < 0 {
		return 0, until, false
	}
	return index, time.Time{}, true
}

func isBetterTarget(a, b *Target, chance, best float64, now time.Time) bool {
	if outA, outB := a.OutUntil.After(now), b.OutUntil.After(now); outA != outB {
		return outB
	}
	if a.Priority != b.Priority {
		return a.Priority < b.Priority
	}
	return a.Proxy != b.Proxy && chance < best
}
