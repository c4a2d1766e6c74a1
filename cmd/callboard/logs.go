package main

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"

	"github.com/callboard/callboard/configs"
)

// logger writes lines to the standard error, as the settings say. What must not
// stand in a log is hidden in every line, whoever wrote it and whatever text of
// a far end it repeats.
func logger(cfg *configs.Config) *slog.Logger {
	hide := withoutSecrets
	if cfg.LogLevel > slog.LevelDebug { // whoever looks for a fault of his own wants to see numbers
		hide = func(text string) string { return withoutNumbers(withoutSecrets(text)) }
	}
	o := &slog.HandlerOptions{Level: cfg.LogLevel, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return veiled(a, hide) }}
	if cfg.LogFormat == configs.LogJSON {
		return slog.New(slog.NewJSONHandler(os.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, o))
}

// veiled is an attribute as it may be written; it becomes text where something
// had to be hidden in it.
func veiled(a slog.Attr, hide func(string) string) slog.Attr {
	kind := a.Value.Kind()
	if kind != slog.KindString && kind != slog.KindAny {
		return a
	}
	text := fmt.Sprintf("%+v", a.Value.Any())
	if clean := hide(text); clean != text {
		a.Value = slog.StringValue(clean)
	}
	return a
}

var (
	// E.164, also as it stands in a URL or in a SIP URI without its plus.
	telephone = regexp.MustCompile(`(?i)(\+|%2B|\bsips?:|\btel:)([1-9]\d{6,14})\b`)
	secret    = regexp.MustCompile(`(?i)\b(svc_sk_(?:live|test)_|whsec_|bearer +)[A-Za-z0-9._~+/=-]{12,}`)
	password  = regexp.MustCompile(`(://[^\s:/@]*:)[^\s/@]+@`)
)

// withoutNumbers leaves of a telephone number its first three digits and its
// last two: enough to find a call whose number is known.
func withoutNumbers(text string) string {
	return telephone.ReplaceAllStringFunc(text, func(found string) string {
		m := telephone.FindStringSubmatch(found)
		digits := m[2]
		return m[1] + digits[:3] + strings.Repeat("*", len(digits)-5) + digits[len(digits)-2:]
	})
}

// withoutSecrets leaves of keys, signing secrets and passwords of URLs what they
// are.
func withoutSecrets(text string) string {
	return password.ReplaceAllString(secret.ReplaceAllString(text, "$1***"), "$1***@")
}
