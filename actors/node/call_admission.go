package node

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
)

// holdRetryAfter is the Retry-After of a refused call, in seconds.
const holdRetryAfter = 5

// callAdmission decides whether calls may begin. A quarantined store, a dial stop, a
// drained node and a stopping node refuse them.
type callAdmission struct {
	quarantined bool // the store was restored from a backup and is not released
	dialStop    *DialStop
	drain       *Drain
}

// holdReason returns why no outbound call may begin, as dialer.View.Stopped; "": calls may.
func (a *callAdmission) holdReason() string {
	switch {
	case a.quarantined:
		return dialer.ForQuarantine
	case a.dialStop.isStopped():
		return dialer.ForDialling
	case a.drain.isDrained():
		return dialer.ForDrain
	}
	return ""
}

// holdError returns the error of holdReason; nil: calls may begin.
func (a *callAdmission) holdError() error {
	reason := a.holdReason()
	text := "an operator has stopped all dialling; try again later"
	switch reason {
	case "":
		return nil
	case dialer.ForQuarantine:
		text = "the service was restored from a backup: it calls nobody until an operator releases it"
	case dialer.ForDrain:
		text = "an operator has drained this node: it takes no calls; try again later"
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

// CheckInboundCallAdmission returns an error while no inbound call may begin. A dial stop
// alone does not refuse them.
func (a *callAdmission) CheckInboundCallAdmission() error {
	switch {
	case a.drain.isStopping():
		return stoppingError()
	case a.drain.isDrained() || a.quarantined:
		return a.holdError()
	}
	return nil
}

// QuarantineError returns the error for what would leave the node while its store is in
// quarantine; nil: it is not.
func (a *callAdmission) QuarantineError() error {
	if !a.quarantined {
		return nil
	}
	return a.holdError()
}

// DialStop returns the stop of all dialling.
func (a *callAdmission) DialStop() *DialStop { return a.dialStop }

// NodeDrain returns the drain of the node.
func (a *callAdmission) NodeDrain() *Drain { return a.drain }

func stoppingError() error {
	return domain.Errorf(domain.CodeUnavailable, "the service is being stopped; try again").With("retry_after", 5)
}
