package node

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
)

// holdRetryAfter is the Retry-After, in seconds, of the error for a call that is refused temporarily.
const holdRetryAfter = 5

// callAdmission decides whether calls may begin. It refuses them while the store is quarantined, a dial stop is
// active, the node is drained, or the node is stopping.
type callAdmission struct {
	quarantined bool // the store was restored from a backup and no operator has released it
	dialStop    *DialStop
	drain       *Drain
}

// holdReason returns the reason why no outbound call may begin, one of the values of dialer.View.Stopped. An empty
// string means that calls may begin.
func (a *callAdmission) holdReason() string {
	switch {
	case a.quarantined:
		return dialer.ReasonQuarantine
	case a.dialStop.isStopped():
		return dialer.ReasonDialStop
	case a.drain.isDrained():
		return dialer.ReasonDraining
	}
	return ""
}

// holdError returns holdReason as an error. It returns nil if outbound calls may begin.
func (a *callAdmission) holdError() error {
	reason := a.holdReason()
	text := "an operator has stopped all dialling; try again later"
	switch reason {
	case "":
		return nil
	case dialer.ReasonQuarantine:
		text = "the service was restored from a backup and places no calls until an operator releases it"
	case dialer.ReasonDraining:
		text = "an operator has drained this node; try again later"
	}
	return domain.Errorf(domain.CodeUnavailable, "%s", text).With("reason", reason).With("retry_after", holdRetryAfter)
}

// CheckCallAdmission returns an error while no outbound call may begin.
func (a *callAdmission) CheckCallAdmission() error {
	if a.drain.isStopping() {
		return stoppingError()
	}
	return a.holdError()
}

// CheckInboundCallAdmission returns an error while no inbound call may begin. A dial stop does not refuse inbound
// calls.
func (a *callAdmission) CheckInboundCallAdmission() error {
	switch {
	case a.drain.isStopping():
		return stoppingError()
	case a.drain.isDrained() || a.quarantined:
		return a.holdError()
	}
	return nil
}

// QuarantineError returns an error while the store is in quarantine. Meanwhile the node may send nothing to the
// outside.
func (a *callAdmission) QuarantineError() error {
	if !a.quarantined {
		return nil
	}
	return a.holdError()
}

// DialStop returns the switch with which an operator stops all dialling.
func (a *callAdmission) DialStop() *DialStop { return a.dialStop }

// NodeDrain returns the switch with which an operator drains this node.
func (a *callAdmission) NodeDrain() *Drain { return a.drain }

// stoppingError is the error for a request to place a call while the node is stopping.
func stoppingError() error {
	return domain.Errorf(domain.CodeUnavailable, "the service is stopping; try again").With("retry_after", 5)
}
