package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/persistence/lease/leasetest"
)

// drains are the nodes that say they give their shards away, as one of them hears it.
func (w *worker) drains() (ids []string) {
	for _, n := range w.engine.Nodes() {
		if n.Draining {
			ids = append(ids, n.ID)
		}
	}
	return ids
}

// Whoever sees neither the others nor the store cannot say that it drains, and
// must not be heard to say so once it sees them again: it would have no shards from
// then on, and the others would take it for one that does not go on. So it is
// whenever in between the store goes away.
func TestWhoCouldNotSayThatItIsCutOffTakesItBack(t *testing.T) {
	for offset := time.Duration(0); offset < 8*time.Second; offset += 100 * time.Millisecond {
		bubble(t, func(t *testing.T) {
			h := newHouse(t, 30)
			a, b, c := h.join("a"), h.join("b"), h.join("c")
			after(5 * time.Second)
			set(c, &c.blind, true)
			after(offset)
			c.wire.Disconnect(true)
			after(1100 * time.Millisecond)
			set(c, &c.blind, false)
			c.wire.Disconnect(false)
			after(10 * time.Second)
			assert.Empty(t, a.drains(), "%s", offset)
			assert.False(t, c.IsIsolated())
			assert.Len(t, h.shares(a, b, c), 3, "%s", offset)
		})
	}
}

// The same of a node that is parted from everybody for as long as it takes to give
// its work away, and of the next one that sees nobody: it gives its work to those
// that are well again.
func TestWhoWasPartedFromEverybodyIsThereForTheNext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 30)
		a, b, c := h.join("a"), h.join("b"), h.join("c")
		after(5 * time.Second)
		for _, w := range []*worker{c, b} {
			set(w, &w.blind, true)
			w.wire.Disconnect(true)
			after(9 * time.Second)
			w.wire.Disconnect(false)
			for range 15 { // the others answer a moment after the store
				after(100 * time.Millisecond)
				assert.False(t, w.IsIsolated(), w.id)
			}
			set(w, &w.blind, false)
			after(5 * time.Second)
		}
		set(a, &a.blind, true)
		after(8 * time.Second) // the lease, and six rounds
		assert.True(t, a.IsIsolated())
		count := h.shares(a, b, c)
		assert.Zero(t, count["a"])
		assert.Len(t, count, 2)
	})
}

func TestWhereNobodySeesAnybodyAndTheLastOneDiesAnotherGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHouse(t, 30)
		a, b, c := h.join("a"), h.join("b"), h.join("c")
		after(5 * time.Second)
		for _, w := range []*worker{a, b, c} {
			set(w, &w.blind, true)
		}
		after(20 * time.Second)
		assert.Equal(t, map[string]int{"a": 30}, h.shares(a, b, c))
		a.wire.Disconnect(true)
		after(20 * time.Second)
		assert.Equal(t, map[string]int{"b": 30}, h.shares(b, c))
		moved := get(b, &b.starts) + get(c, &c.starts)
		after(time.Minute)
		assert.Equal(t, map[string]int{"b": 30}, h.shares(b, c))
		assert.Equal(t, moved, get(b, &b.starts)+get(c, &c.starts), "nothing goes to and fro")
	})
}

// Of two nodes the one that is left does not take itself for cut off before the
// other one's lease has ended, however long that is: it would end its calls.
func TestWhoseOnlyPeerHasDiedKeepsWhatItHas(t *testing.T) {
	for _, of := range []time.Duration{time.Second, 2 * time.Second, 2900 * time.Millisecond, 10 * time.Second, time.Minute} {
		for phase := range 10 {
			bubble(t, func(t *testing.T) {
				h := newHouse(t, 30)
				h.lease = of
				h.store = leasetest.NewMemoryStore(of)
				a, b := h.join("a"), h.join("b")
				after(3*of + time.Duration(phase)*100*time.Millisecond)
				a.wire.Disconnect(true)
				set(b, &b.blind, true)
				for end := time.Now().Add(of + 10*time.Second); time.Now().Before(end); after(100 * time.Millisecond) {
					assert.False(t, b.IsIsolated(), "a lease of %s", of)
				}
				assert.Len(t, b.StartedShards(), 30)
				assert.Equal(t, 30, get(b, &b.starts), "nothing was stopped, and taken up again")
			})
		}
	}
}
