package domain_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/sip"
)

// fillRandomly sets the fields of v to random values. Some fields stay empty.
func fillRandomly(r *rand.Rand, v reflect.Value) {
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
				fillRandomly(r, v.Field(i))
			}
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fillRandomly(r, v.Elem())
		}
	case reflect.Slice:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				fillRandomly(r, v.Index(i))
			}
		}
	case reflect.Map:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n - 1 {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fillRandomly(r, key)
				fillRandomly(r, value)
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

// storedTypes returns a value of each stored record type of this package, and of each type of another package that these
// records contain.
func storedTypes() []any {
	return []any{
		&domain.APIKey{}, &domain.Agent{}, &domain.AgentVersion{}, &domain.Alert{}, &domain.AlertMail{}, &domain.AlertRule{}, &domain.AnalysisDue{},
		&domain.Appointment{}, &domain.Attempt{}, &domain.AuditEntry{}, &domain.BookingDay{}, &domain.Bulk{}, &domain.BulkChunk{}, &domain.BulkErrors{},
		&domain.BulkItem{}, &domain.Call{}, &domain.Campaign{}, &domain.ContactChunk{}, &domain.ContactEdit{}, &domain.ContactNumbers{},
		&domain.ContactPage{}, &domain.ContactResult{}, &domain.ContactTimes{}, &domain.DNCList{}, &domain.DecisionPage{}, &domain.Delivery{},
		&domain.DialStop{}, &domain.DeletedCampaign{}, &domain.Export{}, &domain.ExtensionClaim{}, &domain.DeletedWorkspace{}, &domain.KnowledgeBase{},
		&domain.KnowledgePassage{}, &domain.KnowledgeSource{}, &domain.LedgerRow{}, &domain.LinkKey{}, &domain.InboundHookKey{}, &domain.Message{},
		&domain.NumberClaim{}, &domain.NumberAttempts{}, &domain.OAuthClient{}, &domain.OAuthCode{}, &domain.OAuthGrant{}, &domain.OAuthRevocation{},
		&domain.AbandonedCall{}, &domain.Pathway{}, &domain.PathwayVersion{}, &domain.Phone{}, &domain.PhoneNumber{}, &domain.PinnedScript{}, &domain.Progress{},
		&domain.ProgressMark{}, &domain.Provider{}, &domain.ProviderName{}, &domain.RateWindows{}, &domain.Registrations{},
		&domain.ReminderDue{}, &domain.SMSGateway{}, &domain.Session{}, &domain.SignIn{}, &domain.SigningKey{}, &domain.Spending{}, &domain.Tariff{},
		&domain.InboundMessageKey{}, &domain.SMSConversation{}, &domain.Tool{}, &domain.TraceRow{}, &domain.Transcript{}, &domain.Trunk{}, &domain.TrunkState{},
		&domain.Upload{}, &domain.Usage{}, &domain.User{}, &domain.UsernameClaim{}, &domain.Webhook{}, &domain.Workspace{},
		&dnc.Bucket{}, &sip.DialogState{},
	}
}

func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, v := range storedTypes() {
		for range 10 {
			at := reflect.ValueOf(v).Elem()
			at.SetZero()
			fillRandomly(r, at)
			row, err := domain.AppendRow([]byte("before"), v)
			require.NoError(t, err, "%T", v)
			require.Equal(t, "before", string(row[:6]))
			want, err := json.Marshal(v)
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(row[6:]), "%T: as encoding/json writes it", v)
			got := reflect.New(at.Type()).Interface()
			require.NoError(t, domain.ReadRow(row[6:], got), "%T", v)
			again, err := domain.AppendRow([]byte("before"), got)
			require.NoError(t, err)
			require.Equal(t, string(row), string(again), "%T", v)
		}
	}
}

func TestRecordKeepsNumbersAndTimesExactly(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 2, 3, 4, 5, 678912345, time.UTC)
	want := domain.Call{
		StartedAt: &at, Context: domain.Context{"id": json.Number("12345678901234567890"), "price": json.Number("1.0")},
		Analysis: &domain.CallAnalysis{Fields: map[string]any{"list": []any{json.Number("1e2"), nil}}},
	}
	row, err := domain.AppendRow(nil, &want)
	require.NoError(t, err)
	var got domain.Call
	require.NoError(t, domain.ReadRow(row, &got))
	assert.Equal(t, want, got)
}

func TestRecordThatJSONCannotEncodeIsAnError(t *testing.T) {
	t.Parallel()
	late := time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, v := range map[string]any{
		"no number":           &domain.Call{Quality: &domain.Quality{MOS: math.NaN()}},
		"year of five digits": &domain.Call{EndedAt: &late},
		"in a list":           &domain.Call{Legs: []domain.Leg{{StartedAt: late}}},
	} {
		row, err := domain.AppendRow([]byte("before"), v)
		require.Error(t, err, name)
		assert.Equal(t, "before", string(row), name)
	}
}
