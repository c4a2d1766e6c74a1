// Package storetest is the conformance suite and the benchmark that every driver of the store must pass.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

// Open opens a driver on an empty store, which is closed when the test ends.
type Open func(t testing.TB) persistence.Driver

// Run runs the suite. Each test has a store of its own.
func Run(t *testing.T, open Open) {
	t.Helper()
	tests := []struct {
		name string
		test func(*testing.T, persistence.Driver)
	}{
		{"StaleTokenIsRefusedAndLeaksNothing", testStaleToken},
		{"OwnersOfShardsDoNotDisturbEachOther", testShardClaims},
		{"WhoTakesTheWholeRefusesAllOfBeforeUntilOneTakesAShard", testClaimAll},
		{"BrokenGuardsLeaveNoTrace", testGuards},
		{"VersionsCountFromOne", testVersions},
		{"GuardedCountersLoseNoIncrement", testContendedCounter},
		{"TalliesAddUpWhoeverAdds", testCounters},
		{"ATallyIsRaisedWithItsCommitOrNotAtAll", testCounterRefusals},
		{"RowsMoveBetweenLists", testRowMovesBetweenLists},
		{"ListsRespectBoundsBothWays", testRangeBounds},
		{"TablesAreListedByPrefix", testPrefixes},
		{"NeighboursDoNotMix", testSimilarNames},
		{"PagesSurviveDeletes", testPagesDuringDeletes},
		{"PagesEndEarlyBeforeTheyGrowTooLarge", testLargePages},
		{"OutboxHasNoHoles", testLogUnderLoad},
		{"CommitIsAppliedOnce", testReplay},
		{"LargeValuesComeBack", testLargeValue},
		{"AnyByteComesBack", testAnyByte},
		{"MalformedCommitsAreRefused", testMalformedCommits},
		{"NoPlaceOutlivesItsRow", testAgainstModel},
		{"TablesAreFoundByTheirEnding", testTables},
		{"AForgottenLogBeginsAnew", testDeleteLog},
		{"ATrimmedLogGoesOn", testTrimLog},
		{"SingleEventsAndCountsOfSubjectsAreDeleted", testDeleteEvents},
		{"ClosedDriverSaysSo", testClosedDriver},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.test(t, open(t)) })
	}
}

const shard = "s"

func deadline(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func isError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, want %v", err, want)
	}
}

func equal(t testing.TB, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %v\nwant %v", got, want)
	}
}

func mustCommit(t testing.TB, d persistence.Driver, c persistence.Commit) persistence.Result {
	t.Helper()
	c.Shard = shard
	r, err := d.Commit(deadline(t), c)
	noError(t, err)
	return r
}

func key(id string) persistence.Key { return persistence.Key{Table: "noun/ws", ID: id} }

func set(id, value, sort string, lists ...string) persistence.Put {
	return persistence.Put{Key: key(id), Value: []byte(value), Sort: sort, Lists: lists}
}

func puts(p ...persistence.Put) persistence.Commit { return persistence.Commit{Puts: p} }

// read returns the rows of a range, each as "id=value@version". It reads them in pages of size rows.
func read(t testing.TB, d persistence.Driver, r persistence.Range, size int) []string {
	t.Helper()
	if r.Table == "" {
		r.Table = "noun/ws"
	}
	r.Limit = size
	rows := []string{}
	for {
		page, err := d.Scan(deadline(t), r)
		noError(t, err)
		for _, row := range page.Rows {
			rows = append(rows, row.ID+"="+string(row.Value)+"@"+strconv.FormatUint(row.Version, 10))
			r.After = row.Position
		}
		if len(page.Rows) > size || (page.More && len(page.Rows) == 0) {
			t.Fatalf("a page of %d rows, more: %v, limit %d", len(page.Rows), page.More, size)
		}
		if !page.More {
			return rows
		}
	}
}

// dumpState returns the content of all rows, of the list "all" and of the log that the tests write to.
func dumpState(t testing.TB, d persistence.Driver) string {
	t.Helper()
	entries, err := d.Events(deadline(t), "ws", 0, 1000)
	noError(t, err)
	for log, want := range map[string]int{"ws": len(entries), "nobody": 0} {
		last, err := d.LastOffset(deadline(t), log)
		noError(t, err)
		if last != uint64(want) {
			t.Fatalf("log %q ends at %d, wanted %d", log, last, want)
		}
	}
	return fmt.Sprint(read(t, d, persistence.Range{}, 100), read(t, d, persistence.Range{List: "all"}, 100), entries)
}

