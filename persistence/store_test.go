package persistence_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/pebble"
	"github.com/callboard/callboard/persistence/redis"
	"github.com/callboard/callboard/persistence/redis/redistest"
)

const ws = "ws_1"

var master = bytes.Repeat([]byte{7}, persistence.MasterKeySize)

func embedded(t testing.TB) persistence.Driver {
	t.Helper()
	d, err := pebble.Open("data", pebble.Options{FS: vfs.NewMem()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func open(t testing.TB, d persistence.Driver) *persistence.Store {
	t.Helper()
	s, err := persistence.NewStore(t.Context(), d, master, "1|node")
	require.NoError(t, err)
	return s
}

func apply(t testing.TB, s *persistence.Store, c commit.Change) []event.Event {
	t.Helper()
	c.Workspace = ws
	events, err := s.Apply(t.Context(), c)
	require.NoError(t, err)
	return events
}

func agent(n int, name string) *domain.Agent {
	return &domain.Agent{
		Meta: domain.Meta{ID: fmt.Sprintf("agent_%04d", n), WorkspaceID: ws, Environment: domain.Live}, Name: name,
	}
}

func webhook(id, secret string) *domain.Webhook {
	return &domain.Webhook{Meta: domain.Meta{ID: id, WorkspaceID: ws, Environment: domain.Live}, URL: "https://x.example", Secret: secret}
}

// withEachDriver runs a test once with a store on Pebble and once with a store on Redis.
func withEachDriver(t *testing.T, test func(*testing.T, *persistence.Store, persistence.Driver)) {
	t.Helper()
	t.Run("pebble", func(t *testing.T) {
		d := embedded(t)
		test(t, open(t, d), d)
	})
	t.Run("redis", func(t *testing.T) {
		url, _ := redistest.Start(t)
		d, err := redis.Open(t.Context(), url, redis.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		test(t, open(t, d), d)
	})
}

func TestRecordsAreReadAsWritten(t *testing.T) {
	withEachDriver(t, func(t *testing.T, s *persistence.Store, _ persistence.Driver) {
		want := agent(1, strings.Repeat("a long name ", 5000)) // long enough to be compressed
		want.CreatedAt = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
		want.Metadata = map[string]string{"k": "v"}
		apply(t, s, commit.Change{Guards: []commit.Guard{commit.Absent(want.Key())}, Puts: []domain.Record{want}})
		got := agent(1, "")
		got.Language, got.Metadata = "stale", map[string]string{"stale": "x"}
		version, err := s.Get(t.Context(), got)
		require.NoError(t, err)
		assert.Equal(t, uint64(1), version)
		assert.Equal(t, want, got)

		_, err = s.Apply(t.Context(), commit.Change{Workspace: ws, Guards: []commit.Guard{commit.Absent(want.Key())}, Puts: []domain.Record{agent(1, "b")}})
		require.ErrorIs(t, err, domain.ErrConflict)
		apply(t, s, commit.Change{Guards: []commit.Guard{{Key: want.Key(), Version: 1}}, Puts: []domain.Record{agent(1, "c")}})
		version, err = s.Get(t.Context(), got)
		require.NoError(t, err)
		assert.Equal(t, uint64(2), version)
		assert.Equal(t, agent(1, "c"), got)

		apply(t, s, commit.Change{Deletes: []domain.Key{want.Key()}})
		_, err = s.Get(t.Context(), got)
		require.ErrorIs(t, err, domain.ErrNotFound)
		assert.Equal(t, agent(1, "c"), got, "the record is unchanged if the row does not exist")
		assert.Empty(t, names(t, s, commit.Query{Kind: "agent", Workspace: ws, Index: "env=live"}))
	})
}

// names returns the names of the agents that a query lists, over all pages.
func names(t *testing.T, s *persistence.Store, q commit.Query) []string {
	t.Helper()
	var all []string
	for {
		n := 0
		next, err := s.List(t.Context(), q, func() domain.Record { return &domain.Agent{} }, func(r domain.Record) error {
			n++
			all = append(all, r.(*domain.Agent).Name)
			return nil
		})
		require.NoError(t, err)
		if next == "" {
			return all
		}
		require.Equal(t, q.Limit, n, "all pages except the last are full")
		q.Cursor = next
	}
}

func TestListPagesInBothDirections(t *testing.T) {
	withEachDriver(t, func(t *testing.T, s *persistence.Store, _ persistence.Driver) {
		var c commit.Change
		for i := range 7 {
			c.Puts = append(c.Puts, agent(i, strconv.Itoa(i)))
		}
		test := agent(9, "test")
		test.Environment = domain.Test
		apply(t, s, commit.Change{Puts: append(c.Puts, test)})
		tests := map[string]struct {
			q    commit.Query
			want string
		}{
			"newest first":      {commit.Query{}, "6543210"},
			"oldest first":      {commit.Query{Oldest: true}, "0123456"},
			"bounds":            {commit.Query{From: "agent_0002", To: "agent_0005"}, "432"},
			"bounds, oldest":    {commit.Query{From: "agent_0002", To: "agent_0005", Oldest: true}, "234"},
			"from":              {commit.Query{From: "agent_0005"}, "65"},
			"to":                {commit.Query{To: "agent_0002"}, "10"},
			"nothing":           {commit.Query{From: "agent_0005", To: "agent_0005"}, ""},
			"other workspace":   {commit.Query{Workspace: "ws_2"}, ""},
			"other environment": {commit.Query{Index: "env=test"}, "test"},
		}
		for name, test := range tests {
			for _, limit := range []int{1, 2, 7, 20, 1000} {
				q := test.q
				q.Kind, q.Limit = "agent", limit
				if q.Workspace == "" {
					q.Workspace = ws
				}
				if q.Index == "" {
					q.Index = "env=live"
				}
				assert.Equal(t, test.want, strings.Join(names(t, s, q), ""), "%s, pages of %d", name, limit)
			}
		}
	})
}

func TestUnderReadsLongListsCompletely(t *testing.T) {
	s := open(t, embedded(t))
	var c commit.Change
	for i := range 700 {
		c.Puts = append(c.Puts, agent(i, fmt.Sprintf("%03d", i)))
	}
	apply(t, s, c)
	all := names(t, s, commit.Query{Kind: "agent", Workspace: ws, Index: "env=live", Limit: 600, Oldest: true})
	require.Len(t, all, 700)
	assert.IsIncreasing(t, all)
}

func TestInvalidCursorsAreRefused(t *testing.T) {
	s := open(t, embedded(t))
	for _, cursor := range []string{"x", "!", "AA", "agent_0001", "AQ", strings.Repeat("A", 5000)} {
		_, err := s.List(t.Context(), commit.Query{Kind: "agent", Workspace: ws, Index: "env=live", Cursor: cursor},
			func() domain.Record { return &domain.Agent{} }, func(domain.Record) error { return nil })
		var refusal *domain.Error
		require.ErrorAs(t, err, &refusal, cursor)
		assert.Equal(t, "cursor", refusal.Param)
	}
}

// A cursor comes from an API client. A forged cursor may select any position of its list, but never a row of another
// list.
func FuzzCursor(f *testing.F) {
	s := open(f, embedded(f))
	_, err := s.Apply(context.Background(), commit.Change{Puts: []domain.Record{agent(1, "mine"), agent(2, "mine")}})
	require.NoError(f, err)
	other := agent(3, "not mine")
	other.WorkspaceID = "ws_2"
	_, err = s.Apply(context.Background(), commit.Change{Puts: []domain.Record{other}})
	require.NoError(f, err)
	f.Add("", true)
	f.Add("AWFnZW50XzAwMDEAYWdlbnRfMDAwMQ", false)
	f.Add("Af8", true)
	f.Fuzz(func(t *testing.T, cursor string, oldest bool) {
		_, err := s.List(t.Context(), commit.Query{Kind: "agent", Workspace: ws, Index: "env=live", Cursor: cursor, Oldest: oldest},
			func() domain.Record { return &domain.Agent{} }, func(r domain.Record) error {
				if r.(*domain.Agent).Name != "mine" {
					t.Errorf("cursor %q shows %v", cursor, r)
				}
				return nil
			})
		if err != nil && domain.CodeOf(err) != domain.CodeValidation {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	})
}

func TestUnderListsRowsOfPrefix(t *testing.T) {
	withEachDriver(t, func(t *testing.T, s *persistence.Store, _ persistence.Driver) {
		var c commit.Change
		for _, campaign := range []string{"campaign_1", "campaign_10", "campaign_2"} {
			for i := range 600 {
				c.Puts = append(c.Puts, &domain.ContactPage{CampaignID: campaign, WorkspaceID: ws, Index: i, States: []byte{byte(i)}})
			}
		}
		apply(t, s, c)
		under := func(after string, limit int) (got []int) {
			err := s.Under(t.Context(), domain.Key{Kind: "page", Workspace: ws, ID: "campaign_1/"}, after, limit,
				func() domain.Record { return &domain.ContactPage{} }, func(r domain.Record) error {
					p := r.(*domain.ContactPage)
					require.Equal(t, "campaign_1", p.CampaignID)
					got = append(got, p.Index)
					return nil
				})
			require.NoError(t, err)
			return got
		}
		all := under("", 10_000)
		require.Len(t, all, 600)
		assert.IsIncreasing(t, all)
		assert.Equal(t, []int{0, 1}, under("", 2))
		assert.Equal(t, []int{5, 6, 7}, under("campaign_1/00000004", 3))
		assert.Empty(t, under("campaign_1/00000599", 3))
		assert.Empty(t, under("", 0))
		stop := errors.New("enough")
		err := s.Under(t.Context(), domain.Key{Kind: "page", Workspace: ws, ID: "campaign_1/"}, "", 10,
			func() domain.Record { return &domain.ContactPage{} }, func(domain.Record) error { return stop })
		require.ErrorIs(t, err, stop)
	})
}

func TestEventsAreReadAsWritten(t *testing.T) {
	withEachDriver(t, func(t *testing.T, s *persistence.Store, _ persistence.Driver) {
		at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", 3600))
		draft := func(id, subject string, data any) event.Draft {
			return event.Draft{
				ID: id, Type: event.CallEnded, CreatedAt: at, WorkspaceID: ws, Environment: domain.Test,
				SvcID: "unit_1", Subject: subject, Data: data,
			}
		}
		big := strings.Repeat("<long & odd> ", 1000)
		first := apply(t, s, commit.Change{Events: []event.Draft{
			draft("evt_1", "call_1", map[string]string{"a": big}), draft("evt_2", "call_2", nil), draft("evt_3", "call_1", []int{1}),
		}})
		told := draft("evt_4", "call_1", 4)
		told.Attributes = &event.Attributes{AgentID: "agent_1", CampaignID: "campaign_1", Direction: domain.Inbound, From: "+12025550100", To: "+12025550123"}
		traced := draft("evt_5", "call_1", 5)
		traced.Attributes = &event.Attributes{AgentID: "agent_1", To: "+12025550123", TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
		second := apply(t, s, commit.Change{Events: []event.Draft{told, traced}})
		assert.Equal(t, told.Attributes, second[0].Attributes)
		assert.Equal(t, traced.Attributes, second[1].Attributes)
		want := append(first, second...)
		for i, e := range want {
			assert.Equal(t, uint64(i)+1, e.Offset)
		}
		assert.Equal(t, []uint64{1, 1, 2, 3, 4}, []uint64{want[0].Sequence, want[1].Sequence, want[2].Sequence, want[3].Sequence, want[4].Sequence})
		assert.Equal(t, domain.Test, want[0].Environment)
		got, err := s.Events(t.Context(), ws, 0, 100)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		got, err = s.Events(t.Context(), ws, 1, 2)
		require.NoError(t, err)
		assert.Equal(t, want[1:3], got)
		got, err = s.Events(t.Context(), "ws_2", 0, 100)
		require.NoError(t, err)
		assert.Empty(t, got)
		foreign := draft("evt_5", "call_1", nil)
		foreign.WorkspaceID = "ws_2"
		_, err = s.Apply(t.Context(), commit.Change{Workspace: ws, Events: []event.Draft{foreign}})
		require.ErrorIs(t, err, persistence.ErrMalformed)
	})
}

func TestNewOwnerFencesPreviousOwner(t *testing.T) {
	withEachDriver(t, func(t *testing.T, old *persistence.Store, d persistence.Driver) {
		apply(t, old, commit.Change{Puts: []domain.Record{agent(1, "a")}})
		young, err := persistence.NewStore(t.Context(), d, master, "2|node")
		require.NoError(t, err)
		_, err = old.Apply(t.Context(), commit.Change{Workspace: ws, Puts: []domain.Record{agent(1, "b")}})
		require.ErrorIs(t, err, domain.ErrFenced)
		apply(t, young, commit.Change{Puts: []domain.Record{agent(1, "c")}})
		got := agent(1, "")
		_, err = old.Get(t.Context(), got)
		require.NoError(t, err)
		assert.Equal(t, "c", got.Name)
	})
}

func TestOtherMasterKeyIsRefusedWithoutFencing(t *testing.T) {
	withEachDriver(t, func(t *testing.T, s *persistence.Store, d persistence.Driver) {
		_, err := persistence.NewStore(t.Context(), d, bytes.Repeat([]byte{8}, 32), "2|node")
		require.ErrorIs(t, err, persistence.ErrMasterKey)
		_, err = persistence.NewStore(t.Context(), d, master[:31], "2|node")
		require.ErrorContains(t, err, "32 bytes")
		apply(t, s, commit.Change{Puts: []domain.Record{agent(1, "a")}})
		_, err = persistence.NewStore(t.Context(), d, master, "3|node")
		require.NoError(t, err)
	})
}

func TestSecretFieldsAreSealedAndBoundToRecord(t *testing.T) {
	withEachDriver(t, func(t *testing.T, s *persistence.Store, d persistence.Driver) {
		hook := webhook("wh_1", "whsec_very-secret")
		trunk := &domain.Trunk{Meta: domain.Meta{ID: "trunk_1", WorkspaceID: ws}, Auth: &domain.TrunkAuth{Username: "u", Password: "very-secret"}}
		words := &domain.Transcript{CallID: "call_1", WorkspaceID: ws, Text: "very-secret", Segments: []domain.Segment{{Text: "very-secret"}}}
		apply(t, s, commit.Change{Puts: []domain.Record{hook, trunk, words, webhook("wh_2", "")}})
		assert.Equal(t, "whsec_very-secret", hook.Secret, "the caller's record is not sealed")
		for into, want := range map[domain.Record]domain.Record{
			webhook("wh_1", "stale"): hook, webhook("wh_2", "stale"): webhook("wh_2", ""),
			&domain.Trunk{Meta: domain.Meta{ID: "trunk_1", WorkspaceID: ws}}: trunk,
			&domain.Transcript{CallID: "call_1", WorkspaceID: ws}:            words,
		} {
			_, err := s.Get(t.Context(), into)
			require.NoError(t, err)
			assert.Equal(t, want, into)
		}
		at := func(id string) persistence.Key { return persistence.Key{Table: "webhook/" + ws, ID: id} }
		for _, k := range []persistence.Key{at("wh_1"), {Table: "trunk/" + ws, ID: "trunk_1"}, {Table: "transcript/" + ws, ID: "call_1"}} {
			value, _, err := d.Get(t.Context(), k)
			require.NoError(t, err)
			assert.NotContains(t, string(value), "very-secret")
		}
		value, _, err := d.Get(t.Context(), at("wh_1"))
		require.NoError(t, err)
		first := bytes.Replace(value, []byte(`"s1.`), []byte(`"s1.A`), 1)
		for name, forged := range map[string][]byte{
			"another row": bytes.ReplaceAll(value, []byte("wh_1"), []byte("wh_2")), "changed": first,
			"in the clear": bytes.Replace(value, []byte(`"s1.`), []byte(`"xx.`), 1),
			"truncated":    value[:len(value)-1], "empty": {}, "cut compression": {0x81, 1, 2},
		} {
			_, err = d.Commit(t.Context(), persistence.Commit{
				Shard: "0", Token: "1|node", Puts: []persistence.Put{{Key: at("wh_2"), Value: forged}},
			})
			require.NoError(t, err)
			_, err = s.Get(t.Context(), webhook("wh_2", ""))
			require.Error(t, err, name)
		}
	})
}

func TestSealedTextOpensForSameFieldOnly(t *testing.T) {
	s := open(t, embedded(t))
	k := domain.Key{Kind: "blob", Workspace: ws, ID: "a"}
	sealed, err := s.Seal(t.Context(), k, "key", "text")
	require.NoError(t, err)
	again, err := s.Seal(t.Context(), k, "key", "text")
	require.NoError(t, err)
	assert.NotEqual(t, sealed, again)
	text, err := s.Unseal(t.Context(), k, "key", sealed)
	require.NoError(t, err)
	assert.Equal(t, "text", text)
	_, err = s.Seal(t.Context(), domain.Key{Kind: "blob", Workspace: "ws_2", ID: "a"}, "key", "text")
	require.NoError(t, err)
	for _, other := range []domain.Key{{Kind: "blob", Workspace: "ws_2", ID: "a"}, {Kind: "bloc", Workspace: ws, ID: "a"}, {Kind: "blob", Workspace: ws, ID: "b"}} {
		_, err = s.Unseal(t.Context(), other, "key", sealed)
		require.Error(t, err)
	}
	for _, field := range []string{"keY", ""} {
		_, err = s.Unseal(t.Context(), k, field, sealed)
		require.Error(t, err)
	}
	_, err = s.Unseal(t.Context(), domain.Key{Kind: "blob", Workspace: "ws_3", ID: "a"}, "key", sealed)
	require.ErrorIs(t, err, domain.ErrNotFound, "reading creates no data key")
}

func TestDataKeyIsCreatedOnce(t *testing.T) {
	withEachDriver(t, func(t *testing.T, s *persistence.Store, d persistence.Driver) {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				own := s
				if i%2 == 0 { // another store on the same data, as after a restart
					var err error
					own, err = persistence.NewStore(t.Context(), d, master, "1|node")
					if err != nil { // not on the goroutine of the test
						t.Errorf("another store: %v", err)
						return
					}
				}
				_, err := own.Apply(t.Context(), commit.Change{Workspace: ws, Puts: []domain.Record{webhook(fmt.Sprint("wh_", i), "secret")}})
				assert.NoError(t, err)
			})
		}
		wg.Wait()
		fresh := open(t, d)
		for i := range 8 {
			got := webhook(fmt.Sprint("wh_", i), "")
			_, err := fresh.Get(t.Context(), got)
			require.NoError(t, err)
			assert.Equal(t, "secret", got.Secret)
		}
		_, version, err := d.Get(t.Context(), persistence.Key{Table: "_key/" + ws, ID: "data"})
		require.NoError(t, err)
		assert.Equal(t, uint64(1), version)
	})
}

func TestStoredRecordsMatchGolden(t *testing.T) {
	d := embedded(t)
	s := open(t, d)
	apply(t, s, commit.Change{Puts: []domain.Record{agent(1, "Ada")}})
	k := persistence.Key{Table: "agent/" + ws, ID: "agent_0001"}
	value, _, err := d.Get(t.Context(), k)
	require.NoError(t, err)
	golden := "\x01" + `{"id":"agent_0001","object":"","workspace_id":"ws_1","environment":"live",` +
		`"created_at":"0001-01-01T00:00:00Z","updated_at":"0001-01-01T00:00:00Z","name":"Ada","language":"","timezone":"",` +
		`"voice":{},"limits":{},"transfer":{},"inbound":{},"knowledge_base_ids":null,"tools":null,"version":0,"published_at":null,"unpublished_changes":null}`
	assert.Equal(t, golden, string(value))
	_, err = d.Commit(t.Context(), persistence.Commit{
		Shard: "0", Token: "1|node", Puts: []persistence.Put{{Key: k, Value: append([]byte{2}, value[1:]...)}},
	})
	require.NoError(t, err)
	_, err = s.Get(t.Context(), agent(1, ""))
	require.ErrorIs(t, err, persistence.ErrFormat)
}

func TestHealthyReturnsErrorOfDriver(t *testing.T) {
	disk := vfs.NewMem()
	d, err := pebble.Open("data", pebble.Options{FS: disk})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	s := open(t, d)
	require.NoError(t, s.Healthy())
	disk.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1})
	require.Eventually(t, func() bool { return errors.Is(s.Healthy(), persistence.ErrDiskFull) }, time.Minute, 10*time.Millisecond)
}
