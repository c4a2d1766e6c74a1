package cli

import (
	"strings"
	"time"
	"unicode"
)

// Clean replaces control characters and bidirectional controls, which could manipulate the terminal.
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

// FormatTime formats a time in the local zone. The zero time becomes "-".
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// FormatOptionalTime formats a time in the local zone. nil becomes "-".
func FormatOptionalTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return FormatTime(*t)
}

// OrDash returns text, or "-" if text is empty.
func OrDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