func testStaleToken(t *testing.T, d persistence.Driver) {
	ctx := deadline(t)
	noError(t, d.Claim(ctx, shard, "1|a"))
	first := persistence.Commit{
		Shard: shard, Token: "1|a", Log: "ws", Puts: []persistence.Put{set("x", "1", "a", "all")},
		Events: []persistence.Event{{Subject: "x", Payload: []byte("e1")}},
	}
	_, err := d.Commit(ctx, first)
	noError(t, err)
	before := dumpState(t, d)
	noError(t, d.Claim(ctx, shard, "2|b"))
	stale := persistence.Commit{
		ID: "again", Shard: shard, Token: "1|a", Log: "ws",
		Puts:   []persistence.Put{set("x", "2", "b", "all"), set("y", "1", "c", "all"), {Key: key("x")}},
		Events: []persistence.Event{{Subject: "x", Payload: []byte("e2")}},
	}
	for _, token := range []string{"1|a", "", "2|", "2|bb"} {
		stale.Token = token
		_, err = d.Commit(ctx, stale)
		isError(t, err, domain.ErrFenced)
	}
	equal(t, dumpState(t, d), before)
	stale.Token = "2|b" // the same id is accepted, because the result of a refused commit is not stored
	r, err := d.Commit(ctx, stale)
	noError(t, err)
	equal(t, r, persistence.Result{Versions: []uint64{2, 1, 0}, Offset: 2, Sequences: []uint64{2}})
	_, err = d.Commit(ctx, persistence.Commit{Shard: "other", Puts: []persistence.Put{set("z", "1", "")}})
	noError(t, err) // another shard has no owner
}

func testGuards(t *testing.T, d persistence.Driver) {
	mustCommit(t, d, puts(set("x", "1", "a", "all")))
	before := dumpState(t, d)
	at := func(id string, v uint64) persistence.Guard { return persistence.Guard{Key: key(id), Version: v} }
	for _, g := range [][]persistence.Guard{
		{at("x", 0)}, {at("x", 2)}, {at("y", 1)}, {at("x", 1), at("y", 1)}, {at("y", 0), at("x", 0)},
	} {
		_, err := d.Commit(deadline(t), persistence.Commit{
			Shard: shard, Log: "ws", Guards: g,
			Puts:   []persistence.Put{set("x", "2", "b", "all"), set("y", "1", "c", "all")},
			Events: []persistence.Event{{Subject: "x", Payload: []byte("e")}},
		})
		isError(t, err, domain.ErrConflict)
	}
	equal(t, dumpState(t, d), before)
	c := puts(set("x", "2", "b", "all"), set("y", "1", "c", "all"))
	c.Guards = []persistence.Guard{at("x", 1), at("y", 0)}
	equal(t, mustCommit(t, d, c).Versions, []uint64{2, 1})
}

func testVersions(t *testing.T, d persistence.Driver) {
	_, _, err := d.Get(deadline(t), key("x"))
	isError(t, err, domain.ErrNotFound)
	equal(t, mustCommit(t, d, puts(set("x", "1", ""))).Versions, []uint64{1})
	equal(t, mustCommit(t, d, puts(set("x", "2", ""), set("x", "3", ""))).Versions, []uint64{2, 3})
	value, version, err := d.Get(deadline(t), key("x"))
	noError(t, err)
	equal(t, string(value)+"@"+strconv.FormatUint(version, 10), "3@3")
	equal(t, mustCommit(t, d, puts(persistence.Put{Key: key("x")}, persistence.Put{Key: key("none")})).Versions, []uint64{0, 0})
	_, _, err = d.Get(deadline(t), key("x"))
	isError(t, err, domain.ErrNotFound)
	equal(t, mustCommit(t, d, puts(set("x", "1", ""))).Versions, []uint64{1})
}

