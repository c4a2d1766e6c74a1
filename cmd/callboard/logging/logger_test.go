package logging

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/persistence"
)

func TestLogMasksTelephoneNumbersAndSecrets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"no route to +12025550123":                    "no route to +120******23",
		"INVITE sip:12025550123@192.0.2.1":            "INVITE sip:120******23@192.0.2.1",
		"tel:+442079460123":                           "tel:+442*******23",
		"/v1/dnc/%2B12025550123?x=1":                  "/v1/dnc/%2B120******23?x=1",
		"twice +12025550123, +12025550199.":           "twice +120******23, +120******99.",
		"+1202":                                       "+1202",
		"2026-03-01T12:00:00+01:00":                   "2026-03-01T12:00:00+01:00",
		"sip:1001@192.0.2.1 at 1700000000000":         "sip:1001@192.0.2.1 at 1700000000000",
		"the key svc_sk_live_0123456789abcdef is old": "the key svc_sk_live_*** is old",
		"Authorization: Bearer eyJhbGciOi.x.y":        "Authorization: Bearer ***",
		"whsec_c2VjcmV0c2VjcmV0":                      "whsec_***",
		"redis://user:top-secret@10.0.0.1:6379/0":     "redis://user:***@10.0.0.1:6379/0",
		"https://hooks.example.com:8443/a@b":          "https://hooks.example.com:8443/a@b",
		"call_01JZ3Y8Q5S6T7V8W9X0Y1Z2A3B":             "call_01JZ3Y8Q5S6T7V8W9X0Y1Z2A3B",

		"tel:+1-202-555-0123":                                  "tel:+1-20*-***-**23",
		"tel:020-7946-0123;phone-context=+44":                  "tel:020-****-**23;phone-context=+44",
		"to +1 202 555 0123, busy":                             "to +1 20* *** **23, busy",
		"to +1 (202) 555-0123":                                 "to +1 (20*) ***-**23",
		"+1.202.555.0123":                                      "+1.20*.***.**23",
		"+12025550123 2026-03-01":                              "+120******23 2026-03-01",
		"sip:02079460123@192.0.2.1":                            "sip:020******23@192.0.2.1",
		"sips:202-555-0123@x":                                  "sips:202-***-**23@x",
		"+12345678901234567890":                                "+123***************90",
		"+12025550123abc":                                      "+120******23abc",
		"+12025550123_7":                                       "+120******23_7",
		"sip%3A%2B12025550123%40x":                             "sip%3A%2B120******23%40x",
		`{"to":"\u002b12025550123"}`:                           `{"to":"\u002b120******23"}`,
		"version 1.4.0+20261122":                               "version 1.4.0+20261122",
		"v1.4.0-rc.1+20261122 is up":                           "v1.4.0-rc.1+20261122 is up",
		"1.4.0+12025550123":                                    "1.4.0+120******23",
		"2026-11-22 23:10:52.12 +0000 UTC m=+12.345678901":     "2026-11-22 23:10:52.12 +0000 UTC m=+12.345678901",
		"sip:192.0.2.1:5060 sip:10.20.30.40":                   "sip:192.0.2.1:5060 sip:10.20.30.40",
		"svc_cs_0123456789abcdef":                              "svc_cs_***",
		"svc_rt_01JZ3Y8Q_2_0123456789abcdef":                   "svc_rt_***",
		"%22svc_sk_test_0123456789abcdef%22":                   "%22svc_sk_test_***",
		`{\"key\":\"x\nsvc_sk_live_0123456789abcdef\"}`:        `{\"key\":\"x\nsvc_sk_live_***\"}`,
		"%2Bwhsec_c2VjcmV0c2VjcmV0":                            "%2Bwhsec_***",
		"bearer%20abcdefgh12345":                               "bearer%20***",
		"the token eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln_": "the token ***",
		"got eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln_ here":  "got eyJ*** here",
		"Authorization: Basic dXNlcjpwYXNz":                    "Authorization: Basic ***",
		`map[Authorization:[Token abcdefgh]]`:                  `map[Authorization:[Token ***]]`,
		"Basic dXNlcjpwYXNz":                                   "Basic ***",
		"Token 0123456789abcdef":                               "Token ***",
		"basic authentication is asked for":                    "basic authentication is asked for",
		"the token endpoint":                                   "the token endpoint",
		"https://x.example.com/a?b=c&token=abc&d=e":            "https://x.example.com/a?b=c&token=***&d=e",
		"GET /v1/listen?ticket=abc":                            "GET /v1/listen?ticket=***",
		"/cb?code=abc&client_secret=x&key=y#f":                 "/cb?code=***&client_secret=***&key=***#f",
		"%3Faccess_token%3Dabc":                                "%3Faccess_token%3D***",
		`"u":"/x?a=1\u0026key=abc"`:                            `"u":"/x?a=1\u0026key=***"`,
		"/v1/calls?limit=5&from=2026-01-01":                    "/v1/calls?limit=5&from=2026-01-01",
		"redis://user:top/secret@10.0.0.1:6379/0":              "redis://user:***@10.0.0.1:6379/0",
		"redis://user:top@secret@10.0.0.1:6379/0":              "redis://user:***@10.0.0.1:6379/0",
		"redis://:top/se@cret@10.0.0.1:6379/0":                 "redis://:***@10.0.0.1:6379/0",
		"https://just-a-token@example.com/x":                   "https://***@example.com/x",
		"https://[2001:db8::1]:8080/a@b":                       "https://[2001:db8::1]:8080/a@b",
		"https://example.com/a@b":                              "https://example.com/a@b",
	} {
		assert.Equal(t, want, newRedactor(true)(text))
	}
}

