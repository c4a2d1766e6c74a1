package httpapi

import (
	"sync"

	"github.com/callboard/callboard/domain"
)

// notesMost is how many notes may wait for who talks.
const notesMost = 256

// notes carry what is told beside sound to a socket. Nobody waits for the one
// who takes them: where too many wait, it was too slow. nil carries nothing.
type notes struct {
	there chan struct{} // room for one: something is there

	mu   sync.Mutex
	wait [][]byte
	slow bool
	drop func() // where too slow; does not block
}

func newNotes() *notes { return &notes{there: make(chan struct{}, 1)} }

// attend says whom to drop where too many notes wait.
func (n *notes) attend(drop func()) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop = drop
	if n.slow {
		drop()
	}
}

// put takes a note.
func (n *notes) put(v any) {
	text, err := domain.EncodeJSON(v)
	if err != nil {
		return
	}
	n.mu.Lock()
	if len(n.wait) < notesMost {
		n.wait = append(n.wait, text)
	} else if !n.slow {
		n.slow = true
		if n.drop != nil {
			n.drop()
		}
	}
	n.mu.Unlock()
	select {
	case n.there <- struct{}{}:
	default:
	}
}

func (n *notes) more() <-chan struct{} {
	if n == nil {
		return nil
	}
	return n.there
}

// take hands out all notes that wait.
func (n *notes) take() [][]byte {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.wait
	n.wait = nil
	return all
}
