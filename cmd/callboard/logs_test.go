package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNumbersAndSecretsAreHiddenInTheLog(t *testing.T) {
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
	} {
		assert.Equal(t, want, withoutNumbers(withoutSecrets(text)))
	}
}

func TestWhateverALineCarriesIsHidden(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	hide := func(text string) string { return withoutNumbers(withoutSecrets(text)) }
	log := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return veiled(a, hide) }}))
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
	assert.Equal(t, []int{1, 2}, line.Plain, "what hides nothing keeps its shape")
}
