package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/callboard/callboard/persistence"
)

// Bench measures commits with increasing numbers of writers, and reads of list pages with increasing list lengths.
func Bench(b *testing.B, open Open) {
	b.Helper()
	for _, n := range []int{1, 16, 256} {
		b.Run(fmt.Sprint("commits/writers=", n), func(b *testing.B) { benchCommits(b, open(b), n) })
	}
	for _, n := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprint("page/rows=", n), func(b *testing.B) { benchPages(b, open, n) })
	}
}

// benchCommits measures commits with a guarded row, a new row in two lists and an event.
func benchCommits(b *testing.B, d persistence.Driver, writers int) {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for w := range writers {
		wg.Go(func() {
			own := fmt.Sprint("own", w)
			for version := uint64(0); ; version++ {
				i := next.Add(1)
				if i > int64(b.N) {
					return
				}
				id := fmt.Sprintf("row%09d", i)
				c := persistence.Commit{
					Log:    "ws",
					Guards: []persistence.Guard{{Key: key(own), Version: version}},
					Puts:   []persistence.Put{set(own, "some state", ""), set(id, "a row of a few bytes", id, "all", "open")},
					Events: []persistence.Event{{Subject: id, Payload: make([]byte, 400)}},
				}
				if _, err := d.Commit(b.Context(), c); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// benchPages measures reading pages of 20 rows from the middle of a list.
func benchPages(b *testing.B, open Open, rows int) {
	b.Helper()
	d := open(b)
	const batch = 5000
	for at := 0; at < rows; at += batch {
		var c persistence.Commit
		for i := at; i < min(rows, at+batch); i++ {
			id := fmt.Sprintf("row%09d", i)
			c.Puts = append(c.Puts, set(id, "a row of a few bytes", id, "all"))
		}
		if _, err := d.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for i := range b.N {
		after := fmt.Sprintf("row%09d", (i*7919)%rows)
		page, err := d.Scan(b.Context(), persistence.Range{Table: "noun/ws", List: "all", After: persistence.ListPosition(after, after), Limit: 20, Reverse: i%2 == 0})
		if err != nil || len(page.Rows) == 0 && i%rows > 20 && i%rows < rows-20 {
			b.Fatal(len(page.Rows), err)
		}
	}
}
