package hook_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain/hook"
)

// fill takes as many slots as an endpoint gets, at most a number.
func fill(s *hook.Shares, workspace, endpoint string, most int) (n int) {
	for n < most && s.Try(workspace, endpoint) {
		n++
	}
	return n
}

func TestTheLanesHaveAllSlotsAndHalfOfThemAreForFirstAttemptsOfThoseThatAnswer(t *testing.T) {
	for _, all := range []int{8, 9, 64, 2048, 65536} {
		first, doubtful, retry := hook.LaneFirst.Slots(all), hook.LaneDoubtful.Slots(all), hook.LaneRetry.Slots(all)
		assert.Equal(t, all, first+doubtful+retry)
		assert.GreaterOrEqual(t, first, all/2)
		assert.Equal(t, doubtful, retry)
		assert.GreaterOrEqual(t, retry, 2)
	}
}

func TestNobodyComesToMoreThanItsShareHoweverManyAreFree(t *testing.T) {
	s := hook.NewShares(1024)
	assert.Equal(t, 103, fill(s, "ws_1", "wh_1", 2000), "an endpoint that is alone: a tenth")
	for n := range 2000 {
		fill(s, "ws_1", fmt.Sprint("wh_", n), 2000)
	}
	assert.Equal(t, 512, s.Used(), "a workspace that is alone: half")
	assert.False(t, s.Try("ws_1", "wh_new"))
	assert.Equal(t, 52, fill(s, "ws_2", "wh_a", 2000), "another one has a share of what is left")
}

func TestWhoHasNoneGetsOneWhileThereIsAny(t *testing.T) {
	s := hook.NewShares(64)
	for w := range 64 {
		for e := range 64 {
			fill(s, fmt.Sprint("ws_", w), fmt.Sprint("wh_", e), 64)
		}
		assert.Greater(t, s.Used(), w, "workspace %d has one", w)
	}
	assert.Equal(t, 64, s.Used())
	assert.False(t, s.Take("ws_late", "wh"))
	s.Give("ws_5", "wh_0")
	workspace, endpoint, ok := s.Next()
	assert.Equal(t, []any{"ws_late", "wh", true}, []any{workspace, endpoint, ok})
}

func TestWhatComesFreeGoesToWhoHasTheFewestAndThenToWhoHasWaitedLongest(t *testing.T) {
	s := hook.NewShares(16)
	for n := range 16 {
		assert.True(t, s.Try(fmt.Sprint("ws_", n), "wh"))
	}
	for _, at := range [][2]string{{"ws_0", "wh"}, {"ws_b", "wh_1"}, {"ws_b", "wh_2"}, {"ws_a", "wh"}} {
		assert.False(t, s.Take(at[0], at[1]))
		assert.False(t, s.Take(at[0], at[1]), "waits once")
	}
	s.Drop("ws_b", "wh_1")
	var got []string
	for n := 1; n < 16; n++ {
		s.Give(fmt.Sprint("ws_", n), "wh")
		if w, e, ok := s.Next(); ok {
			got = append(got, w+"/"+e)
		}
	}
	assert.Equal(t, []string{"ws_b/wh_2", "ws_a/wh"}, got[:2])
	assert.Equal(t, "ws_0/wh", got[2], "when there is so much that it may have another")
	assert.Len(t, got, 3)
}

// TestSharesHoldWhateverHappens draws what comes and goes.
func TestSharesHoldWhateverHappens(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		slots := 2 + r.IntN(60)
		s := hook.NewShares(slots)
		used, waits := map[[2]string]int{}, map[[2]string]bool{}
		var held [][2]string
		serve := func() {
			for {
				w, e, ok := s.Next()
				if !ok {
					return
				}
				at := [2]string{w, e}
				assert.True(t, waits[at], "only who waits is served")
				delete(waits, at)
				used[at]++
				held = append(held, at)
			}
		}
		give := func(n int) {
			at := held[n]
			held[n] = held[len(held)-1]
			held = held[:len(held)-1]
			used[at]--
			s.Give(at[0], at[1])
			serve()
		}
		for range 3000 {
			at := [2]string{fmt.Sprint("ws_", r.IntN(5)), fmt.Sprint("wh_", r.IntN(8))}
			switch n := r.IntN(10); {
			case n < 5:
				if s.Take(at[0], at[1]) {
					used[at]++
					held = append(held, at)
					delete(waits, at) // one who waits and takes is served
					s.Drop(at[0], at[1])
				} else {
					waits[at] = true
				}
			case n < 6:
				s.Drop(at[0], at[1])
				delete(waits, at)
				serve()
			case len(held) > 0:
				give(r.IntN(len(held)))
			}
			assert.Equal(t, len(held), s.Used())
			assert.LessOrEqual(t, s.Used(), slots)
			for at := range waits {
				assert.False(t, used[at] == 0 && s.Used() < slots && !spaceBusy(used, at[0]), "one that has none does not wait beside free slots")
			}
		}
		for len(held) > 0 {
			give(len(held) - 1)
		}
		assert.Empty(t, waits, "in the end everybody was served")
		assert.Zero(t, s.Used())
	}
}

func spaceBusy(used map[[2]string]int, workspace string) bool {
	for at, n := range used {
		if at[0] == workspace && n > 0 {
			return true
		}
	}
	return false
}
