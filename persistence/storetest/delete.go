package storetest

import (
	"slices"
	"strconv"
	"testing"

	"github.com/callboard/callboard/persistence"
)

func testTables(t *testing.T, d persistence.Driver) {
	for _, name := range []string{"a/ws", "b/ws", "c/ws2", "ws", "a/ws*"} {
		for i := range 3 {
			mustCommit(t, d, puts(persistence.Put{Key: persistence.Key{Table: name, ID: strconv.Itoa(i)}, Value: []byte("v"), Lists: []string{"all"}}))
		}
	}
	mustCommit(t, d, puts(persistence.Put{Key: persistence.Key{Table: "b/ws", ID: "0"}}))
	for ending, want := range map[string][]string{"/ws": {"a/ws", "b/ws"}, "/ws*": {"a/ws*"}, "": {"a/ws", "a/ws*", "b/ws", "c/ws2", "ws"}, "/nobody": nil} {
		got, err := d.Tables(deadline(t), ending)
		noError(t, err)
		slices.Sort(got)
		equal(t, got, want)
	}
}

func testDeleteLog(t *testing.T, d persistence.Driver) {
	events := []persistence.Event{{Subject: "s", Payload: []byte("1")}, {Subject: "s", Payload: []byte("2")}}
	for _, log := range []string{"ws", "ws2", "w"} {
		mustCommit(t, d, persistence.Commit{Log: log, Events: events})
	}
	mustCommit(t, d, persistence.Commit{DeleteLog: "ws"})
	for log, want := range map[string]int{"ws": 0, "ws2": 2, "w": 2} {
		entries, err := d.Events(deadline(t), log, 0, 10)
		noError(t, err)
		equal(t, len(entries), want)
		last, err := d.LastOffset(deadline(t), log)
		noError(t, err)
		equal(t, last, uint64(want))
	}
	again := mustCommit(t, d, persistence.Commit{Log: "ws", Events: events})
	equal(t, []any{again.Offset, again.Sequences}, []any{uint64(1), []uint64{1, 2}})
}

func testTrimLog(t *testing.T, d persistence.Driver) {
	events := []persistence.Event{{Subject: "s", Payload: []byte("1")}, {Subject: "s", Payload: []byte("2")}, {Subject: "t", Payload: []byte("3")}}
	for _, log := range []string{"ws", "ws2", "w"} {
		mustCommit(t, d, persistence.Commit{Log: log, Events: events})
	}
	offsets := func(log string) (found []uint64) {
		entries, err := d.Events(deadline(t), log, 0, 10)
		noError(t, err)
		for _, e := range entries {
			found = append(found, e.Offset)
		}
		return found
	}
	mustCommit(t, d, persistence.Commit{Log: "ws", TrimUpTo: 2})
	equal(t, offsets("ws"), []uint64{3})
	equal(t, offsets("ws2"), []uint64{1, 2, 3})
	equal(t, offsets("w"), []uint64{1, 2, 3})
	mustCommit(t, d, persistence.Commit{Log: "ws", TrimUpTo: 9}) // above the last offset
	equal(t, offsets("ws"), []uint64(nil))
	last, err := d.LastOffset(deadline(t), "ws")
	noError(t, err)
	equal(t, last, uint64(3))
	next := mustCommit(t, d, persistence.Commit{Log: "ws", Events: events[:1]})
	equal(t, []any{next.Offset, next.Sequences}, []any{uint64(4), []uint64{3}})
	equal(t, offsets("ws"), []uint64{4})
}

func testDeleteEvents(t *testing.T, d persistence.Driver) {
	events := []persistence.Event{{Subject: "s", Payload: []byte("1")}, {Subject: "t", Payload: []byte("2")}, {Subject: "s", Payload: []byte("3")}}
	for _, log := range []string{"ws", "ws2"} {
		mustCommit(t, d, persistence.Commit{Log: log, Events: events})
	}
	mustCommit(t, d, persistence.Commit{Log: "ws", DeleteEvents: []uint64{1, 3, 99}, DeleteSubjects: []string{"s", "unknown"}})
	kept := func(log string, after uint64) (found []uint64) {
		entries, err := d.Events(deadline(t), log, after, 10)
		noError(t, err)
		for _, e := range entries {
			found = append(found, e.Offset)
		}
		return found
	}
	equal(t, kept("ws", 0), []uint64{2})
	equal(t, kept("ws", 2), []uint64(nil))
	equal(t, kept("ws2", 0), []uint64{1, 2, 3})
	next := mustCommit(t, d, persistence.Commit{Log: "ws", Events: events})
	equal(t, []any{next.Offset, next.Sequences}, []any{uint64(4), []uint64{1, 2, 2}})
	equal(t, kept("ws", 0), []uint64{2, 4, 5, 6})
	next = mustCommit(t, d, persistence.Commit{Log: "ws2", Events: events[:1]})
	equal(t, next.Sequences, []uint64{3})
}
