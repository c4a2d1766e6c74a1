package sip

import (
	"errors"
	"time"

	"github.com/callboard/callboard/sip/resolve"
)

// maxNarrow is the largest request for a datagram while nothing is known of
// the path (RFC 3261 18.1.1).
const maxNarrow = 1300

// widen turns a large request from UDP to TCP, unless the address refused
// that of late.
func (d *Dialog) widen(tx *clientTx) error {
	if tx.to.stream() || d.pinned || len(tx.bytes) <= maxNarrow || d.ua.resolver.FailedRecently(tcpAt(tx.to), time.Now()) {
		return nil
	}
	was := tx.to
	tx.narrow, tx.to = &was, flow{network: resolve.TCP, addr: was.addr, hurry: true}
	b, err := d.build(tx)
	if err != nil {
		tx.to, tx.narrow = was, nil
		return err
	}
	tx.bytes = b
	return nil
}

// narrow sends a request that found no connection by UDP after all; false if
// that is not what happened. A far end that is only slow is not asked twice.
func (d *Dialog) narrow(tx *clientTx, why error) bool {
	if tx.narrow == nil || tx.answered || errors.Is(why, errTimeout) || errors.Is(why, errEnded) {
		return false
	}
	d.ua.resolver.MarkFailed(tcpAt(tx.to))
	tx.to, tx.narrow = *tx.narrow, nil
	b, err := d.build(tx)
	if err != nil {
		return false
	}
	tx.bytes = b
	tx.timer.Reset(d.firstWait(tx))
	d.transmit(tx)
	return true
}

func tcpAt(f flow) resolve.Target {
	return resolve.Target{Host: f.addr.Addr().String(), Port: int(f.addr.Port()), Transport: resolve.TCP}
}

// home is the way by which the dialog wants to be reached.
func (tx *clientTx) home() flow {
	if tx.narrow != nil {
		return *tx.narrow
	}
	return tx.to
}
