package storetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
)

const writers = 16

// testContendedCounter checks that guards prevent lost updates. Every writer reads the same counter row and commits
// its value plus one, guarded by the row's version.
func testContendedCounter(t *testing.T, d persistence.Driver) {
	const each = 20
	ctx := deadline(t)
	var wg sync.WaitGroup
	failed := make(chan error, writers)
	for range writers {
		wg.Go(func() {
			for range each {
				if err := increment(ctx, d); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
	value, version, err := d.Get(ctx, key("counter"))
	noError(t, err)
	equal(t, string(value), strconv.Itoa(writers*each))
	equal(t, version, uint64(writers*each))
}

func increment(ctx context.Context, d persistence.Driver) error {
	for {
		value, version, err := d.Get(ctx, key("counter"))
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return err
		}
		n, _ := strconv.Atoi(string(value))
		_, err = d.Commit(ctx, persistence.Commit{
			Guards: []persistence.Guard{{Key: key("counter"), Version: version}},
			Puts:   []persistence.Put{set("counter", strconv.Itoa(n+1), "")},
		})
		if !errors.Is(err, domain.ErrConflict) {
			return err
		}
	}
}

// testLogUnderLoad checks that a reader sees each event of a log once and without a gap, while 16 writers append to
// the log. The reader continues from its last offset. Some commits of the writers are refused.
func testLogUnderLoad(t *testing.T, d persistence.Driver) {
	const each = 40
	ctx := deadline(t)
	failed := make(chan error, writers)
	for w := range writers {
		go func() { failed <- appendAll(ctx, d, w, each) }()
	}
	const total = writers * each * 3 / 2
	sequences := map[string]uint64{}
	var last uint64
	for last < total {
		entries, err := d.Events(ctx, "ws", last, 17)
		noError(t, err)
		for _, e := range entries {
			last++
			sequences[e.Subject]++
			want := persistence.LogEntry{Offset: last, Sequence: sequences[e.Subject], Subject: e.Subject, Payload: e.Payload}
			equal(t, e, want)
		}
	}
	for range writers {
		noError(t, <-failed)
	}
	entries, err := d.Events(ctx, "ws", last, 17)
	noError(t, err)
	equal(t, len(entries), 0)
	for w := range writers {
		equal(t, sequences[fmt.Sprint("w", w)], uint64(each))
	}
	equal(t, sequences["all"], uint64(total-writers*each))
}

// appendAll makes each commits of writer w, alternately with two events and with one. After each commit it makes a
// commit that a guard must refuse.
func appendAll(ctx context.Context, d persistence.Driver, w, each int) error {
	for i := range each {
		c := persistence.Commit{Log: "ws", Events: []persistence.Event{{Subject: fmt.Sprint("w", w), Payload: fmt.Append(nil, w, i)}}}
		if i%2 == 0 {
			c.Events = append(c.Events, persistence.Event{Subject: "all", Payload: []byte("both")})
		}
		r, err := d.Commit(ctx, c)
		if err != nil {
			return err
		}
		if r.Sequences[0] != uint64(i)+1 {
			return fmt.Errorf("writer %d got sequence %d for its event %d", w, r.Sequences[0], i+1)
		}
		c.Guards = []persistence.Guard{{Key: key("none"), Version: 1}}
		if _, err = d.Commit(ctx, c); !errors.Is(err, domain.ErrConflict) {
			return fmt.Errorf("a failed guard returned %w", err)
		}
	}
	return nil
}
