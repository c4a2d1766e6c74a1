package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/callboard/callboard/persistence"
)

func list(name string) persistence.Range { return persistence.Range{List: name} }

func testRowMovesBetweenLists(t *testing.T, d persistence.Driver) {
	mustCommit(t, d, puts(set("x", "1", "b", "all", "open"), set("y", "1", "a", "all", "open")))
	equal(t, read(t, d, list("open"), 10), []string{"y=1@1", "x=1@1"})
	mustCommit(t, d, puts(set("x", "2", "b", "all", "done"))) // open → done
	equal(t, read(t, d, list("open"), 10), []string{"y=1@1"})
	equal(t, read(t, d, list("done"), 10), []string{"x=2@2"})
	mustCommit(t, d, puts(set("x", "3", "0", "all", "done"))) // another position in the same list
	equal(t, read(t, d, list("all"), 10), []string{"x=3@3", "y=1@1"})
	equal(t, read(t, d, list("done"), 10), []string{"x=3@3"})
	mustCommit(t, d, puts(set("x", "4", "0", "all"), set("x", "5", "0", "all", "open"), persistence.Put{Key: key("y")}))
	equal(t, read(t, d, list("open"), 10), []string{"x=5@5"})
	equal(t, read(t, d, list("all"), 10), []string{"x=5@5"})
	equal(t, read(t, d, list("done"), 10), []string{})
	mustCommit(t, d, puts(persistence.Put{Key: key("x")}))
	for _, name := range []string{"", "all", "open", "done"} {
		equal(t, read(t, d, list(name), 10), []string{})
	}
}

func testRangeBounds(t *testing.T, d persistence.Driver) {
	var rows []persistence.Put
	for i, sort := range []string{"a", "aa", "b", "b", "c", "ca", "d"} {
		rows = append(rows, set(strconv.Itoa(9-i), "v", sort, "l"))
	}
	mustCommit(t, d, puts(rows...))
	all := []string{"9", "8", "6", "7", "5", "4", "3"} // sorted by Sort, then by id
	tests := map[[2]string][]string{
		{"", ""}: all, {"b", ""}: all[2:], {"", "b"}: all[:2], {"b", "c"}: all[2:4], {"aa", "ca"}: all[1:5],
		{"b", "b"}: {}, {"c", "b"}: {}, {"x", ""}: {}, {"", "0"}: {},
	}
	for b, want := range tests {
		for size := 1; size <= 8; size++ {
			for _, reverse := range []bool{false, true} {
				got := []string{}
				for _, r := range read(t, d, persistence.Range{List: "l", From: b[0], To: b[1], Reverse: reverse}, size) {
					got = append(got, strings.TrimSuffix(r, "=v@1"))
				}
				if reverse {
					slices.Reverse(got)
				}
				equal(t, fmt.Sprint(b, size, reverse, got), fmt.Sprint(b, size, reverse, want))
			}
		}
	}
}

func testPrefixes(t *testing.T, d persistence.Driver) {
	var rows []persistence.Put
	for _, id := range []string{"c1/0", "c1/1", "c1/2", "c10/0", "c2/0", "c1", "c1\xff", "\xff\xff1"} {
		rows = append(rows, set(id, "v", ""))
	}
	mustCommit(t, d, puts(rows...))
	under := func(prefix, after string, reverse bool) []string {
		return read(t, d, persistence.Range{Prefix: prefix, After: after, Reverse: reverse}, 2)
	}
	equal(t, under("c1/", "", false), []string{"c1/0=v@1", "c1/1=v@1", "c1/2=v@1"})
	equal(t, under("c1/", "", true), []string{"c1/2=v@1", "c1/1=v@1", "c1/0=v@1"})
	equal(t, under("c1/", "c1/0", false), []string{"c1/1=v@1", "c1/2=v@1"})
	equal(t, under("c1/", "c1/00", false), []string{"c1/1=v@1", "c1/2=v@1"}) // there is no row with the id c1/00
	equal(t, under("c1/", "c1/2", true), []string{"c1/1=v@1", "c1/0=v@1"})
	equal(t, under("c1/", "c2", false), []string{})
	equal(t, under("c2", "a", false), []string{"c2/0=v@1"})
	equal(t, under("\xff\xff", "", false), []string{"\xff\xff1=v@1"})
	equal(t, under("none", "", false), []string{})
}

