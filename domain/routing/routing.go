// Package routing chooses the route of a call to the telephone network: the trunks
// that may take the call, their order, and the next target of a trunk. It also rates
// the results of a trunk's calls. All functions are pure: time and random numbers are
// arguments.
package routing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
)

// Call is a call that needs a route.
type Call struct {
	To          string // the called number, E.164
	From        string // the caller ID to show, E.164; "": one of the trunk
	AnyCallerID bool   // a trunk that may not show From shows a number of its own
	FromTrunkID string // the trunk over which a call to From came in: it may show From
	TrunkID     string // the only trunk allowed; "": any
	Environment domain.Environment
}

// SelectTrunks returns the indexes of the trunks that may take a call, the best first.
// The order is: longest matching prefix, priority (lower first), trunks that may show
// the caller ID before others, cost (cheaper first, unknown last), and the order of all.
//
// Trunks of the other environment and inert trunks are excluded, and trunks that
// would dial another number or have no number to show. Where no trunk remains for one
// of these two reasons, refused says why: destination_not_allowed, caller_id_not_allowed
// or caller_id_required.
func SelectTrunks(all []*domain.Trunk, c Call) (best []int, refused error) {
	type way struct {
		index, length int
		otherCallerID int // 1: the trunk shows another number than From
		cost          domain.Amount
	}
	ways := make([]way, 0, len(all))
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
		w := way{index: i, length: length, cost: unknownCost}
		if c.From != "" && shown != c.From {
			w.otherCallerID = 1
		}
		if cost, known := CostPerMinute(t.Costs, c.To); known {
			w.cost = cost
		}
		ways = append(ways, w)
	}
	slices.SortStableFunc(ways, func(a, b way) int {
		return cmp.Or(
			cmp.Compare(b.length, a.length), cmp.Compare(all[a.index].Priority, all[b.index].Priority),
			cmp.Compare(a.otherCallerID, b.otherCallerID), cmp.Compare(a.cost, b.cost))
	})
	if len(ways) == 0 {
		return nil, cmp.Or(refused, noCallerID)
	}
	best = make([]int, len(ways))
	for i, w := range ways {
		best[i] = w.index
	}
	return best, nil
}

// SelectCallerID is the number that a trunk shows for a call: From where it is among the
// trunk's caller IDs, else its first. The test carrier shows any number, and no other
// trunk shows a number of the test carrier. Errors: caller_id_not_allowed,
// caller_id_required.
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
			Message: "no trunk that takes this call may show " + c.From + ": add the number to caller_ids of the trunk, or register it with POST /v1/phone-numbers on that trunk",
		}
	}
	for _, number := range t.CallerIDs {
		if !domain.IsTestCarrierNumber(number) {
			return number, nil
		}
	}
	return "", &domain.Error{
		Code: domain.CodeCallerIDRequired, Param: "from",
		Message: "no trunk that takes this call has a number to show: set caller_ids of the trunk, or register a number with POST /v1/phone-numbers on that trunk",
	}
}

const unknownCost = 1 << 62

// LongestPrefix is the length of the longest prefix that a number begins with; ok is
// false where none does. No prefixes match every number, with length 0.
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

// CostPerMinute is what a minute to a number costs, by the longest prefix; known is false
// where no rate matches.
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

// HasCostForAllNumbers reports whether the costs of a trunk cover every number that the
// trunk takes.
func HasCostForAllNumbers(t *domain.Trunk) bool {
	takes := t.Prefixes
	if len(takes) == 0 {
		takes = []string{"+"}
	}
	return !slices.ContainsFunc(takes, func(prefix string) bool {
		_, known := CostPerMinute(t.Costs, prefix)
		return !known
	})
}

// CallCost is the price of a call: its minutes at the trunk's cost, counted by the
// second and rounded up.
func CallCost(perMinute domain.Amount, talked time.Duration) domain.Amount {
	seconds := int((max(0, talked) + time.Second - 1) / time.Second)
	return (perMinute.Times(seconds) + 59) / 60
}

// Target is one way into a trunk.
type Target struct {
	Key        string
	Proxy      int       // the proxy of the trunk that it belongs to, from 0
	Priority   int       // of the proxy: lower first
	Weight     int       // of the proxy, among those of one priority
	OutUntil   time.Time // failed lately: until then the others come first
	RestsUntil time.Time // asked not to be called until then
}

// SelectTarget is the target to try: one that was not tried and does not rest, those
// that failed lately last, lower priority first, by weight within a priority,
// and the targets of one proxy as they stand. draw throws an exponentially
// distributed number. Where every one that is left rests, ok is false and
// until tells when the first has rested; where none is left, until is zero.
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
		if thrown != t.Proxy { // targets of one proxy stand together and share its lot
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
