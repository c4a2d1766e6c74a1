package sip

import (
	"errors"
	"time"

	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// widen turns a large request from UDP to TCP, unless the address refused
// that of late.
func (d *Dialog) widen(tx *clientTx) error {
	if tx.to.IsStream() || d.pinned || len(tx.bytes) <= transport.MaxDatagramRequest || d.ua.resolver.FailedRecently(tx.to.TCPTarget(), time.Now()) {
		return nil
	}
	was := tx.to
	tx.narrow, tx.to = &was, transport.Flow{Network: resolve.TCP, Addr: was.Addr, ShortDial: true}
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
	d.ua.resolver.MarkFailed(tx.to.TCPTarget())
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

// home is the way by which the dialog wants to be reached.
func (tx *clientTx) home() transport.Flow {
	if tx.narrow != nil {
		return *tx.narrow
	}
	return tx.to
}