func testLargeValue(t *testing.T, d persistence.Driver) {
	value := make([]byte, 1<<20)
	for i := range value {
		value[i] = byte(i * 7 >> 3)
	}
	p := set("x", string(value), "a", "all")
	c := puts(p)
	c.Log, c.Events = "ws", []persistence.Event{{Subject: "x", Payload: value}}
	mustCommit(t, d, c)
	got, _, err := d.Get(deadline(t), key("x"))
	noError(t, err)
	equal(t, string(got) == string(value), true)
	entries, err := d.Events(deadline(t), "ws", 0, 1)
	noError(t, err)
	equal(t, string(entries[0].Payload) == string(value), true)
}

func testAnyByte(t *testing.T, d persistence.Driver) {
	value := make([]byte, 0, 512)
	for i := range 512 {
		value = append(value, byte(i))
	}
	odd := string(value[1:256]) // every byte except zero
	p := persistence.Put{Key: persistence.Key{Table: "odd/" + odd, ID: odd}, Value: value, Lists: []string{odd, "b"}, Sort: odd}
	c := puts(p, persistence.Put{Key: persistence.Key{Table: p.Key.Table, ID: "empty"}, Value: []byte{}, Lists: []string{"b"}})
	c.Log, c.Events = odd, []persistence.Event{{Subject: odd, Payload: value}, {}}
	mustCommit(t, d, c)
	for _, list := range []string{"", odd} {
		page, err := d.Scan(deadline(t), persistence.Range{Table: p.Key.Table, List: list, From: "\x01", Limit: 1})
		noError(t, err)
		equal(t, page.Rows[0].ID+string(page.Rows[0].Value), odd+string(value))
	}
	equal(t, read(t, d, persistence.Range{Table: p.Key.Table, List: "b"}, 1)[0], "empty=@1")
	entries, err := d.Events(deadline(t), odd, 0, 10)
	noError(t, err)
	equal(t, entries[0], persistence.LogEntry{Offset: 1, Sequence: 1, Subject: odd, Payload: value})
	equal(t, []uint64{entries[1].Offset, entries[1].Sequence, uint64(len(entries[1].Payload))}, []uint64{2, 1, 0})
}

func testMalformedCommits(t *testing.T, d persistence.Driver) {
	for _, c := range []persistence.Commit{
		{Log: "a\x00b"},
		{ID: "\x00"},
		puts(set("", "1", "")), puts(set("a\x00", "1", "")), puts(set("a", "1", "\x00")),
		puts(set("a", "1", "", "")), puts(set("a", "1", "", "l\x00")),
		puts(set("a", string(make([]byte, persistence.MaxValue+1)), "")),
		{Guards: []persistence.Guard{{}}},
		{Events: []persistence.Event{{Subject: "\x00"}}},
	} {
		_, err := d.Commit(deadline(t), c)
		isError(t, err, persistence.ErrMalformed)
	}
}

func testReplay(t *testing.T, d persistence.Driver) {
	c := persistence.Commit{
		ID: "commit-1", Shard: shard, Log: "ws", Guards: []persistence.Guard{{Key: key("x")}},
		Puts:   []persistence.Put{set("x", "1", "a", "all"), {Key: key("none")}},
		Events: []persistence.Event{{Subject: "x", Payload: []byte("1")}, {Subject: "x", Payload: []byte("2")}},
	}
	first := mustCommit(t, d, c)
	equal(t, first, persistence.Result{Versions: []uint64{1, 0}, Offset: 1, Sequences: []uint64{1, 2}})
	before := dumpState(t, d)
	equal(t, mustCommit(t, d, c), first)
	noError(t, d.Claim(deadline(t), shard, "new owner"))
	equal(t, mustCommit(t, d, c), first) // the stored result is returned, even after a change of the owner
	equal(t, dumpState(t, d), before)
	c.ID = "commit-2"
	_, err := d.Commit(deadline(t), c)
	isError(t, err, domain.ErrFenced)
}

func testClosedDriver(t *testing.T, d persistence.Driver) {
	noError(t, d.Healthy())
	noError(t, d.Close())
	noError(t, d.Close())
	_, err := d.Commit(deadline(t), puts(set("x", "1", "")))
	isError(t, err, persistence.ErrClosed)
}
