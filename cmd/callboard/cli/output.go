package cli

import (
	"strings"
	"time"
	"unicode"
)

// Clean replaces control characters and bidirectional controls, which would act
// on the terminal.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// FormatTime formats a time in the local zone; "-": the zero time.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// FormatOptionalTime formats a time in the local zone; "-": nil.
func FormatOptionalTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return FormatTime(*t)
}

// OrDash returns text; "-": text is empty.
func OrDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
