package sip

import "time"

// handRests is how long a hand waits for more to do before it goes.
const handRests = time.Second

// hands are goroutines that stay for a while: the stack of a new one grows, by
// copies, each time.
type hands struct {
	work   chan func()
	closed <-chan struct{}
}

func newHands(closed <-chan struct{}) hands { return hands{make(chan func()), closed} }

// do runs f beside the caller.
func (h hands) do(f func()) {
	select {
	case h.work <- f:
	default:
		go h.serve(f)
	}
}

func (h hands) serve(f func()) {
	rest := time.NewTimer(handRests)
	defer rest.Stop()
	for {
		f()
		rest.Reset(handRests)
		select {
		case f = <-h.work:
		case <-rest.C:
			return
		case <-h.closed:
			return
		}
	}
}
