package alert_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/alert"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// seen is one reading and its time.
type seen struct {
	minute float64 // in minutes after noon
	state  byte    // b: bad, g: good, ?: unknown
}

// notifications applies readings and returns the notifications with their times.
func notifications(r *domain.AlertRule, looks []seen) (out []string) {
	var a *domain.Alert
	for _, s := range looks {
		at := noon.Add(time.Duration(s.minute * float64(time.Minute)))
		next, sent := alert.ApplyReading(r, a, alert.Reading{Subject: "x", Name: "x", Known: s.state != '?', Bad: s.state == 'b'}, at)
		switch sent {
		case alert.NotifyFiring:
			out = append(out, "firing "+at.Sub(noon).String())
		case alert.NotifyResolved:
			out, next = append(out, "resolved "+at.Sub(noon).String()), nil
		case alert.NoNotification:
		}
		a = next
	}
	return out
}

func TestAlertIsReportedOnceOnRaiseAndOnClear(t *testing.T) {
	t.Parallel()
	down := &domain.AlertRule{Kind: domain.AlertTrunkDown, Minutes: 3}
	rate := &domain.AlertRule{Kind: domain.AlertAnswerRate}
	spend := &domain.AlertRule{Kind: domain.AlertSpend}
	for name, c := range map[string]struct {
		rule  *domain.AlertRule
		looks []seen
		want  []string
	}{
		"well":                      {down, []seen{{0, 'g'}, {9, 'g'}}, nil},
		"down, not for long":        {down, []seen{{0, 'b'}, {2, 'b'}, {2.5, 'g'}, {3, 'b'}, {5, 'b'}}, nil},
		"down for long":             {down, []seen{{0, 'b'}, {2, 'b'}, {3, 'b'}, {4, 'b'}}, []string{"firing 3m0s"}},
		"unknown does not count":    {down, []seen{{0, 'b'}, {2, '?'}, {3, '?'}, {4, 'b'}}, []string{"firing 4m0s"}},
		"well for a moment":         {rate, []seen{{0, 'b'}, {1, 'g'}, {2, 'b'}, {3, 'g'}, {7, 'g'}, {7.5, 'b'}, {8, 'b'}}, []string{"firing 0s"}},
		"well again":                {rate, []seen{{0, 'b'}, {1, 'g'}, {6, 'g'}, {7, 'g'}}, []string{"firing 0s", "resolved 6m0s"}},
		"again after it was well":   {rate, []seen{{0, 'b'}, {1, 'g'}, {6, 'g'}, {7, 'b'}}, []string{"firing 0s", "resolved 6m0s", "firing 7m0s"}},
		"nothing is known":          {rate, []seen{{0, 'b'}, {1, '?'}, {60, '?'}, {61, '?'}}, []string{"firing 0s", "resolved 1h1m0s"}},
		"the day is over":           {spend, []seen{{0, 'b'}, {1, 'b'}, {2, 'g'}}, []string{"firing 0s", "resolved 2m0s"}},
		"a clock that was set back": {down, []seen{{0, 'b'}, {-60, 'b'}, {3, 'b'}}, []string{"firing 3m0s"}},
	} {
		assert.Equal(t, c.want, notifications(c.rule, c.looks), name)
	}
}

func TestReportsAlternateBetweenRaisedAndCleared(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]domain.AlertKind{domain.AlertAnswerRate, domain.AlertTrunkDown, domain.AlertSpend, domain.AlertEndpointDisabled}).Draw(t, "kind")
		r := &domain.AlertRule{Kind: kind, Minutes: rapid.IntRange(1, 5).Draw(t, "minutes")}
		var looks []seen
		at := 0.0
		for range rapid.IntRange(0, 60).Draw(t, "looks") {
			at += rapid.Float64Range(0, 3).Draw(t, "pause")
			looks = append(looks, seen{at, rapid.SampledFrom([]byte("bg?")).Draw(t, "state")})
		}
		for i, text := range notifications(r, looks) {
			want := []string{"firing", "resolved"}[i%2]
			assert.True(t, strings.HasPrefix(text, want), "%d: %s", i, text)
		}
	})
}

func TestReading(t *testing.T) {
	t.Parallel()
	rate := &domain.AlertRule{Kind: domain.AlertAnswerRate, Below: 0.3, MinCalls: 10}
	known := func(in alert.Reading) []any { return []any{in.Known, in.Bad} }
	assert.Equal(t, []any{false, false}, known(alert.AnswerRateReading(rate, "ws", "ws", "w", 9, 0)), "too few calls")
	assert.Equal(t, []any{true, true}, known(alert.AnswerRateReading(rate, "ws", "ws", "w", 10, 2)))
	assert.Equal(t, []any{true, false}, known(alert.AnswerRateReading(rate, "ws", "ws", "w", 10, 3)), "at the bound")
	assert.Equal(t, []any{false, false}, known(alert.AnswerRateReading(&domain.AlertRule{Below: 0.3}, "ws", "ws", "w", 0, 0)))
	spend := &domain.AlertRule{Kind: domain.AlertSpend, Share: 0.8}
	assert.Equal(t, []any{true, true}, known(alert.SpendReading(spend, "ws", "ws", "w", 80, 100)))
	assert.Equal(t, []any{true, false}, known(alert.SpendReading(spend, "ws", "ws", "w", 79, 100)))
	assert.Equal(t, []any{true, false}, known(alert.SpendReading(spend, "ws", "ws", "w", 79, 0)), "no cap")
}

func TestNamesAreEscapedToOneLine(t *testing.T) {
	t.Parallel()
	a := &domain.Alert{Kind: domain.AlertTrunkDown, Name: "carrier\r\nBcc: everybody@example.com\r\n\r\n<b>\x1b[2J\u202e\u2028" + strings.Repeat("x", 500), RuleName: "r\nX: y", RuleID: "alertrule_1"}
	subject, body := alert.FormatMail(a, alert.NotifyResolved, noon)
	assert.NotRegexp(t, `[\r\n\x1b\x{202e}\x{2028}]`, subject)
	assert.True(t, strings.HasPrefix(subject, "[callboard] resolved: trunk carrier Bcc: everybody@example.com <b> [2J"), subject)
	assert.Less(t, len(subject), 200)
	assert.NotContains(t, body, "\nX: y")
	assert.NotContains(t, body, "\nBcc")
}
