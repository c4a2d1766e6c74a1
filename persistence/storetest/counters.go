package storetest

import (
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

func addTo(id string, by ...int64) persistence.CounterAdd {
	return persistence.CounterAdd{Key: key(id), Prefix: []byte("v{" + id + ":["), Deltas: by}
}

func readCounter(t testing.TB, d persistence.Driver, id string) string {
	t.Helper()
	value, _, err := d.Get(deadline(t), key(id))
	if errors.Is(err, domain.ErrNotFound) {
		return "none"
	}
	noError(t, err)
	return string(value)
}

func testCounters(t *testing.T, d persistence.Driver) {
	const writers, each = 4, 20
	var wait sync.WaitGroup
	failures := make(chan error, 2*writers*each)
	for w := range writers {
		wait.Go(func() {
			for i := range each {
				own := strconv.Itoa(w*each + i)
				c := persistence.Commit{
					Shard: shard, Log: "ws", Puts: []persistence.Put{set("n"+own, "x", own, "all")},
					CounterAdds: []persistence.CounterAdd{addTo("a", 1, int64(i), -1), addTo("b", 1<<40)},
				}
				if i%10 == 9 { // a commit that is refused, and a commit that is repeated
					refused := c
					refused.Guards = []persistence.Guard{{Key: key("n" + own), Version: 7}}
					_, err := d.Commit(deadline(t), refused)
					failures <- checkError(err, domain.ErrConflict)
					c.ID = "once" + own
					_, err = d.Commit(deadline(t), c)
					failures <- err
				}
				_, err := d.Commit(deadline(t), c)
				failures <- err
			}
		})
	}
	wait.Wait()
	close(failures)
	for err := range failures {
		noError(t, err)
	}
	equal(t, readCounter(t, d, "a"), "v{a:[80,760,-80]}")
	equal(t, readCounter(t, d, "b"), "v{b:["+strconv.Itoa(80<<40)+"]}")
	if n := len(read(t, d, persistence.Range{}, 1000)); n != writers*each+2 {
		t.Fatalf("%d rows in the table", n)
	}
	if n := len(read(t, d, persistence.Range{List: "all"}, 1000)); n != writers*each {
		t.Fatalf("%d rows in the list", n)
	}
}

func checkError(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return errors.Join(errors.New("the commit was not refused"), err)
}

func testCounterRefusals(t *testing.T, d persistence.Driver) {
	mustCommit(t, d, persistence.Commit{CounterAdds: []persistence.CounterAdd{addTo("a", 5)}})
	mustCommit(t, d, persistence.Commit{CounterAdds: []persistence.CounterAdd{addTo("a", 1, 2)}}) // from a later program version that has one more number
	equal(t, readCounter(t, d, "a"), "v{a:[6,2]}")
	mustCommit(t, d, persistence.Commit{CounterAdds: []persistence.CounterAdd{addTo("a", -6)}})
	equal(t, readCounter(t, d, "a"), "v{a:[0,2]}")
	_, version, err := d.Get(deadline(t), key("a"))
	noError(t, err)
	equal(t, version, uint64(3))
	other := persistence.Commit{Shard: shard, Puts: []persistence.Put{set("x", "1", "a", "all")}, CounterAdds: []persistence.CounterAdd{addTo("c", 1), {Key: key("a"), Prefix: []byte("v{z:["), Deltas: []int64{1}}}}
	_, err = d.Commit(deadline(t), other)
	isError(t, err, persistence.ErrMalformed)
	for _, bad := range []persistence.CounterAdd{{Key: key("a"), Prefix: []byte("v["), Deltas: nil}, {Key: key("a"), Deltas: []int64{1}}, {Key: key(""), Prefix: []byte("v["), Deltas: []int64{1}}} {
		_, err = d.Commit(deadline(t), persistence.Commit{Shard: shard, CounterAdds: []persistence.CounterAdd{bad}})
		isError(t, err, persistence.ErrMalformed)
	}
	noError(t, d.Claim(deadline(t), shard, "2|b"))
	_, err = d.Commit(deadline(t), persistence.Commit{Shard: shard, CounterAdds: []persistence.CounterAdd{addTo("a", 1)}})
	isError(t, err, domain.ErrFenced)
	guarded := persistence.Commit{Shard: shard, Token: "2|b", Guards: []persistence.Guard{{Key: key("a"), Version: 2}}, CounterAdds: []persistence.CounterAdd{addTo("a", 1)}}
	_, err = d.Commit(deadline(t), guarded)
	isError(t, err, domain.ErrConflict)
	equal(t, read(t, d, persistence.Range{}, 10), []string{"a=v{a:[0,2]}@3"})
	guarded.Guards[0].Version = 3
	_, err = d.Commit(deadline(t), guarded)
	noError(t, err)
	_, err = d.Commit(deadline(t), persistence.Commit{Shard: shard, Token: "2|b", Puts: []persistence.Put{{Key: key("a")}}})
	noError(t, err)
	equal(t, readCounter(t, d, "a"), "none")
	_, err = d.Commit(deadline(t), persistence.Commit{Shard: shard, Token: "2|b", CounterAdds: []persistence.CounterAdd{addTo("a", 9)}})
	noError(t, err)
	equal(t, read(t, d, persistence.Range{}, 10), []string{"a=v{a:[9]}@1"})
}