// testSimilarNames checks that tables and lists with a common name prefix do not share rows.
func testSimilarNames(t *testing.T, d persistence.Driver) {
	for _, table := range []string{"a", "a/", "a/b", "ab", "a\x01"} {
		for _, name := range []string{"l", "l=", "l=1", "l\x01"} {
			p := persistence.Put{Key: persistence.Key{Table: table, ID: name}, Value: []byte(table + name), Lists: []string{name}, Sort: "s"}
			c := puts(p)
			c.Log, c.Events = table, []persistence.Event{{Subject: name, Payload: []byte(table)}}
			mustCommit(t, d, c)
		}
	}
	for _, table := range []string{"a", "a/", "a/b", "ab", "a\x01"} {
		equal(t, len(read(t, d, persistence.Range{Table: table}, 3)), 4)
		for _, name := range []string{"l", "l=", "l=1", "l\x01"} {
			equal(t, read(t, d, persistence.Range{Table: table, List: name}, 3), []string{name + "=" + table + name + "@1"})
		}
		entries, err := d.Events(deadline(t), table, 0, 100)
		noError(t, err)
		equal(t, len(entries), 4)
		equal(t, entries[3].Offset, uint64(4))
	}
}

func testPagesDuringDeletes(t *testing.T, d persistence.Driver) {
	const n = 300
	id := func(i int) string { return fmt.Sprintf("%04d", i) }
	var rows []persistence.Put
	for i := range n {
		rows = append(rows, set(id(i), "v", id(i), "l"))
	}
	mustCommit(t, d, puts(rows...))
	done := make(chan error, 1)
	go func() { // deletes every third row, unordered, while the list is read
		for _, i := range rand.Perm(n) {
			if i%3 != 0 {
				continue
			}
			if _, err := d.Commit(t.Context(), persistence.Commit{Puts: []persistence.Put{{Key: key(id(i))}}}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for running := true; running; {
		select {
		case err := <-done:
			noError(t, err)
			running = false
		default:
		}
		for _, reverse := range []bool{false, true} {
			rows := read(t, d, persistence.Range{List: "l", Reverse: reverse}, 7)
			if reverse {
				slices.Reverse(rows)
			}
			equal(t, slices.IsSorted(rows), true)
			kept := 0
			for i, r := range rows {
				if i > 0 && r == rows[i-1] {
					t.Fatalf("%s was listed twice", r)
				}
				if !strings.HasSuffix(r, "=v@1") {
					t.Fatalf("row %s", r)
				}
				var at int
				_, err := fmt.Sscanf(r, "%04d=", &at)
				noError(t, err)
				if at%3 != 0 {
					kept++
				}
			}
			equal(t, kept, n-n/3)
		}
	}
	equal(t, len(read(t, d, list("l"), 1000)), n-n/3)
}

func testLargePages(t *testing.T, d persistence.Driver) {
	value := strings.Repeat("v", 1<<20)
	for i := range 10 {
		c := puts(set(strconv.Itoa(i), value, strconv.Itoa(i), "l"))
		c.Log, c.Events = "ws", []persistence.Event{{Payload: []byte(value)}}
		mustCommit(t, d, c)
	}
	for _, r := range []persistence.Range{{Table: "noun/ws"}, {Table: "noun/ws", List: "l"}} {
		r.Limit = 100
		page, err := d.Scan(deadline(t), r)
		noError(t, err)
		equal(t, len(page.Rows) >= 1 && len(page.Rows) <= 5 && page.More, true)
		equal(t, len(read(t, d, r, 100)), 10)
	}
	entries, err := d.Events(deadline(t), "ws", 0, 100)
	noError(t, err)
	equal(t, len(entries) >= 1 && len(entries) <= 5, true)
}

// testAgainstModel makes random commits and compares the stored lists with a model in memory.
func testAgainstModel(t *testing.T, d persistence.Driver) {
	type kept struct {
		value, sort string
		version     int
		lists       []string
	}
	rows := map[string]kept{}
	dice := rand.New(rand.NewPCG(1, 2))
	names := []string{"l0", "l1", "l2"}
	for step := range 150 {
		var c persistence.Commit
		for range 1 + dice.IntN(4) {
			id := strconv.Itoa(dice.IntN(8))
			if dice.IntN(4) == 0 {
				c.Puts = append(c.Puts, persistence.Put{Key: key(id)})
				delete(rows, id)
				continue
			}
			r := kept{value: strconv.Itoa(step), sort: strconv.Itoa(dice.IntN(3)), version: rows[id].version + 1}
			for _, l := range names {
				if dice.IntN(2) == 0 {
					r.lists = append(r.lists, l)
				}
			}
			rows[id] = r
			c.Puts = append(c.Puts, set(id, r.value, r.sort, r.lists...))
		}
		mustCommit(t, d, c)
		if step%10 != 0 {
			continue
		}
		for _, l := range append(names, "") {
			want := []string{}
			for id, r := range rows {
				if l == "" || slices.Contains(r.lists, l) {
					sort := r.sort
					if l == "" {
						sort = ""
					}
					want = append(want, sort+"\x00"+fmt.Sprintf("%s=%s@%d", id, r.value, r.version))
				}
			}
			slices.Sort(want)
			for i, w := range want {
				_, want[i], _ = strings.Cut(w, "\x00")
			}
			equal(t, read(t, d, list(l), 3), want)
		}
	}
}
