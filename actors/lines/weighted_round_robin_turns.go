package lines

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"
)

// requester is a campaign with its outstanding request for permits.
type requester struct {
	pid        *actor.PID
	weight     int
	waiting    int // permits that are not granted yet
	retries    int // those of waiting that are for due retries
	generation int
	granted    int   // permits granted for this generation
	credit     int   // of the smooth weighted round-robin
	clockSpeed int   // 1: real time
	pacer      pacer // used if clockSpeed is above 1
}

// hasWaiting reports whether the campaign waits for a permit for a retry that is due, or, if retry is false, for a first
// attempt.
func (s *requester) hasWaiting(retry bool) bool {
	if retry {
		return s.retries > 0
	}
	return s.waiting > s.retries
}

// turnQueue decides which campaign gets the next permit. Due retries go before first attempts. While both wait, every fourth
// permit goes to a first attempt, so that many retries of one campaign do not block the other campaigns.
type turnQueue struct {
	requesters []*requester
	retryTurns int // consecutive permits for retries while first attempts waited
}

const maxRetryTurns = 3

// nextRequester returns the campaign that gets the next permit and counts the permit. It returns nil if no campaign waits.
// The order is smooth weighted round-robin. Each waiting campaign gains its weight as credit, and the campaign with the most
// credit gets the permit and pays the sum of the weights.
func (r *turnQueue) nextRequester() *requester {
	due := slices.ContainsFunc(r.requesters, func(s *requester) bool { return s.hasWaiting(true) })
	first := slices.ContainsFunc(r.requesters, func(s *requester) bool { return s.hasWaiting(false) })
	retry := due && (!first || r.retryTurns < maxRetryTurns)
	switch {
	case retry && first:
		r.retryTurns++
	default:
		r.retryTurns = 0
	}
	var best *requester
	total := 0
	for _, s := range r.requesters {
		if !s.hasWaiting(retry) {
			continue
		}
		s.credit += s.weight
		total += s.weight
		if best == nil || s.credit > best.credit {
			best = s
		}
	}
	if best != nil {
		best.credit -= total
		best.waiting--
		best.granted++
		if retry {
			best.retries--
		}
	}
	return best
}
