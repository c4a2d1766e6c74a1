package sip

import (
	"strconv"

	"github.com/callboard/callboard/sip/message"
)

// maxPracks is how many PRACKs of one early dialog may be on their way: who
// follows RFC 3262 sends the next reliable 1xx after the one before, and each
// costs us a timer and repetitions for 32 s.
const maxPracks = 8

// fork is one early dialog of an outbound leg: every To-tag is one (RFC 3261
// 12.1.2). The one that is answered goes on as the Dialog.
type fork struct {
	far     remote
	local   uint32 // CSeq of our last request in it
	theirs  int64  // of the far end's last, -1 before
	rseq    uint32 // of its last reliable 18x, 0 before
	shown   string // the last Ringing or Early, to tell each only once
	answer  []byte // what a reliable 18x has answered to our offer
	pracks  int    // on their way
	pracked bool   // the PRACK of that answer is under way
	settled bool   // and has arrived: offers may follow
	update  bool   // Allow names UPDATE
}

// forkOf finds or begins the early dialog of a 1xx. nil: there are too many.
func (d *Dialog) forkOf(m *received) *fork {
	o := d.out
	f := o.fork(m.To.Tag)
	if f == nil {
		if len(o.early) >= maxForks {
			return nil
		}
		f = &fork{far: farOf(m, d.remoteURI), local: o.tx.cseq, theirs: -1}
		o.early = append(o.early, f)
	}
	f.update = f.update || m.Allows(message.MethodUpdate)
	return f
}

func (o *outbound) fork(tag string) *fork {
	for _, f := range o.early {
		if f.far.tag == tag {
			return f
		}
	}
	return nil
}

// heardReliably acknowledges a reliable 1xx. false: it came before, or before
// its turn, and changes nothing (RFC 3262 4).
func (d *Dialog) heardReliably(f *fork, m *received, rseq uint32) bool {
	if f.rseq != 0 && rseq != f.rseq+1 || f.pracks >= maxPracks {
		return false
	}
	f.pracks++
	f.rseq = rseq
	answers := len(m.Body) > 0 && f.answer == nil && len(d.out.inv.Body) > 0
	if answers {
		f.answer, f.pracked = m.Body, true
	}
	d.ask(ownRequest{
		method: message.MethodPrack, fork: f,
		extra: []message.Header{{Name: "RAck", Value: strconv.FormatUint(uint64(rseq), 10) + " " + strconv.FormatUint(uint64(m.CSeq), 10) + " " + message.MethodInvite}},
	}, func(m *received, _ error) {
		f.pracks--
		if answers {
			f.pracked, f.settled = false, m != nil && m.Code < 300
			d.pump()
		}
	})
	return true
}

// earlyRequest takes a request of the called side before its answer.
func (d *Dialog) earlyRequest(m *received) {
	var f *fork
	if d.out != nil {
		f = d.out.fork(m.From.Tag)
	}
	switch {
	case f == nil, m.Method == message.MethodBye: // only a caller may (RFC 3261 15)
		d.ua.reject(m, 481)
		return
	case d.again(m):
		return
	case int64(m.CSeq) <= f.theirs:
		d.ua.stats.rejected.Add(1)
		d.ua.reject(m, 500)
		return
	}
	f.theirs = int64(m.CSeq)
	switch m.Method {
	case message.MethodUpdate:
		d.updated(m, f)
	case message.MethodInfo:
		d.informed(m)
	case message.MethodOptions:
		d.keep(m, d.ua.reply(m, 200, d.key.tag, nil))
	default: // an INVITE crosses ours, the rest needs an answered call
		d.keep(m, d.ua.reply(m, 491, d.key.tag, nil))
	}
}
