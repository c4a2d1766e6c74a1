package persistence_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/persistence"
)

// patternBytes returns n bytes with a repeating pattern of all byte values.
func patternBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

func attemptWith(trace []byte) *domain.Attempt {
	return &domain.Attempt{
		ID: "call_1", WorkspaceID: ws, Environment: domain.Live, CallID: "call_1", Number: 1, OpenedAt: time.Date(2030, 1, 2, 3, 4, 5, 6, time.UTC),
		Legs:  []domain.AttemptLeg{{Number: 1, SIPCallID: "a@b", Dialog: json.RawMessage(`{"local_cseq":1}`)}},
		Trace: trace,
	}
}

func TestRawPartOfRowIsStoredUnchanged(t *testing.T) {
	t.Parallel()
	d := embedded(t)
	s := open(t, d)
	for name, trace := range map[string][]byte{"none": nil, "some": []byte("1 + udp a b c 2\nxx"), "bytes": patternBytes(300), "long": patternBytes(40 << 10)} {
		want := attemptWith(trace)
		row := &domain.TraceRow{CallID: "call_1", WorkspaceID: ws, Data: trace, Dropped: 2}
		events := apply(t, s, commit.Change{
			Puts:   []domain.Record{agent(1, "Ada"), want, row},
			Events: []event.Draft{{ID: "evt_1", Type: event.CallStarted, CreatedAt: time.Now(), Subject: "call_1", Data: map[string]string{"a": name}}},
		})
		assert.JSONEq(t, `{"a":"`+name+`"}`, string(events[0].Data))
		got, gotRow, beside := &domain.Attempt{ID: "call_1", WorkspaceID: ws}, &domain.TraceRow{CallID: "call_1", WorkspaceID: ws}, agent(1, "")
		for _, into := range []domain.Record{got, gotRow, beside} {
			_, err := s.Get(t.Context(), into)
			require.NoError(t, err, name)
		}
		assert.Equal(t, want, got, name)
		assert.Equal(t, row, gotRow, name)
		assert.Equal(t, "Ada", beside.Name)
		value, _, err := d.Get(t.Context(), persistence.Key{Table: "attempt/" + ws, ID: "call_1"})
		require.NoError(t, err)
		if name == "bytes" {
			assert.True(t, bytes.Contains(value, trace), "the raw bytes are stored unchanged")
		}
	}
}

func TestEventPayloadEncoding(t *testing.T) {
	t.Parallel()
	s := open(t, embedded(t))
	long := strings.Repeat("long ", 4000)
	at := time.Date(2030, 1, 2, 4, 4, 5, 6, time.FixedZone("", 3600))
	cases := []struct {
		data any
		want string
	}{
		{map[string]string{"notes": long}, `{"notes":"` + long + `"}`},
		{event.CallRef{CallID: "call_1", Direction: domain.Inbound, AgentID: "<b>&"}, `{"call_id":"call_1","direction":"inbound","agent_id":"<b>&"}`},
		{event.ResourceChangedData{ID: "agent_1"}, `{"id":"agent_1","changed":[]}`},
		{event.AgentIntentData{}, `{"call_id":"","agent_id":"","intent":"","confidence":0,"entities":{}}`},
		{event.WebhookDisabledData{At: at}, `{"webhook_id":"","url":"","reason":"","at":"2030-01-02T03:04:05.000Z"}`},
	}
	drafts := make([]event.Draft, 0, len(cases))
	for i, c := range cases {
		drafts = append(drafts, event.Draft{ID: "evt_" + strconv.Itoa(i), Type: event.CallStarted, CreatedAt: at, SvcID: "unit_1", Subject: "call_1", Data: c.data})
	}
	committed := apply(t, s, commit.Change{Puts: []domain.Record{agent(1, "Ada")}, Events: drafts})
	kept, err := s.Events(t.Context(), ws, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, kept, committed)
	for i, c := range cases {
		assert.Equal(t, c.want, string(committed[i].Data))
	}
}

func TestTruncatedRawPartIsDamaged(t *testing.T) {
	t.Parallel()
	d := embedded(t)
	s := open(t, d)
	for _, value := range []string{"\x03", "\x03\x00\x00\x00\x09{}", "\x03\xff\xff\xff\xff{}tail", "\x02{}", "\x04\x00\x00\x00\x02{}"} {
		_, err := d.Commit(t.Context(), persistence.Commit{
			Shard: "0", Token: "1|node",
			Puts: []persistence.Put{{Key: persistence.Key{Table: "attempt/" + ws, ID: "call_1"}, Value: []byte(value)}},
		})
		require.NoError(t, err)
		_, err = s.Get(t.Context(), &domain.Attempt{ID: "call_1", WorkspaceID: ws})
		require.Error(t, err, "%q", value)
	}
	_, err := s.Get(t.Context(), &domain.Agent{Meta: domain.Meta{ID: "call_1", WorkspaceID: ws}})
	assert.Error(t, err)
}

func TestDeliveriesStoredAsJSONAreReadAndPacked(t *testing.T) {
	t.Parallel()
	d := embedded(t)
	s := open(t, d)
	at := time.Date(2030, 1, 2, 3, 4, 5, 600, time.UTC)
	want := &domain.Delivery{
		ID: "dlv_1", WorkspaceID: ws, WebhookID: "wh_1", EventID: "evt_1", EventType: "call.ended", EventOffset: 7, Subject: "call_1",
		State: domain.DeliveryRetrying, Attempts: 2, FirstAttemptAt: &at, LastAttemptAt: &at, DueAt: &at, ResponseStatus: 503, ResponseTimeMs: 3,
		Error: "the endpoint answered 503", CreatedAt: at,
	}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	key := persistence.Key{Table: "delivery/" + ws, ID: "wh_1/evt_1"}
	_, err = d.Commit(t.Context(), persistence.Commit{
		Shard: "0", Token: "1|node",
		Puts: []persistence.Put{{Key: key, Value: append([]byte{1}, text...), Sort: want.ID, Lists: want.Indexes()}},
	})
	require.NoError(t, err)
	read := func() {
		t.Helper()
		got := &domain.Delivery{WorkspaceID: ws, WebhookID: "wh_1", EventID: "evt_1"}
		_, err := s.Get(t.Context(), got)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		listed := 0
		each := func(r domain.Record) error {
			listed++
			assert.Equal(t, want, r)
			return nil
		}
		fresh := func() domain.Record { return new(domain.Delivery) }
		_, err = s.List(t.Context(), commit.Query{Kind: "delivery", Workspace: ws, Index: "log=wh_1"}, fresh, each)
		require.NoError(t, err)
		require.NoError(t, s.Under(t.Context(), domain.Key{Kind: "delivery", Workspace: ws, ID: "wh_1/"}, "", 10, fresh, each))
		assert.Equal(t, 2, listed)
	}
	read()
	apply(t, s, commit.Change{Puts: []domain.Record{want}})
	read()
	value, _, err := d.Get(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, byte(5), value[0])
	assert.Less(t, len(value), len(text)/3)
	for _, bad := range []string{"\x05", "\x05\x00\x09d", "\x06" + string(value[1:])} {
		_, err = d.Commit(t.Context(), persistence.Commit{Shard: "0", Token: "1|node", Puts: []persistence.Put{{Key: key, Value: []byte(bad)}}})
		require.NoError(t, err)
		_, err = s.Get(t.Context(), &domain.Delivery{WorkspaceID: ws, WebhookID: "wh_1", EventID: "evt_1"})
		require.Error(t, err, "%q", bad)
	}
}