func TestLogMasksMessagesAttributesAndErrors(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	hide := newRedactor(true)
	log := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return redactAttr(a, true, hide) }}))
	log.With(slog.String("to", "+12025550123")).Info("ringing +12025550123", slog.Any("error", errors.New("busy: sip:+12025550123@x")),
		slog.Group("of", slog.Any("panic", struct{ To string }{"+12025550123"}), slog.Any("numbers", []string{"+12025550123"})), slog.Int("n", 12025550123), slog.Any("plain", []int{1, 2}))
	assert.NotContains(t, out.String(), "+12025550123")
	var line struct {
		Msg, To, Error string
		N              int
		Plain          []int
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), "%s", &out)
	assert.Equal(t, "ringing +120******23", line.Msg)
	assert.Equal(t, "busy: sip:+120******23@x", line.Error)
	assert.Equal(t, []int{1, 2}, line.Plain, "an attribute without secrets is unchanged")
}

// textNumber is a value whose MarshalText and Format methods return different texts.
type textNumber struct{ number string }

func (s textNumber) MarshalText() ([]byte, error) { return []byte(s.number), nil }

func (s textNumber) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("a number")) }

func TestLogMasksTheFormThatTheHandlerWrites(t *testing.T) {
	t.Parallel()
	for _, asJSON := range []bool{true, false} {
		var out bytes.Buffer
		NewTo(&out, slog.LevelInfo, asJSON).Info("x", slog.Any("text", textNumber{"+12025550123"}), slog.Any("bytes", []byte("+12025550124")),
			slog.Any("raw", json.RawMessage(`{"to":["+12025550125"],"n":7}`)), slog.Any("pointer", &struct{ To string }{"+12025550126"}))
		assert.NotContains(t, out.String(), "202555", "%v", asJSON)
		if asJSON {
			var line struct{ Raw struct{ N int } }
			require.NoError(t, json.Unmarshal(out.Bytes(), &line), "%s", &out)
			assert.Equal(t, 7, line.Raw.N, "the attribute is unchanged")
		}
	}
}

func TestRedisClientMessagesAreLoggedAndMasked(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	slog.SetDefault(NewTo(&out, slog.LevelDebug, true))
	RedisLogger{}.Printf(t.Context(), "dial %s: refused", "redis://u:top-secret@h")
	assert.Contains(t, out.String(), "dial redis://u:***@h: refused")
}

func BenchmarkLogLineWithoutSecrets(b *testing.B) {
	hide := newRedactor(true)
	attrs := []slog.Attr{
		slog.String("msg", "the call was answered by the phone"), slog.String("call_id", "call_01JZ3Y8Q5S6T7V8W9X0Y1Z2A3B"),
		slog.String("workspace_id", "ws_01JZ3Y8Q5S6T7V8W9X0Y1Z2A3B"), slog.Any("level", slog.LevelInfo), slog.Int("n", 7), slog.Any("error", errors.New("a far end was silent")),
	}
	for b.Loop() {
		for _, a := range attrs {
			redactAttr(a, true, hide)
		}
	}
}

func TestErrorsOfAFullStoreAreLoggedAtDebugOnly(t *testing.T) {
	t.Parallel()
	for level, want := range map[slog.Level]int{slog.LevelInfo: 1, slog.LevelDebug: 2} {
		var out bytes.Buffer
		log := NewTo(&out, level, false).With(slog.String("call_id", "call_1"))
		log.Warn("the row could not be kept", slog.Any("error", fmt.Errorf("commit: %w", persistence.ErrDiskFull)))
		log.Warn("the row could not be kept", slog.Any("error", persistence.ErrUnavailable))
		assert.Equal(t, want, strings.Count(out.String(), "could not be kept"), level)
	}
}
