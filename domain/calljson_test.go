package domain_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/sip"
)

// filled puts something into each field of v, or now and then nothing.
func filled(r *rand.Rand, v reflect.Value) {
	texts := []string{"", "plain", `"quoted\`, "<b>&", "Zürich", "a\nb\x00\x7f", "\xff\xfe", "\u2028", "+12025550100"}
	floats := []float64{0, 1, -3, 4.2, 0.1, 1e-7, -2e-9, 1e21, 123456789.25, 1e15}
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(4e9), r.Int64N(2)*r.Int64N(1e9)).UTC()))
		return
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		if r.IntN(3) > 0 {
			v.Set(reflect.ValueOf(json.RawMessage(`{"a":1}`)))
		}
		return
	case v.Type() == reflect.TypeFor[domain.Context]():
		if r.IntN(3) > 0 {
			v.Set(reflect.ValueOf(domain.Context{"b": "<", "a": 1.5}))
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				filled(r, v.Field(i))
			}
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			filled(r, v.Elem())
		}
	case reflect.Slice:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				filled(r, v.Index(i))
			}
		}
	case reflect.Map:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n - 1 {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				filled(r, key)
				filled(r, value)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64N(3) * (r.Int64N(1e12) - 5e11))
	case reflect.Uint32:
		v.SetUint(r.Uint64N(3) * r.Uint64N(1<<30))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(r.Uint64N(3) * r.Uint64N(100))
	case reflect.Float64:
		v.SetFloat(floats[r.IntN(len(floats))])
	}
}

func TestRowsThatWriteThemselvesWriteWhatEncodingJSONWould(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, v := range []any{
		&domain.Call{}, &domain.Attempt{}, &domain.TraceRow{}, &domain.LedgerRow{}, &domain.Transcript{}, &domain.Leg{}, &domain.Delivery{},
		&domain.Campaign{}, &domain.Progress{}, &domain.ContactChunk{}, &domain.Upload{}, &domain.AuditEntry{},
		&event.Event{}, &event.CallData{}, &event.CallEndedData{}, &event.TranscriptData{}, &event.CampaignData{}, &sip.DialogState{}, &sip.Target{},
	} {
		for range 500 {
			at := reflect.ValueOf(v).Elem()
			at.SetZero()
			filled(r, at)
			if tailed, ok := v.(domain.Tailed); ok {
				tailed.SetTail(nil)
			}
			want, err := json.Marshal(v)
			require.NoError(t, err)
			got, err := v.(domain.JSONAppender).AppendJSON([]byte("before"))
			require.NoError(t, err)
			require.Equal(t, "before"+string(want), string(got), "%T", v)
		}
	}
}

func TestRowsThatReadThemselvesReadWhatEncodingJSONWould(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	took := 0
	for range 2000 {
		want := new(domain.Delivery)
		at := reflect.ValueOf(want).Elem()
		filled(r, at)
		for _, f := range at.Fields() {
			if f.Kind() == reflect.String && r.IntN(20) > 0 {
				f.SetString([]string{"", "evt_01J", "Zürich +1"}[r.IntN(3)])
			}
		}
		text, err := json.Marshal(want)
		require.NoError(t, err)
		escaped := bytes.ContainsRune(text, '\\')
		if *want = (domain.Delivery{}); !escaped {
			took++
		}
		require.NoError(t, json.Unmarshal(text, want))
		got := &domain.Delivery{ID: "before"}
		require.Equal(t, !escaped, got.TakeJSON(text), "%s", text)
		if !escaped {
			require.Equal(t, want, got)
			continue
		}
		require.Equal(t, &domain.Delivery{ID: "before"}, got, "it is left as it was")
	}
	require.Greater(t, took, 500)
	text, err := json.Marshal(domain.Delivery{ID: "dlv_1", Error: "no answer", Replay: true})
	require.NoError(t, err)
	for cut := range text {
		for _, other := range [][]byte{text[:cut], slices.Concat(text[:cut], text[cut+1:]), slices.Concat(text[:cut], []byte(" "), text[cut:])} {
			var quick, whole domain.Delivery
			if quick.TakeJSON(other) {
				require.NoError(t, json.Unmarshal(other, &whole), "%s", other)
				require.Equal(t, whole, quick, "%s", other)
			}
		}
	}
	require.False(t, new(domain.Delivery).TakeJSON(bytes.Replace(text, []byte("{"), []byte(`{"young":1,`), 1)))
}

func TestWhatJSONCannotSayIsAnError(t *testing.T) {
	t.Parallel()
	late := time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, v := range map[string]domain.JSONAppender{
		"no number":        &domain.Call{Quality: &domain.Quality{MOS: nan()}},
		"no year":          &domain.Call{EndedAt: &late},
		"deep in its legs": &domain.Call{Legs: []domain.Leg{{StartedAt: late}}},
	} {
		_, err := v.AppendJSON(nil)
		assert.Error(t, err, name)
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

func TestAStatusWritesItselfAsEncodingJSONWouldButForNoOutcomes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var s domain.CampaignStatusObject
		filled(r, reflect.ValueOf(&s).Elem())
		s.Outcomes = map[domain.Outcome]int{}
		for _, word := range domain.OutcomeWords() {
			if r.IntN(2) == 0 {
				s.Outcomes[word] = r.IntN(1000)
			}
		}
		want, err := json.Marshal(s)
		require.NoError(t, err)
		if len(s.Outcomes) == 0 {
			s.Outcomes = nil
		}
		shown := s.Written()
		for _, one := range []*domain.CampaignStatusObject{&s, shown, shown.Written()} {
			got, err := one.AppendAnswer([]byte("before"))
			require.NoError(t, err)
			require.Equal(t, "before"+string(want), string(got))
		}
		s.CampaignID += "x"
		again, err := s.Written().AppendAnswer(nil)
		require.NoError(t, err)
		require.NotEqual(t, string(want), string(again), "what was written is of one status")
	}
}

func TestACallWritesItselfAsAnAnswerWithoutNullForListsAndMaps(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		var c domain.Call
		filled(r, reflect.ValueOf(&c).Elem())
		got, err := c.AppendAnswer([]byte("before"))
		require.NoError(t, err)
		if c.Legs == nil {
			c.Legs = []domain.Leg{}
		}
		if c.Variables == nil {
			c.Variables = map[string]string{}
		}
		want, err := json.Marshal(&c)
		require.NoError(t, err)
		require.Equal(t, "before"+string(want), string(got))
	}
}
